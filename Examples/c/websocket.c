/// Sends each line of the standard input as a WebSocket message, and prints the messages that arrive.
///
/// usage: websocket URL
#include <netcore.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct talk {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool has_room;
    bool has_ended;
    nc_status status;
} talk;

static void signal_change(talk *talk, bool *flag) {
    pthread_mutex_lock(&talk->mutex);
    *flag = true;
    pthread_cond_broadcast(&talk->changed);
    pthread_mutex_unlock(&talk->mutex);
}

static nc_action print(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    (void)ctx;
    (void)socket;
    (void)is_last;
    if (kind == NC_SOCKET_TEXT) {
        printf("< %.*s\n", (int)bytes.length, (const char *)bytes.data);
    } else {
        printf("< %zu bytes\n", bytes.length);
    }
    return NC_ACTION_CONTINUE;
}

static void note_room(void *ctx, nc_socket *socket) {
    talk *talk = ctx;
    (void)socket;
    signal_change(talk, &talk->has_room);
}

static void finish(void *ctx, nc_socket *socket, const nc_socket_end *end) {
    talk *talk = ctx;
    (void)socket;
    talk->status = end->error->status;
    if (talk->status != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(talk->status), end->error->message);
    }
    printf("closed with code %u %.*s\n", end->close_code, (int)end->close_reason.length,
           (const char *)end->close_reason.data);
    signal_change(talk, &talk->has_ended);
}

/// Sends one line. Waits while the queue is full. Returns false if the socket is closing.
static bool send_line(talk *talk, nc_socket *socket, const char *line) {
    nc_error err;
    nc_status status;
    while ((status = nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_make(line, strcspn(line, "\r\n")), true, &err)) ==
           NC_ERR_QUEUE_FULL) {
        pthread_mutex_lock(&talk->mutex);
        while (!talk->has_room && !talk->has_ended) {
            pthread_cond_wait(&talk->changed, &talk->mutex);
        }
        talk->has_room = false;
        pthread_mutex_unlock(&talk->mutex);
    }
    return status == NC_OK;
}

int main(int argc, char **argv) {
    talk talk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_engine *engine = NULL;
    nc_socket *socket = NULL;
    nc_error err = {.status = NC_OK};
    char line[4096];
    if (argc != 2) {
        fprintf(stderr, "usage: websocket URL\n");
        return 2;
    }
    nc_request request = {.url = nc_slice_of(argv[1])};
    nc_socket_sink sink = {.ctx = &talk, .on_message = print, .on_room = note_room, .on_end = finish};
    if (nc_engine_new(&engine, NULL, &err) != NC_OK ||
        nc_socket_open(&socket, engine, &request, NULL, &sink, &err) != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(err.status), err.message);
        (void)nc_engine_close(engine, NC_UNLIMITED);
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL && send_line(&talk, socket, line)) {
    }
    nc_status status = nc_socket_close(socket, 1000, nc_slice_of(""), &err);
    if (status != NC_OK && status != NC_ERR_CLOSED) { // the server may have been first
        fprintf(stderr, "%s: %s\n", nc_status_name(status), err.message);
        nc_socket_cancel(socket);
    }
    pthread_mutex_lock(&talk.mutex);
    while (!talk.has_ended) {
        pthread_cond_wait(&talk.changed, &talk.mutex);
    }
    pthread_mutex_unlock(&talk.mutex);
    nc_socket_release(socket);
    (void)nc_engine_close(engine, NC_UNLIMITED);
    return talk.status == NC_OK ? 0 : 1;
}
