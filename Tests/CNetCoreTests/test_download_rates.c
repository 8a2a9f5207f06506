/// The rate of a segmented download with a driven clock.
#include "driven.h"
#include "fetched.h"

/// Each share is large enough for a range. A piece of a paced body is small.
enum { SEGMENTS = 6, SHARE = 300000, LARGE = SEGMENTS * SHARE, PIECE_BYTES = 16 * 1024 };

static const nct_reply large = {.headers = "ETag: \"v1\"\r\n", .pattern_length = LARGE, .answers_ranges = true};

/// The bytes of a download over time.
typedef struct byte_log {
    manual_clock *time;
    uint64_t rate;
    fetching on;
    uint64_t most_ahead; // bytes above the rate's allowance
    unsigned report_count;
} byte_log;

static void record_progress(void *ctx, nc_download_id id, const nc_download_progress *progress) {
    byte_log *one = ctx;
    uint64_t burst = one->rate / 10 > 1024 ? one->rate / 10 : 1024;
    // The first segment may use the burst of the whole rate. A piece larger than the allowance is not split.
    uint64_t extra = burst + SEGMENTS * (burst / SEGMENTS > 1024 ? burst / SEGMENTS : 1024) + SEGMENTS * PIECE_BYTES;
    uint64_t limit = (manual_clock_passed_ms(one->time) + 1) * one->rate / 1000 + extra;
    uint64_t ahead = progress->received_bytes > limit ? progress->received_bytes - limit : 0;
    (void)id;
    one->most_ahead = ahead > one->most_ahead ? ahead : one->most_ahead;
    gate_open(&one->on.moved);
}

static void record_end(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                       const nc_error *error) {
    byte_log *one = ctx;
    (void)id;
    (void)response;
    (void)result;
    one->on.now.error = *error;
    gate_open(&one->on.done);
    gate_open(&one->on.moved); // opened last: a thread that waits for a piece then sees that the download has ended
}

static unsigned opened(gate *one) {
    pthread_mutex_lock(&one->mutex);
    unsigned count = one->count;
    pthread_mutex_unlock(&one->mutex);
    return count;
}

static void begin(byte_log *one, manual_clock *time, const nct_reply *replies, size_t count) {
    nc_error err;
    *time = manual_clock_make();
    const nc_engine_options engine = manual_clock_options(time, (nc_engine_options){0});
    fetching *on = &one->on;
    one->time = time;
    fetching_start_with(on, &engine);
    fetching_script_row(on, replies, count);
    nc_request request = fixture_request(&on->f, on->path);
    request.limits = (nc_limits){.idle_ms = NC_UNLIMITED, .first_byte_ms = NC_UNLIMITED};
    request.limits.max_receive_bytes_per_s = one->rate;
    const nc_download_options options = {
        .request = &request, .path = nc_slice_of(on->file), .segments = SEGMENTS, .skips_sync = true};
    const nc_download_sink sink = {.ctx = one, .on_progress = record_progress, .on_done = record_end};
    assert_status(nc_download_start(on->f.engine, &options, &sink, &on->id, &err), NC_OK);
}

static void rate__is_shared_by_the_segments(void **state) {
    (void)state;
    manual_clock time;
    byte_log one = {.rate = 600000};
    begin(&one, &time, &large, 1);
    while (opened(&one.on.done) == 0) {
        manual_clock_advance(&time, one.on.f.engine, 10);
    }
    assert_fetched(one.on.now, NC_OK);
    assert_pattern(one.on.file, LARGE);
    assert_int_equal(one.most_ahead, 0);
    fetching_stop(&one.on);
}

static void rate__below_one_byte_per_segment_still_limits(void **state) {
    (void)state;
    manual_clock time;
    byte_log one = {.rate = SEGMENTS - 1};
    begin(&one, &time, &large, 1);
    assert_true(nct_server_wait_for_requests(one.on.f.server, SEGMENTS, FIXTURE_LIMIT_MS));
    for (int i = 0; i < 100; i++) {
        manual_clock_advance(&time, one.on.f.engine, 10);
    }
    nc_download_cancel(one.on.f.engine, one.on.id);
    gate_wait(&one.on.done);
    assert_fetched(one.on.now, NC_ERR_CANCELLED);
    assert_int_equal(one.most_ahead, 0);
    fetching_stop(&one.on);
}

static void rate__the_last_segment_gets_the_whole_rate(void **state) {
    (void)state;
    enum { WHOLE_S = LARGE / 600000, SHARED_S = WHOLE_S * SEGMENTS };
    manual_clock time;
    byte_log one = {.rate = 600000};
    nct_reply deaf = large;
    deaf.answers_ranges = false;
    begin(&one, &time, &deaf, 1);
    assert_true(nct_server_wait_for_requests(one.on.f.server, SEGMENTS, FIXTURE_LIMIT_MS));
    gate_wait(&one.on.moved);
    while (opened(&one.on.done) == 0) {
        unsigned seen = opened(&one.on.moved);
        manual_clock_advance(&time, one.on.f.engine, 100);
        gate_wait_for(&one.on.moved, seen + 1);
    }
    assert_fetched(one.on.now, NC_OK);
    assert_pattern(one.on.file, LARGE);
    assert_true(manual_clock_passed_ms(&time) < (SHARED_S - WHOLE_S) * 1000);
    fetching_stop(&one.on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(rate__is_shared_by_the_segments),
        harness_case(rate__below_one_byte_per_segment_still_limits),
        harness_case(rate__the_last_segment_gets_the_whole_rate),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
