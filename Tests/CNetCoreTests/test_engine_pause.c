/// Pausing and resuming of transfers by callbacks, readers and sources, and the limits meanwhile.
#include "fixture.h"

#include <curl/curl.h>
#include <netcore/transfers.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- sources that report their end late --- */

typedef struct late_source {
    size_t length;
    bool has_more; // one byte more than declared
    atomic_bool may_end;
    size_t at;
} late_source;

/// Produces all bytes immediately. After `may_end` it reports the end, or produces an extra byte.
static nc_pull pull_late(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    late_source *source = ctx;
    size_t left = source->length - source->at;
    (void)id;
    if (left == 0) {
        if (!atomic_load(&source->may_end)) {
            return NC_PULL_LATER;
        }
        *filled = source->has_more ? 1 : 0;
        return source->has_more ? NC_PULL_MORE : NC_PULL_END;
    }
    *filled = left < capacity ? left : capacity;
    memset(bytes, 'x', *filled);
    source->at += *filled;
    return NC_PULL_MORE;
}

static nc_transfer_id send_late(fixture *f, late_source *source) {
    nc_request request = fixture_request(f, "/echo");
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){source, pull_late, NULL};
    request.body_length = source->length;
    return fixture_submit(f, &request);
}

static void engine__the_last_byte_is_sent_only_when_its_source_ends(void **state) {
    static const size_t lengths[] = {1, 2, 100, 200000};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        fixture f;
        late_source source = {.length = lengths[i / 2], .has_more = i % 2 == 1};
        fixture_start(&f, NCT_PLAIN);
        fixture_script(&f, "/echo", (nct_reply){.status = 200});
        nc_transfer_id id = send_late(&f, &source);
        assert_true(nct_server_wait_for_received_bytes(f.server, source.length - 1, FIXTURE_LIMIT_MS));
        nc_engine_resume_from(f.engine, id, NC_PAUSE_SOURCE); // has no effect
        assert_ended(fixture_get(&f, "/other"), NC_OK, 0, "");
        assert_int_equal(nct_server_received_bytes(f.server), source.length - 1);
        atomic_store(&source.may_end, true);
        nc_engine_resume_from(f.engine, id, NC_PAUSE_SOURCE);
        answer one = fixture_wait(&f, id);
        if (source.has_more) {
            assert_ended(one, NC_ERR_BODY_LENGTH, 0, "the body source returned more than");
            assert_int_equal(nct_server_request_count(f.server), 1);
        } else {
            assert_response(one, 200, "");
            assert_int_equal(nct_server_received_bytes(f.server), source.length);
        }
        fixture_stop(&f);
    }
}

/* --- early responses --- */

static nc_pull pull_never(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    atomic_uint *pulls = ctx;
    (void)id;
    if (atomic_fetch_add(pulls, 1) > 0) {
        return NC_PULL_LATER;
    }
    *filled = capacity < 10 ? capacity : 10;
    memset(bytes, 'x', *filled);
    return NC_PULL_MORE;
}

static nc_pull pull_forever(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx;
    (void)id;
    *filled = capacity;
    memset(bytes, 'x', capacity);
    return NC_PULL_MORE;
}

static bool rewind_nothing(void *ctx, nc_transfer_id id, uint64_t offset) {
    (void)ctx;
    (void)id;
    (void)offset;
    return true;
}

