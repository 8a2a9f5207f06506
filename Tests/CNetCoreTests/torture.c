#include "torture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- numbers --- */

uint64_t torture_number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    char *end = NULL;
    if (text == NULL || *text == '\0') {
        return otherwise;
    }
    uint64_t value = strtoull(text, &end, 10);
    if (*end != '\0') {
        fail_msg("%s is '%s', not a number", name, text);
    }
    return value;
}

uint64_t torture_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = torture_number("NETCORE_TORTURE_SEED", torture_mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec));
    print_message("NETCORE_TORTURE_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

uint64_t torture_next(uint64_t *state) {
    uint64_t value = *state += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

uint64_t torture_mix(uint64_t a, uint64_t b) {
    uint64_t state = a;
    state = torture_next(&state) ^ b;
    return torture_next(&state);
}

uint64_t torture_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* --- descriptors --- */

size_t torture_open_descriptors(void) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count - 3; // ".", ".." and the directory itself
}

bool torture_wait_for_descriptors(size_t expected) {
    uint64_t end_ms = torture_now_ms() + TORTURE_PATIENCE_MS;
    while (torture_open_descriptors() > expected) {
        if (torture_now_ms() >= end_ms) {
            return false;
        }
        // A closed descriptor has no notification. The wait ends when the count is reached.
        usleep(500);
    }
    return true;
}

/* --- servers and engines --- */

nc_slice torture_url(char *url, const char *scheme, const nct_server *server, const char *path) {
    (void)snprintf(url, TORTURE_URL_BYTES, "%s://127.0.0.1:%u%s", scheme, nct_server_port(server), path);
    return nc_slice_of(url);
}

nct_server *torture_start(nct_identity identity) {
    nct_server *server = NULL;
    const nct_server_options options = {.identity = identity};
    assert_int_equal(nct_server_start(&server, &options), 0);
    return server;
}

nc_engine *torture_engine(const nc_engine_options *options) {
    nc_engine *engine = NULL;
    assert_status(nc_engine_new(&engine, options, NULL), NC_OK);
    return engine;
}

nc_trust *torture_trust(const nct_server *server) {
    nc_trust *trust = NULL;
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(server))};
    assert_status(nc_trust_new(&trust, &options, NULL), NC_OK);
    return trust;
}

const char *torture_program(const char *name) {
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    assert_non_null(slash);
    *slash = '\0';
    bool is_beside = slash - path >= 9 && strcmp(slash - 9, "/programs") == 0; // one program runs another
    (void)snprintf(slash, sizeof path - (size_t)(slash - path), "%s/%s", is_beside ? "" : "/programs", name);
    return path;
}

/* --- sinks --- */

static pthread_mutex_t done_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_condition = PTHREAD_COND_INITIALIZER;

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    torture_fetch *fetch = ctx;
    (void)id;
    fetch->status = error->status;
    if (fetch->keeps_response) {
        nc_response_release(fetch->response);
        fetch->response = nc_response_retain(response);
    }
    if (error->status == NC_OK) {
        atomic_fetch_add(&fetch->ok_count, 1);
    } else if (error->status == NC_ERR_CANCELLED) {
        atomic_fetch_add(&fetch->cancelled_count, 1);
    }
    pthread_mutex_lock(&done_mutex);
    memcpy(fetch->message, error->message, sizeof fetch->message);
    atomic_fetch_add(&fetch->done_count, 1);
    pthread_cond_broadcast(&done_condition);
    pthread_mutex_unlock(&done_mutex);
}

nc_sink torture_sink(torture_fetch *fetch) {
    return (nc_sink){.ctx = fetch, .on_done = on_done};
}

nc_transfer_id torture_submit(nc_engine *engine, const nc_request *request, torture_fetch *fetch) {
    nc_transfer_id id = 0;
    nc_sink sink = torture_sink(fetch);
    assert_status(nc_engine_submit(engine, request, &sink, &id, NULL), NC_OK);
    return id;
}

void torture_let_loop_read(nc_engine *engine) {
    const nc_request request = {.url = nc_slice_of("http://127.0.0.1:1/")};
    // The loop reads its whole mailbox and applies cancels before other commands. When a second request has ended,
    // the commands that came with the first are done.
    for (int i = 0; i < 2; i++) {
        nc_transfer_id id = 0;
        nc_response *response = NULL;
        nc_status status = nc_engine_submit(engine, &request, NULL, &id, NULL);
        assert_true(status == NC_OK || status == NC_ERR_CLOSED);
        if (status == NC_OK) {
            nc_engine_cancel(engine, id);
            assert_true(nc_engine_wait(engine, id, TORTURE_PATIENCE_MS, &response, NULL) != NC_ERR_WAIT_TIMED_OUT);
            nc_response_release(response);
        }
    }
}

static struct timespec moment_after(uint32_t timeout_ms) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_sec += timeout_ms / 1000;
    moment.tv_nsec += (long)(timeout_ms % 1000) * 1000000L;
    if (moment.tv_nsec >= 1000000000L) {
        moment.tv_sec++;
        moment.tv_nsec -= 1000000000L;
    }
    return moment;
}

bool torture_await(torture_fetch *fetch, size_t count, uint32_t timeout_ms) {
    struct timespec end = moment_after(timeout_ms);
    pthread_mutex_lock(&done_mutex);
    while (atomic_load(&fetch->done_count) < count &&
           pthread_cond_timedwait(&done_condition, &done_mutex, &end) != ETIMEDOUT) {
    }
    bool is_reached = atomic_load(&fetch->done_count) >= count;
    pthread_mutex_unlock(&done_mutex);
    return is_reached;
}

/* --- gates --- */

void torture_gate_open(torture_gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->condition);
    pthread_mutex_unlock(&gate->mutex);
}

bool torture_gate_wait(torture_gate *gate) {
    struct timespec end = moment_after(TORTURE_PATIENCE_MS);
    pthread_mutex_lock(&gate->mutex);
    while (!gate->is_open && pthread_cond_timedwait(&gate->condition, &gate->mutex, &end) != ETIMEDOUT) {
    }
    bool is_open = gate->is_open;
    pthread_mutex_unlock(&gate->mutex);
    return is_open;
}
