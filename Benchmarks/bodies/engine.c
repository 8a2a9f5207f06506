/* One large body through NetKit's engine, from C:
 *
 *     engine save URL BYTES FILE
 *     engine stream URL BYTES        discards the body
 *     engine rest URL BYTES          like stream, and pauses for 2 ms after every 2 MiB
 *     engine upload URL BYTES FILE   sends the file */
#include <netcore/engine.h>
#include <netcore/transfers.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REST_BYTES = 2 * 1024 * 1024, REST_NS = 2000000 };

typedef struct client {
    nc_engine *engine;
    uint64_t expected;
    uint64_t received;
    uint64_t until_rest;
    bool rests;
    bool uploads;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_paused_reading;
    bool is_over;
    bool is_whole;
} client;

static void tell(client *self, bool *what) {
    pthread_mutex_lock(&self->mutex);
    *what = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    client *self = ctx;
    (void)id;
    self->received += bytes.length;
    if (!self->rests || bytes.length < self->until_rest) {
        self->until_rest -= self->rests ? bytes.length : 0;
        return NC_ACTION_CONTINUE;
    }
    self->until_rest = REST_BYTES;
    tell(self, &self->is_paused_reading);
    return NC_ACTION_PAUSE;
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    client *self = ctx;
    (void)id;
    nc_hop_metrics hop = nc_response_hop_at(response, 0);
    uint64_t moved = self->uploads ? hop.sent_bytes : hop.decoded_bytes;
    self->is_whole = error->status == NC_OK && nc_response_status(response) == 200 && moved >= self->expected;
    if (!self->is_whole) {
        fprintf(stderr, "engine: %s: %s, status %u\n", nc_status_name(error->status), error->message,
                (unsigned)nc_response_status(response));
    }
    tell(self, &self->is_over);
}

static void wait_for_end(client *self, nc_transfer_id id) {
    const struct timespec rest = {.tv_nsec = REST_NS};
    pthread_mutex_lock(&self->mutex);
    while (!self->is_over) {
        if (!self->is_paused_reading) {
            pthread_cond_wait(&self->changed, &self->mutex);
            continue;
        }
        self->is_paused_reading = false;
        pthread_mutex_unlock(&self->mutex);
        nanosleep(&rest, NULL);
        nc_engine_resume(self->engine, id);
        pthread_mutex_lock(&self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
}

int main(int argc, char *argv[]) {
    const char *mode = argc >= 4 ? argv[1] : "";
    bool saves = strcmp(mode, "save") == 0;
    client self = {
        .rests = strcmp(mode, "rest") == 0,
        .uploads = strcmp(mode, "upload") == 0,
        .until_rest = REST_BYTES,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
    bool streams = self.rests || strcmp(mode, "stream") == 0;
    if (argc != (saves || self.uploads ? 5 : 4) || !(saves || self.uploads || streams)) {
        fprintf(stderr, "usage: engine save|stream|rest|upload URL BYTES [FILE]\n");
        return 2;
    }
    self.expected = strtoull(argv[3], NULL, 10);
    nc_request request = {.url = nc_slice_of(argv[2]), .limits = {.max_body_bytes = NC_UNLIMITED_BYTES}};
    if (saves) {
        request.save_path = nc_slice_of(argv[4]);
    } else if (self.uploads) {
        request.method = nc_slice_of("PUT");
        request.body_file = nc_slice_of(argv[4]);
    }
    nc_sink sink = {.ctx = &self, .on_done = on_done, .on_body = streams ? on_body : NULL};
    nc_transfer_id id = 0;
    nc_error error;
    if (nc_engine_new(&self.engine, NULL, &error) != NC_OK ||
        nc_engine_submit(self.engine, &request, &sink, &id, &error) != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(error.status), error.message);
        return 1;
    }
    wait_for_end(&self, id);
    bool is_closed = nc_engine_close(self.engine, 5000) == NC_OK;
    return is_closed && self.is_whole && (!streams || self.received == self.expected) ? 0 : 1;
}
