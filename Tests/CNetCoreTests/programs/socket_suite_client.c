/// The client that Tests/Autobahn/run tests: opens a WebSocket for each case of the Autobahn suite, sends every
/// message back, and then makes the server write its reports.
///
/// usage: socket_suite_client URL STEP     runs every STEP-th case of the server at URL, which has no path
#include <netcore.h>

#include <netcore/websocket.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The name of this client in the reports.
#define AGENT "netkit"

enum { MAX_QUEUED_BYTES = 256 << 20, MAX_CASES = 100000 };

typedef struct visit {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool is_open;
    bool is_ended;
    bool is_count; // the message is the number of cases
    unsigned count;
    nc_status status;
    char message[NC_ERROR_MESSAGE_BYTES];
} visit;

static void on_open(void *ctx, nc_socket *socket, const nc_response *response) {
    (void)socket;
    (void)response;
    ((visit *)ctx)->is_open = true;
}

static nc_action on_message(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    visit *one = ctx;
    if (one->is_count) {
        for (size_t i = 0; i < bytes.length && one->count < MAX_CASES; i++) {
            one->count = 10 * one->count + (unsigned)(bytes.data[i] - '0');
        }
        return NC_ACTION_CONTINUE;
    }
    nc_status status = nc_socket_send(socket, kind, bytes, is_last, NULL);
    // After the server's close frame, or with a full queue, the case fails in the server's report.
    return status == NC_OK || status == NC_ERR_CLOSED ? NC_ACTION_CONTINUE : NC_ACTION_STOP;
}

static void on_end(void *ctx, nc_socket *socket, const nc_socket_end *end) {
    visit *one = ctx;
    (void)socket;
    pthread_mutex_lock(&one->mutex);
    one->status = end->error->status;
    memcpy(one->message, end->error->message, sizeof one->message);
    one->is_ended = true;
    pthread_cond_signal(&one->ended);
    pthread_mutex_unlock(&one->mutex);
}

/// Opens a socket and waits for its end. Returns false, and prints the error, if the handshake failed.
static bool visit_url(nc_engine *engine, const char *url, visit *one) {
    const nc_socket_options options = {.offers_compression = true, .max_queued_bytes = MAX_QUEUED_BYTES};
    const nc_socket_sink sink = {.ctx = one, .on_open = on_open, .on_message = on_message, .on_end = on_end};
    const nc_request request = {.url = nc_slice_of(url)};
    nc_error err = {.status = NC_OK};
    nc_socket *socket = NULL;
    if (nc_socket_open(&socket, engine, &request, &options, &sink, &err) != NC_OK) {
        fprintf(stderr, "%s: %s\n", url, err.message);
        return false;
    }
    pthread_mutex_lock(&one->mutex);
    while (!one->is_ended) {
        pthread_cond_wait(&one->ended, &one->mutex);
    }
    pthread_mutex_unlock(&one->mutex);
    nc_socket_release(socket);
    if (!one->is_open) {
        fprintf(stderr, "%s: %s: %s\n", url, nc_status_name(one->status), one->message);
    }
    return one->is_open;
}

static bool run_case(nc_engine *engine, const char *base, const char *path) {
    char url[256];
    visit one = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    (void)snprintf(url, sizeof url, "%s/%s&agent=" AGENT, base, path);
    return visit_url(engine, url, &one);
}

static unsigned count_cases(nc_engine *engine, const char *base) {
    char url[256];
    visit one = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER, .is_count = true};
    (void)snprintf(url, sizeof url, "%s/getCaseCount", base);
    if (visit_url(engine, url, &one) && one.count == 0) {
        fprintf(stderr, "%s: no number of cases arrived\n", url);
    }
    return one.count;
}

int main(int argc, char **argv) {
    nc_engine *engine = NULL;
    unsigned step = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    char path[64];
    if (step == 0) {
        fprintf(stderr, "usage: socket_suite_client URL STEP\n");
        return 2;
    }
    if (nc_engine_new(&engine, NULL, NULL) != NC_OK) {
        return 1;
    }
    unsigned count = count_cases(engine, argv[1]);
    bool is_right = count > 0;
    for (unsigned i = 1; i <= count && is_right; i += step) {
        (void)snprintf(path, sizeof path, "runCase?case=%u", i);
        is_right = run_case(engine, argv[1], path);
    }
    is_right = is_right && run_case(engine, argv[1], "updateReports?");
    (void)nc_engine_close(engine, NC_UNLIMITED);
    return is_right ? 0 : 1;
}
