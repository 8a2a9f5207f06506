/// A long mixture of all features: each request ends correctly, and no memory or descriptor leaks.
///
/// NETCORE_TORTURE_SOAK sets the number of requests. Memory is checked from 100,000 on, because a shorter run has not
/// reached its steady state. It is measured with nothing in flight, after glibc has returned its free memory, because
/// peaks are random. The number of idle connections is random too, and each uses 20 KiB, so only a few are allowed. A
/// single measurement still varies by 2 %, so medians of ten are compared.
#include "coded.h"
#include "serving.h"

#include <malloc.h>
#include <netcore/transfers.h>
#include <stdlib.h>
#include <string.h>

enum { OUTSTANDING = 64, UPLOAD_BYTES = 2500, STEPS = 100, WEIGHINGS = 10, STEP_MS = 3600 * 1000, CLOSE_MS = 20000 };
enum { JUDGED_FROM = 100000, CHANCES = 200, IDLE_CONNECTIONS = 8 };

/// The kind of one request of the mixture.
typedef enum kind {
    KIND_PLAIN,     // over a pooled connection
    KIND_TLS,       // over TLS
    KIND_CLOSING,   // on a new connection
    KIND_HANDSHAKE, // on a new TLS connection
    KIND_UPLOAD,    // from memory
    KIND_PULLED,    // from a source, chunked
    KIND_REDIRECT,
    KIND_CANCEL, // in the middle of an endless body
    KIND_ZIPPED,
    KIND_STREAM, // to a reader that pauses
    KIND_COUNT,
} kind;

static const struct {
    const char *path;
    bool is_tls;
    int chances; // of CHANCES
} kinds[KIND_COUNT] = {
    [KIND_PLAIN] = {"/page", false, 90},     [KIND_TLS] = {"/page", true, 40},
    [KIND_CLOSING] = {"/closing", false, 2}, [KIND_HANDSHAKE] = {"/closing", true, 1},
    [KIND_UPLOAD] = {"/echo", false, 16},    [KIND_PULLED] = {"/echo", true, 10},
    [KIND_REDIRECT] = {"/moved", false, 15}, [KIND_CANCEL] = {"/stalled", false, 2},
    [KIND_ZIPPED] = {"/zipped", false, 12},  [KIND_STREAM] = {"/large", false, 12},
};

struct soak;

/// One of the concurrent requests. It restarts when it ends.
typedef struct request_slot {
    struct soak *soak;
    kind kind;
    size_t received;
    size_t sent;
    uint32_t rests;
} request_slot;

typedef struct soak {
    const serving *servers;
    nc_engine *engine;
    uint64_t seed;
    size_t count;
    size_t begun; // requests started so far; all except the first few by the loop thread
    request_slot slots[OUTSTANDING];
    uint8_t upload[UPLOAD_BYTES];
    char urls[KIND_COUNT][TORTURE_URL_BYTES];
    size_t of_kind[KIND_COUNT];
    size_t wrong_count;
    torture_fetch all;
} soak;

static void begin(soak *at, request_slot *one);

/* --- callbacks on the loop thread --- */

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    request_slot *one = ctx;
    size_t left = UPLOAD_BYTES - one->sent;
    (void)id;
    *filled = left < capacity ? left : capacity;
    memcpy(bytes, one->soak->upload + one->sent, *filled);
    one->sent += *filled;
    return left == *filled ? NC_PULL_END : NC_PULL_MORE;
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    request_slot *one = ctx;
    one->received += bytes.length;
    if (one->kind == KIND_CANCEL) {
        nc_engine_cancel(one->soak->engine, id);
        return NC_ACTION_CONTINUE;
    }
    if (one->rests < 2) {
        one->rests++;
        nc_engine_resume(one->soak->engine, id);
        return NC_ACTION_PAUSE;
    }
    return NC_ACTION_CONTINUE;
}

static bool is_right(const request_slot *one, nc_response *response, nc_status status) {
    nc_slice body = nc_response_body(response);
    if (one->kind == KIND_CANCEL) {
        return status == NC_ERR_CANCELLED;
    }
    if (status != NC_OK || nc_response_status(response) != 200) {
        return false;
    }
    switch (one->kind) {
    case KIND_UPLOAD:
    case KIND_PULLED:
        return nc_slice_is_equal(body, nc_slice_make(one->soak->upload, UPLOAD_BYTES));
    case KIND_ZIPPED:
        return nc_slice_is_equal(body, encoded_text());
    case KIND_STREAM:
        return one->received == 30000;
    default:
        return body.length == 300;
    }
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    request_slot *one = ctx;
    soak *at = one->soak;
    if (!is_right(one, response, error->status)) {
        at->wrong_count++;
        print_error("%s: %s, %s\n", kinds[one->kind].path, nc_status_name(error->status), error->message);
    }
    if (at->begun < at->count) {
        begin(at, one);
    }
    nc_sink counting = torture_sink(&at->all);
    counting.on_done(counting.ctx, id, response, error);
}

/* --- requests --- */

static kind choose(const soak *at) {
    int chance = (int)(torture_mix(at->seed, at->begun) % CHANCES);
    kind chosen = KIND_PLAIN;
    while (chance >= kinds[chosen].chances) {
        chance -= kinds[chosen].chances;
        chosen++;
    }
    return chosen;
}

