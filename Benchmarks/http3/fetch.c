/* Requests over HTTP/3 through NetKit's engine, from C. Prints the CPU seconds of the process.
 *
 *     fetch CA URL COUNT PARALLEL     discards the bodies; PARALLEL requests are in flight */
#include <netcore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

typedef struct run {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long in_flight;
    long failed;
} run;

static nc_action drop_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)ctx, (void)id, (void)bytes;
    return NC_ACTION_CONTINUE;
}

static void note_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    run *self = ctx;
    (void)id;
    bool is_good = error->status == NC_OK && nc_response_http_version(response) == NC_HTTP_VERSION_3;
    if (!is_good) {
        fprintf(stderr, "fetch: %s: %s\n", nc_status_name(error->status), error->message);
    }
    pthread_mutex_lock(&self->mutex);
    self->in_flight--;
    self->failed += is_good ? 0 : 1;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

int main(int argc, char **argv) {
    run self = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_trust *trust;
    nc_engine *engine;
    nc_error err;
    if (argc != 5) {
        fprintf(stderr, "usage: fetch CA URL COUNT PARALLEL\n");
        return 2;
    }
    const nc_trust_options roots = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(argv[1])};
    if (nc_trust_new(&trust, &roots, &err) != NC_OK ||
        nc_engine_new(&engine, &(nc_engine_options){.trust = trust}, &err) != NC_OK) {
        fprintf(stderr, "fetch: %s\n", err.message);
        return 1;
    }
    const nc_request request = {
        .url = nc_slice_of(argv[2]), .http = NC_HTTP_3_ONLY, .limits = {.max_body_bytes = NC_UNLIMITED_BYTES}};
    const nc_sink sink = {.ctx = &self, .on_body = drop_body, .on_done = note_end};
    for (long left = atol(argv[3]); left > 0; left--) {
        nc_transfer_id id;
        pthread_mutex_lock(&self.mutex);
        while (self.in_flight >= atol(argv[4])) {
            pthread_cond_wait(&self.changed, &self.mutex);
        }
        self.in_flight++;
        pthread_mutex_unlock(&self.mutex);
        if (nc_engine_submit(engine, &request, &sink, &id, &err) != NC_OK) {
            fprintf(stderr, "fetch: %s\n", err.message);
            return 1;
        }
    }
    pthread_mutex_lock(&self.mutex);
    while (self.in_flight > 0) {
        pthread_cond_wait(&self.changed, &self.mutex);
    }
    pthread_mutex_unlock(&self.mutex);
    nc_engine_close(engine, NC_UNLIMITED);
    nc_trust_release(trust);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%.3f\n", (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    return self.failed == 0 ? 0 : 1;
}