static void engine__a_complete_response_does_not_wait_for_the_source(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    static const nct_reply replies[] = {
        {.status = 200, .body = "enough", .body_length = 6},
        {.status = 200, .body = "enough", .body_length = 6, .chunk_bytes = 2},
        {.status = 200, .body = "enough", .body_length = 6, .chunk_bytes = 2, .trailers = "X: 1\r\n"},
        {.status = 413, .body = "enough", .body_length = 6},
        {.status = 307, .location = "/end"},
        {.status = 204},
        {.status = 200},
    };
    (void)state;
    for (size_t i = 0; i < 2 * 2 * 2 * (sizeof replies / sizeof *replies); i++) {
        fixture f;
        atomic_uint pulls = 0;
        nct_reply reply = replies[i / 8];
        bool is_endless = i / 2 % 2 != 0;
        if (is_endless && reply.status < 400) {
            continue; // after a success status, a body that can pause is still sent
        }
        bool is_redirect = reply.status == 307;
        reply.early = NCT_EARLY_DISCARD;
        fixture_start(&f, identities[i % 2]);
        fixture_script(&f, "/early", reply);
        fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3, .early = NCT_EARLY_DISCARD});
        fixture_script(&f, "/first", (nct_reply){.status = 200});
        assert_ended(fixture_get(&f, "/first"), NC_OK, 0, ""); // leaves a reusable connection
        nc_request request = fixture_request(&f, "/early");
        request.method = nc_slice_of("PUT");
        request.body_source = (nc_body_source){&pulls, is_endless ? pull_forever : pull_never, rewind_nothing};
        request.body_length = i / 4 % 2 == 0 ? NC_LENGTH_UNKNOWN : (uint64_t)1 << 40;
        answer one = fixture_send(&f, &request);
        assert_response(one, is_redirect ? 200 : reply.status,
                        is_redirect             ? "end"
                        : reply.body_length > 0 ? "enough"
                                                : "");
        assert_true(nct_server_wait_for_silence(f.server, FIXTURE_LIMIT_MS));
        fixture_stop(&f);
    }
}

/// A truncated gzip body.
#define CUT_GZIP "\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4a\x4e"

/// A server that closes its sending side within a response, and continues to read.
typedef struct cut_case {
    nct_reply reply;
    nc_status status;
    int code;
} cut_case;

static answer put_unfinished(fixture *f, const char *path, const char *save_path) {
    atomic_uint pulls = 0;
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){&pulls, pull_never, NULL};
    request.body_length = NC_LENGTH_UNKNOWN;
    request.accepts_codings = true;
    request.save_path = nc_slice_of(save_path);
    request.limits.total_ms = FIXTURE_LIMIT_MS;
    return fixture_send(f, &request);
}

static void engine__a_truncated_response_does_not_wait_for_the_source_regression_2(void **state) {
    static const cut_case cases[] = {
        {{.pattern_length = 100, .is_cut = true, .is_cut_in_body = true, .cut_after = 10},
         NC_ERR_CUT_SHORT,
         CURLE_PARTIAL_FILE},
        {{.pattern_length = 100, .chunk_bytes = 50, .is_cut = true, .is_cut_in_body = true, .cut_after = 10},
         NC_ERR_CUT_SHORT,
         CURLE_PARTIAL_FILE},
        {{.headers = "Content-Encoding: gzip\r\n", .body = CUT_GZIP, .body_length = sizeof CUT_GZIP - 1},
         NC_ERR_CUT_SHORT,
         CURLE_BAD_CONTENT_ENCODING},
        {{.is_cut = true, .cut_after = 20}, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE},
        {{.is_cut = true}, NC_ERR_EMPTY_REPLY, CURLE_GOT_NOTHING},
        {{.interim = "HTTP/1.1 103 Early Hints\r\n\r\n", .is_cut = true, .cut_after = 28},
         NC_ERR_EMPTY_REPLY,
         CURLE_GOT_NOTHING},
    };
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        char directory[] = "/tmp/netcore-cut-XXXXXX";
        fixture f;
        const cut_case *one = &cases[i / 2];
        nct_reply reply = one->reply;
        assert_non_null(mkdtemp(directory));
        reply.early = NCT_EARLY_END;
        reply.ending = NCT_HALF_CLOSE;
        fixture_start(&f, identities[i % 2]);
        fixture_script(&f, "/cut", reply);
        assert_ended(put_unfinished(&f, "/cut", ""), one->status, one->code, "");
        const char *path = fixture_text(&f, "%s/saved", directory);
        assert_ended(put_unfinished(&f, "/cut", path), one->status, one->code, "");
        assert_int_equal(rmdir(directory), 0); // the directory is empty
        fixture_stop(&f);
    }
}