static void begin(soak *at, request_slot *one) {
    *one = (request_slot){.soak = at, .kind = choose(at)};
    at->begun++;
    at->of_kind[one->kind]++;
    bool reads = one->kind == KIND_STREAM || one->kind == KIND_CANCEL;
    const nc_sink sink = {.ctx = one, .on_body = reads ? on_body : NULL, .on_done = on_done};
    nc_request request = {.url = nc_slice_of(at->urls[one->kind]), .accepts_codings = one->kind == KIND_ZIPPED};
    nc_transfer_id id;
    if (one->kind == KIND_UPLOAD) {
        request.method = nc_slice_of("POST");
        request.body = nc_slice_make(at->upload, UPLOAD_BYTES);
    } else if (one->kind == KIND_PULLED) {
        request.method = nc_slice_of("POST");
        request.body_source = (nc_body_source){.ctx = one, .pull = pull};
        request.body_length = NC_LENGTH_UNKNOWN;
    }
    nc_status status = nc_engine_submit(at->engine, &request, &sink, &id, NULL);
    if (status != NC_OK) {
        fail_msg("submit: %s", nc_status_name(status));
    }
}

static size_t resident_kib(void) {
    unsigned long total = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
    (void)fclose(file);
    return resident * 4;
}

/// Runs until `at->count` requests have ended and nothing is in flight.
static void run_step(soak *at) {
    size_t first_count = at->count - at->begun < OUTSTANDING ? at->count - at->begun : OUTSTANDING;
    nc_engine_set_suspended(at->engine, true); // after its resumption only the loop starts more
    for (size_t i = 0; i < first_count; i++) {
        begin(at, &at->slots[i]);
    }
    nc_engine_set_suspended(at->engine, false);
    assert_true(torture_await(&at->all, at->count, STEP_MS));
}

static int by_size(const void *a, const void *b) {
    size_t left = *(const size_t *)a;
    size_t right = *(const size_t *)b;
    return left < right ? -1 : left > right;
}

static size_t median(const size_t *weighings) {
    size_t sorted[WEIGHINGS];
    memcpy(sorted, weighings, sizeof sorted);
    qsort(sorted, WEIGHINGS, sizeof sorted[0], by_size);
    return sorted[WEIGHINGS / 2];
}

/// Runs all steps. Returns the resident memory at about a tenth of the way, and in the last tenth.
static void run_all_steps(soak *at, size_t total, size_t *early_kib, size_t *late_kib) {
    size_t weighings[STEPS];
    uint64_t began_ms = torture_now_ms();
    for (size_t step = 0; step < STEPS; step++) {
        at->count = total * (step + 1) / STEPS;
        run_step(at);
        size_t raw_kib = resident_kib();
        (void)malloc_trim(0);
        weighings[step] = resident_kib();
        uint64_t elapsed_ms = torture_now_ms() - began_ms + 1;
        if (total >= JUDGED_FROM && (step + 1) % WEIGHINGS == 0) {
            print_message("%zu requests, %llu a second, %zu KiB resident, %zu KiB trimmed, %zu descriptors\n",
                          at->count, (unsigned long long)(at->count * 1000 / elapsed_ms), raw_kib, weighings[step],
                          torture_open_descriptors());
        }
    }
    *early_kib = median(weighings + WEIGHINGS / 2);
    *late_kib = median(weighings + STEPS - WEIGHINGS);
}

static void soak__loses_neither_memory_nor_descriptors(void **state) {
    static soak at;
    serving servers;
    size_t early_kib = 0;
    size_t late_kib = 0;
    (void)state;
    serving_start(&servers);
    size_t descriptors = torture_open_descriptors();
    size_t total = (size_t)torture_number("NETCORE_TORTURE_SOAK", 3000);
    at = (soak){.servers = &servers};
    at.seed = torture_seed();
    for (size_t i = 0; i < UPLOAD_BYTES; i++) {
        at.upload[i] = (uint8_t)torture_mix(i, 1);
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        (void)serving_url(at.urls[i], &servers, kinds[i].is_tls, kinds[i].path);
    }
    at.engine = torture_engine(&(nc_engine_options){
        .trust = servers.trust, .max_per_host = OUTSTANDING, .max_idle_connections = IDLE_CONNECTIONS});
    run_all_steps(&at, total, &early_kib, &late_kib);
    assert_status(nc_engine_close(at.engine, CLOSE_MS), NC_OK);
    assert_int_equal(at.wrong_count, 0);
    assert_int_equal(at.all.done_count, at.count);
    assert_int_equal(at.all.cancelled_count, at.of_kind[KIND_CANCEL]);
    assert_true(torture_wait_for_descriptors(descriptors));
    double growth = ((double)late_kib - (double)early_kib) * 100 / (double)early_kib;
    print_message("%zu requests; resident memory %zu KiB at a tenth, %zu KiB at the end (%+.2f %%); "
                  "%zu descriptors before, %zu after\n",
                  at.count, early_kib, late_kib, growth, descriptors, torture_open_descriptors());
    assert_true(at.count < JUDGED_FROM || growth < 1);
    serving_stop(&servers);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(soak__loses_neither_memory_nor_descriptors),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
