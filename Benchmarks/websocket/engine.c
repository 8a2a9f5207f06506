/* libnetcore's WebSocket in the rows of this benchmark.
 *
 * usage: bench-websocket PORT echo ECHOES IN-FLIGHT     64 bytes each
 *        bench-websocket PORT stream MEBIBYTES          one message, sent and received in pieces
 *        bench-websocket PORT idle SOCKETS              opens sockets and prints the resident memory of each */
#include <netcore.h>

#include <netcore/websocket.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAYLOAD = 64, PIECE = 64 * 1024, QUEUED = 1 << 20 };

typedef struct client {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool has_room;
    uint64_t opened;
    uint64_t ended;
    uint64_t failures;
    uint64_t received; // messages, or bytes
    uint64_t to_send;
    uint64_t expected;
} client;

static void fail(const char *text) {
    fprintf(stderr, "bench-websocket: %s\n", text);
    exit(1);
}

static void count(client *self, uint64_t *figure) {
    pthread_mutex_lock(&self->mutex);
    (*figure)++;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void wait_for(client *self, const uint64_t *figure, uint64_t value) {
    pthread_mutex_lock(&self->mutex);
    while (*figure < value) {
        pthread_cond_wait(&self->changed, &self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
}

static void on_open(void *ctx, nc_socket *socket, const nc_response *response) {
    client *self = ctx;
    (void)socket;
    (void)response;
    count(self, &self->opened);
}

static void on_room(void *ctx, nc_socket *socket) {
    client *self = ctx;
    (void)socket;
    pthread_mutex_lock(&self->mutex);
    self->has_room = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void on_end(void *ctx, nc_socket *socket, const nc_socket_end *end) {
    client *self = ctx;
    (void)socket;
    if (end->error->status != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(end->error->status), end->error->message);
        self->failures++;
    }
    count(self, &self->ended);
}

static nc_action echo(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    client *self = ctx;
    self->received++;
    if (self->to_send > 0) {
        self->to_send--;
        self->failures += nc_socket_send(socket, kind, bytes, is_last, NULL) != NC_OK;
    } else if (self->received == self->expected) {
        self->failures += nc_socket_close(socket, 1000, nc_slice_of(""), NULL) != NC_OK;
    }
    return NC_ACTION_CONTINUE;
}

static nc_action take_piece(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    client *self = ctx;
    (void)kind;
    self->received += bytes.length;
    if (is_last) {
        self->failures += nc_socket_close(socket, 1000, nc_slice_of(""), NULL) != NC_OK;
    }
    return NC_ACTION_CONTINUE;
}

static nc_socket *open_socket(client *self, nc_engine *engine, const char *port, nc_socket_message_fn on_message) {
    char url[64];
    nc_socket *socket = NULL;
    nc_error err;
    const nc_socket_options options = {.delivers_pieces = on_message == take_piece,
                                       .max_message_bytes = NC_UNLIMITED_BYTES,
                                       .max_queued_bytes = QUEUED};
    const nc_socket_sink sink = {
        .ctx = self, .on_open = on_open, .on_message = on_message, .on_room = on_room, .on_end = on_end};
    (void)snprintf(url, sizeof url, "ws://127.0.0.1:%s/", port);
    const nc_request request = {.url = nc_slice_of(url)};
    if (nc_socket_open(&socket, engine, &request, &options, &sink, &err) != NC_OK) {
        fail(err.message);
    }
    return socket;
}

static void run_echo(client *self, nc_engine *engine, const char *port, uint64_t echoes, uint64_t in_flight) {
    uint8_t payload[PAYLOAD] = {0};
    in_flight = in_flight < echoes ? in_flight : echoes;
    self->expected = echoes;
    self->to_send = echoes - in_flight;
    nc_socket *socket = open_socket(self, engine, port, echo);
    wait_for(self, &self->opened, 1);
    for (uint64_t i = 0; i < in_flight; i++) {
        if (nc_socket_send(socket, NC_SOCKET_BINARY, nc_slice_make(payload, sizeof payload), true, NULL) != NC_OK) {
            fail("a message was refused");
        }
    }
    wait_for(self, &self->ended, 1);
    self->failures += self->received != echoes;
    nc_socket_release(socket);
}

static void run_stream(client *self, nc_engine *engine, const char *port, uint64_t mebibytes) {
    static uint8_t piece[PIECE];
    uint64_t pieces = mebibytes * ((1 << 20) / PIECE);
    nc_socket *socket = open_socket(self, engine, port, take_piece);
    for (uint64_t i = 0; i < pieces;) {
        nc_status status =
            nc_socket_send(socket, NC_SOCKET_BINARY, nc_slice_make(piece, sizeof piece), i + 1 == pieces, NULL);
        if (status == NC_OK) {
            i++;
            continue;
        }
        if (status != NC_ERR_QUEUE_FULL) {
            fail(nc_status_name(status));
        }
        pthread_mutex_lock(&self->mutex);
        while (!self->has_room && self->ended == 0) {
            pthread_cond_wait(&self->changed, &self->mutex);
        }
        self->has_room = false;
        pthread_mutex_unlock(&self->mutex);
    }
    wait_for(self, &self->ended, 1);
    self->failures += self->received != mebibytes << 20;
    nc_socket_release(socket);
}

static size_t resident_bytes(void) {
    size_t total = 0;
    size_t resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%zu %zu", &total, &resident) != 2) {
        fail("no /proc/self/statm");
    }
    (void)fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void run_idle(client *self, nc_engine *engine, const char *port, uint64_t sockets) {
    nc_socket **all = calloc(sockets, sizeof *all);
    nc_socket *first = open_socket(self, engine, port, echo);
    wait_for(self, &self->opened, 1);
    size_t before = resident_bytes();
    for (uint64_t i = 0; i < sockets; i++) {
        all[i] = open_socket(self, engine, port, echo);
    }
    wait_for(self, &self->opened, 1 + sockets);
    fprintf(stderr, "per_socket_kb=%.1f\n", (double)(resident_bytes() - before) / 1024 / (double)sockets);
    self->failures += nc_socket_close(first, 1000, nc_slice_of(""), NULL) != NC_OK;
    nc_socket_release(first);
    for (uint64_t i = 0; i < sockets; i++) {
        self->failures += nc_socket_close(all[i], 1000, nc_slice_of(""), NULL) != NC_OK;
        nc_socket_release(all[i]);
    }
    wait_for(self, &self->ended, 1 + sockets);
    free(all);
}

int main(int argc, char **argv) {
    client self = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    const char *row = argc >= 4 ? argv[2] : "";
    uint64_t amount = argc >= 4 ? strtoull(argv[3], NULL, 10) : 0;
    nc_engine *engine = NULL;
    const uint32_t slots = (uint32_t)(strcmp(row, "idle") == 0 ? amount + 1 : 1);
    const nc_engine_options options = {.max_per_host = slots, .max_in_flight = slots};
    if (amount == 0 || nc_engine_new(&engine, &options, NULL) != NC_OK) {
        return 2;
    }
    if (strcmp(row, "echo") == 0 && argc == 5) {
        run_echo(&self, engine, argv[1], amount, strtoull(argv[4], NULL, 10));
    } else if (strcmp(row, "stream") == 0) {
        run_stream(&self, engine, argv[1], amount);
    } else if (strcmp(row, "idle") == 0) {
        run_idle(&self, engine, argv[1], amount);
    } else {
        return 2;
    }
    (void)nc_engine_close(engine, NC_UNLIMITED);
    return self.failures == 0 ? 0 : 1;
}