static void engine__a_reused_connection_that_ends_while_the_source_waits_is_replaced(void **state) {
    const nct_reply replies[] = {{.is_cut = true, .early = NCT_EARLY_END, .ending = NCT_HALF_CLOSE},
                                 {.body = "ok", .body_length = 2, .early = NCT_EARLY_DISCARD}};
    fixture f;
    atomic_uint pulls = 0;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_ended(fixture_get(&f, "/first"), NC_OK, 0, "");
    assert_int_equal(nct_server_script_sequence(f.server, "/up", replies, 2), 0);
    nc_request request = fixture_request(&f, "/up");
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){&pulls, pull_never, rewind_nothing};
    request.body_length = NC_LENGTH_UNKNOWN;
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "ok");
    assert_int_equal(nc_response_hop_count(one.response), 1);
    assert_int_equal(nct_server_connection_count(f.server), 2);
    fixture_stop(&f);
}

/* --- readers --- */

typedef struct watcher {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    nc_action action;
    size_t received;
    bool is_done;
    nc_error error;
} watcher;

static nc_action watch_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    watcher *self = ctx;
    (void)id;
    pthread_mutex_lock(&self->mutex);
    self->received += bytes.length;
    nc_action action = self->action;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    return action;
}

static void watch_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    watcher *self = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&self->mutex);
    self->is_done = true;
    self->error = *error;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/// Waits until that many bytes have arrived, or, with SIZE_MAX, until the end.
static void wait_for_bytes(watcher *self, size_t count) {
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FIXTURE_LIMIT_MS / 1000;
    pthread_mutex_lock(&self->mutex);
    while (code == 0 && !self->is_done && self->received < count) {
        code = pthread_cond_timedwait(&self->changed, &self->mutex, &until);
    }
    pthread_mutex_unlock(&self->mutex);
    assert_int_equal(code, 0);
}

static size_t received_by(watcher *self) {
    pthread_mutex_lock(&self->mutex);
    size_t received = self->received;
    pthread_mutex_unlock(&self->mutex);
    return received;
}

static void continue_reading(watcher *self) {
    pthread_mutex_lock(&self->mutex);
    self->action = NC_ACTION_CONTINUE;
    pthread_mutex_unlock(&self->mutex);
}

static nc_transfer_id watch(fixture *f, watcher *self, const nc_request *request) {
    nc_sink sink = {.ctx = self, .on_body = watch_body, .on_done = watch_end};
    nc_transfer_id id = 0;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->changed, NULL);
    assert_status(nc_engine_submit(f->engine, request, &sink, &id, NULL), NC_OK);
    return id;
}

static bool is_paused(fixture *f) {
    nc_transfer_info info;
    // When another transfer has completed, the loop has handled all earlier commands.
    assert_ended(fixture_get(f, "/other"), NC_OK, 0, "");
    assert_int_equal(nc_engine_list(f->engine, &info, 1), 1);
    return info.is_paused;
}

static void engine__a_pause_ends_only_by_a_resume_for_the_same_reason(void **state) {
    static const nc_pause_reason others[] = {NC_PAUSE_CALLBACK, NC_PAUSE_SOURCE, (nc_pause_reason)8, (nc_pause_reason)0,
                                             (nc_pause_reason)7};
    watcher self = {.action = NC_ACTION_PAUSE};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/long", (nct_reply){.pattern_length = 30000000});
    nc_request request = fixture_request(&f, "/long");
    nc_transfer_id id = watch(&f, &self, &request);
    wait_for_bytes(&self, 1);
    assert_true(is_paused(&f));
    size_t before = received_by(&self);
    // An explicit pause stays, independent of the order in which other pauses start and end.
    nc_engine_pause(f.engine, id);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        nc_engine_resume_from(f.engine, id, others[i]);
        assert_true(is_paused(&f));
    }
    nc_engine_resume_from(f.engine, id, NC_PAUSE_CALLBACK);
    nc_engine_pause(f.engine, id);
    assert_true(is_paused(&f));
    assert_int_equal(received_by(&self), before);
    // The reader's own pause stays too.
    nc_engine_resume_from(f.engine, id, NC_PAUSE_EXPLICIT);
    wait_for_bytes(&self, before + 1);
    nc_engine_resume_from(f.engine, id, NC_PAUSE_EXPLICIT);
    assert_true(is_paused(&f));
    continue_reading(&self);
    nc_engine_pause(f.engine, id);
    nc_engine_resume(f.engine, id);
    wait_for_bytes(&self, SIZE_MAX);
    assert_status(self.error.status, NC_OK);
    assert_int_equal(received_by(&self), 30000000);
    fixture_stop(&f);
}

