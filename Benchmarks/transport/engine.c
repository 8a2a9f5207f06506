/* NetKit's engine from C: each on_done submits the next request, on the loop thread.
 *
 * Without an on_body the engine collects each body in the response: one copy, like raw.c. */
#include "measure.h"

#include <netcore/engine.h>
#include <pthread.h>
#include <stdio.h>

typedef struct client {
    const bench_options *options;
    nc_engine *engine;
    nc_request request;
    nc_sink sink;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_over;
    /* Used by main before the first submit and after is_over, and by the loop thread in between. */
    uint64_t to_start;
    uint64_t running;
    uint64_t connections;
    uint64_t failures;
} client;

static bool submit_next(client *self) {
    nc_transfer_id id = 0;
    nc_error error;
    self->to_start--;
    if (nc_engine_submit(self->engine, &self->request, &self->sink, &id, &error) == NC_OK) {
        return true;
    }
    if (self->failures == 0) {
        fprintf(stderr, "submit: %s: %s\n", nc_status_name(error.status), error.message);
    }
    self->failures++;
    return false;
}

static void tell_main(client *self) {
    pthread_mutex_lock(&self->mutex);
    self->is_over = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)id;
    client *self = ctx;
    if (error->status != NC_OK || nc_response_status(response) != 200 ||
        nc_response_body(response).length != self->options->body_bytes) {
        if (self->failures == 0) {
            fprintf(stderr, "transfer: %s: %s\n", nc_status_name(error->status), error->message);
        }
        self->failures++;
    }
    for (size_t i = 0; i < nc_response_hop_count(response); i++) {
        self->connections += nc_response_hop_at(response, i).connections_opened;
    }
    while (self->to_start > 0) {
        if (submit_next(self)) {
            return;
        }
    }
    if (--self->running == 0) {
        tell_main(self);
    }
}

/* Submits the first requests on the loop thread, so the counters above need no lock. */
static bool start_all(void *ctx, uint32_t max_jobs) {
    (void)max_jobs;
    client *self = ctx;
    if (self->to_start == 0) {
        return false;
    }
    while (self->to_start > 0 && self->running < self->options->in_flight) {
        if (submit_next(self)) {
            self->running++;
        }
    }
    if (self->running == 0) {
        tell_main(self);
    }
    return false;
}

static void run(client *self, uint64_t requests) {
    if (requests == 0) {
        return;
    }
    self->to_start = requests;
    self->is_over = false;
    if (!nc_engine_wake(self->engine)) {
        self->failures += requests;
        return;
    }
    pthread_mutex_lock(&self->mutex);
    while (!self->is_over) {
        pthread_cond_wait(&self->changed, &self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
}

int main(int argc, char *argv[]) {
    bench_options options;
    nc_error error;
    if (!bench_options_parse(&options, argc, argv)) {
        return 2;
    }
    client self = {.options = &options, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    self.request.url = nc_slice_of(options.url);
    self.request.limits.max_body_bytes = options.body_bytes + 1; /* more than the default in the largest runs */
    self.request.accepts_codings = options.asks_codings != 0;
    self.sink = (nc_sink){.ctx = &self, .on_done = on_done};
    nc_trust *trust = NULL;
    if (options.ca != NULL &&
        nc_trust_new(&trust, &(nc_trust_options){.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(options.ca)}, &error) !=
            NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(error.status), error.message);
        return 1;
    }
    nc_engine_options engine_options = {
        .trust = trust,
        .max_streams = (uint32_t)options.in_flight,
        .max_in_flight = (uint32_t)options.in_flight,
        .max_per_host = (uint32_t)options.in_flight,
        .loop_client = {.ctx = &self, .drain = start_all},
    };
    if (nc_engine_new(&self.engine, &engine_options, &error) != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(error.status), error.message);
        return 1;
    }
    nc_trust_release(trust);
    run(&self, options.warm_up);
    bench_usage start = bench_usage_now();
    run(&self, options.requests);
    bench_outcome outcome = {.end = bench_usage_now(), .connections = self.connections, .failures = self.failures};
    bench_print_result("c", &options, start, &outcome);
    return nc_engine_close(self.engine, 5000) == NC_OK ? 0 : 1;
}