static void engine__a_complete_response_waits_only_for_its_reader(void **state) {
    static const size_t lengths[] = {10, 100000};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < 4; i++) {
        size_t length = lengths[i / 2];
        watcher self = {.action = NC_ACTION_PAUSE};
        atomic_uint pulls = 0;
        fixture_script(&f, "/early",
                       (nct_reply){.pattern_length = length, .chunk_bytes = i % 2 * 999, .early = NCT_EARLY_DISCARD});
        nc_request request = fixture_request(&f, "/early");
        request.method = nc_slice_of("PUT");
        request.body_source = (nc_body_source){&pulls, pull_never, NULL};
        request.body_length = NC_LENGTH_UNKNOWN;
        request.limits.connect_ms = NC_UNLIMITED; // libcurl's timer for this limit would wake the loop
        nc_transfer_id id = watch(&f, &self, &request);
        for (size_t before = 0; before < length;) {
            wait_for_bytes(&self, before + 1);
            assert_true(is_paused(&f)); // with or without its last byte
            before = received_by(&self);
            nc_engine_resume_from(f.engine, id, NC_PAUSE_CALLBACK);
        }
        wait_for_bytes(&self, SIZE_MAX);
        assert_status(self.error.status, NC_OK);
        assert_int_equal(received_by(&self), length);
    }
    fixture_stop(&f);
}

/* --- limits --- */

static uint64_t read_ns(void *ctx) {
    return atomic_load((atomic_uint_fast64_t *)ctx);
}

static int64_t no_realtime(void *ctx) {
    (void)ctx;
    return 0;
}

static void engine__the_idle_timeout_restarts_after_a_long_pause_regression_1(void **state) {
    static const uint64_t step_ns = 20000000000u;
    atomic_uint_fast64_t now_ns = 1;
    const nc_clock clock = {&now_ns, read_ns, no_realtime};
    const nc_engine_options options = {.clock = &clock};
    watcher self = {.action = NC_ACTION_PAUSE};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &options);
    fixture_script(&f, "/stall",
                   (nct_reply){.pattern_length = 1000, .is_cut = true, .cut_after = 100, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/stall");
    request.limits.total_ms = NC_UNLIMITED;
    request.limits.idle_ms = 10000;
    nc_transfer_id id = watch(&f, &self, &request);
    wait_for_bytes(&self, 1);
    // The limit passes during the pause and is not counted.
    atomic_fetch_add(&now_ns, step_ns);
    assert_true(is_paused(&f));
    continue_reading(&self);
    nc_engine_resume(f.engine, id);
    assert_false(is_paused(&f));
    atomic_fetch_add(&now_ns, step_ns);
    assert_ended(fixture_get(&f, "/other"), NC_OK, 0, "");
    wait_for_bytes(&self, SIZE_MAX);
    assert_status(self.error.status, NC_ERR_IDLE_TIMED_OUT);
    fixture_stop(&f);
}

static void engine__http_1_1_requests_that_may_pause_share_the_pool(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (int turn = 0; turn < 4; turn++) {
        nc_request request = fixture_request(&f, "/short");
        request.may_pause = turn % 2 == 1;
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_OK, 0, "");
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, turn == 0);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__the_last_byte_is_sent_only_when_its_source_ends),
        harness_case(engine__a_complete_response_does_not_wait_for_the_source),
        harness_case(engine__a_truncated_response_does_not_wait_for_the_source_regression_2),
        harness_case(engine__a_reused_connection_that_ends_while_the_source_waits_is_replaced),
        harness_case(engine__a_complete_response_waits_only_for_its_reader),
        harness_case(engine__a_pause_ends_only_by_a_resume_for_the_same_reason),
        harness_case(engine__the_idle_timeout_restarts_after_a_long_pause_regression_1),
        harness_case(engine__http_1_1_requests_that_may_pause_share_the_pool),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
