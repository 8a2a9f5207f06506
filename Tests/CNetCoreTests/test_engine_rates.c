/// Rates, measured in bytes with a driven clock, and progress reports.
#include "driven.h"
#include "fixture.h"
#include "gate.h"

#include <netcore/transfers.h>
#include <string.h>
#include <time.h>

enum { RATE = 10000, BODY_BYTES = 150000, BURST = 1024, PIECE_BYTES = 16 * 1024 };

/// The bytes of one or several transfers under a rate.
typedef struct byte_counter {
    manual_clock *time;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t bytes;
    uint64_t most_ahead; // bytes above the rate's allowance before a piece
    size_t largest_piece;
    unsigned done_count;
    nc_status status; // the first that is not NC_OK
} byte_counter;

#define BYTE_COUNTER_INIT(clock)                                                                                       \
    { .time = (clock), .mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER }

static uint64_t allowed(manual_clock *time) {
    return BURST + (manual_clock_passed_ms(time) + 1) * RATE / 1000;
}

static void count_bytes(byte_counter *one, size_t bytes) {
    pthread_mutex_lock(&one->mutex);
    uint64_t limit = allowed(one->time);
    uint64_t ahead = one->bytes > limit ? one->bytes - limit : 0;
    one->most_ahead = ahead > one->most_ahead ? ahead : one->most_ahead;
    one->bytes += bytes;
    one->largest_piece = bytes > one->largest_piece ? bytes : one->largest_piece;
    pthread_cond_broadcast(&one->moved);
    pthread_mutex_unlock(&one->mutex);
}

static nc_action count_piece(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    count_bytes(ctx, bytes.length);
    return NC_ACTION_CONTINUE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    byte_counter *one = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&one->mutex);
    one->done_count++;
    one->status = one->status == NC_OK ? error->status : one->status;
    pthread_cond_broadcast(&one->moved);
    pthread_mutex_unlock(&one->mutex);
}

/// Waits until that many bytes have moved, or that many transfers have ended.
static void await(byte_counter *one, uint64_t bytes, unsigned done_count) {
    struct timespec until;
    int code = 0;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += FIXTURE_LIMIT_MS / 1000;
    pthread_mutex_lock(&one->mutex);
    while (one->bytes < bytes && one->done_count < done_count && code == 0) {
        code = pthread_cond_timedwait(&one->moved, &one->mutex, &until);
    }
    pthread_mutex_unlock(&one->mutex);
    assert_int_equal(code, 0);
}

static bool is_over(byte_counter *one, unsigned transfers) {
    pthread_mutex_lock(&one->mutex);
    bool is_over = one->done_count == transfers;
    pthread_mutex_unlock(&one->mutex);
    return is_over;
}

/// Advances the clock in tenths of a second until all bytes have moved.
static void drive(byte_counter *one, nc_engine *engine, unsigned transfers) {
    while (!is_over(one, transfers)) {
        manual_clock_advance(one->time, engine, 100);
    }
}

static void start(fixture *f, manual_clock *time, nc_engine_options options) {
    manual_clock_start_fixture(f, time, options);
    fixture_script(f, "/down", (nct_reply){.pattern_length = BODY_BYTES});
    fixture_script(f, "/up", (nct_reply){.status = 204});
}

static const nc_limits patient = {.idle_ms = NC_UNLIMITED, .total_ms = NC_UNLIMITED, .first_byte_ms = NC_UNLIMITED};

static void engine__a_received_body_stays_within_its_rate(void **state) {
    manual_clock time = manual_clock_make();
    byte_counter one = BYTE_COUNTER_INIT(&time);
    const nc_sink sink = {.ctx = &one, .on_body = count_piece, .on_done = record_end};
    nc_transfer_id id;
    fixture f;
    (void)state;
    start(&f, &time, (nc_engine_options){0});
    nc_request request = fixture_request(&f, "/down");
    request.limits = patient;
    request.limits.max_receive_bytes_per_s = RATE;
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    drive(&one, f.engine, 1);
    assert_status(one.status, NC_OK);
    assert_int_equal(one.bytes, BODY_BYTES);
    assert_int_equal(one.most_ahead, 0);
    assert_true(one.largest_piece <= PIECE_BYTES); // small pieces keep pauses short
    fixture_stop(&f);
}

/// A body source that always fills the buffer.
static nc_pull fill_buffer(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    byte_counter *one = ctx;
    (void)id;
    pthread_mutex_lock(&one->mutex);
    size_t left = BODY_BYTES - (size_t)one->bytes;
    pthread_mutex_unlock(&one->mutex);
    *filled = capacity < left ? capacity : left;
    memset(bytes, 'u', *filled);
    count_bytes(one, *filled);
    pthread_mutex_lock(&one->mutex);
    uint64_t limit = allowed(one->time);
    uint64_t ahead = one->bytes > limit ? one->bytes - limit : 0; // includes this piece
    one->most_ahead = ahead > one->most_ahead ? ahead : one->most_ahead;
    pthread_mutex_unlock(&one->mutex);
    return left == *filled ? NC_PULL_END : NC_PULL_MORE;
}

static void engine__a_sent_body_stays_within_its_rate_and_the_engines(void **state) {
    (void)state;
    for (int is_engines = 0; is_engines < 2; is_engines++) {
        manual_clock time = manual_clock_make();
        byte_counter one = BYTE_COUNTER_INIT(&time);
        const nc_sink sink = {.ctx = &one, .on_done = record_end};
        nc_transfer_id id;
        fixture f;
        start(&f, &time, (nc_engine_options){.max_send_bytes_per_s = is_engines ? RATE : 0});
        nc_request request = fixture_request(&f, "/up");
        request.method = nc_slice_of("POST");
        request.body_source = (nc_body_source){.ctx = &one, .pull = fill_buffer};
        request.body_length = BODY_BYTES;
        request.limits = patient;
        request.limits.max_send_bytes_per_s = is_engines ? 0 : RATE;
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
        drive(&one, f.engine, 1);
        assert_status(one.status, NC_OK);
        assert_int_equal(one.bytes, BODY_BYTES);
        assert_int_equal(one.most_ahead, 0);
        assert_int_equal(nct_server_received_bytes(f.server), BODY_BYTES);
        fixture_stop(&f);
    }
}

/// Sends that many concurrent requests with bodies of that size, twice, to an engine with a rate.
static void expect_the_engines_rate(unsigned transfers, size_t body_bytes) {
    manual_clock time = manual_clock_make();
    byte_counter one = BYTE_COUNTER_INIT(&time);
    const nc_sink sink = {.ctx = &one, .on_body = count_piece, .on_done = record_end};
    fixture f;
    start(&f, &time, (nc_engine_options){.max_receive_bytes_per_s = RATE});
    fixture_script(&f, "/some", (nct_reply){.pattern_length = body_bytes});
    for (unsigned i = 1; i <= 2 * transfers; i++) {
        nc_transfer_id id;
        nc_request request = fixture_request(&f, "/some");
        request.limits = patient;
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
        if (i % transfers == 0) {
            drive(&one, f.engine, i);
        }
    }
    assert_status(one.status, NC_OK);
    assert_int_equal(one.bytes, (uint64_t)2 * transfers * body_bytes);
    assert_int_equal(one.most_ahead, 0);
    fixture_stop(&f);
}

static void engine__all_transfers_together_stay_within_the_engines_rate(void **state) {
    (void)state;
    expect_the_engines_rate(4, BODY_BYTES / 2);
}

static void engine__bodies_in_one_piece_stay_within_the_engines_rate(void **state) {
    (void)state;
    expect_the_engines_rate(10, 3000);
    expect_the_engines_rate(1, 12000);
}

static void engine__a_rate_limit_pause_does_not_count_as_idle(void **state) {
    enum { ALL_BYTES = 4 * PIECE_BYTES, SLOW_RATE = 1000, STEP_S = 8, SPARE_S = 3 };
    manual_clock time = manual_clock_make();
    byte_counter one = BYTE_COUNTER_INIT(&time);
    const nc_sink sink = {.ctx = &one, .on_body = count_piece, .on_done = record_end};
    nc_transfer_id id;
    fixture f;
    (void)state;
    start(&f, &time, (nc_engine_options){0});
    fixture_script(&f, "/slow", (nct_reply){.pattern_length = ALL_BYTES});
    nc_request request = fixture_request(&f, "/slow");
    request.limits = patient;
    request.limits.idle_ms = 5000;
    request.limits.max_receive_bytes_per_s = SLOW_RATE; // a piece takes sixteen seconds, the limit is five
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    for (uint64_t i = 0; i < 12 && !is_over(&one, 1); i++) {
        // Waits until the transfer is so far above its rate that it pauses, for any piece size and machine speed.
        uint64_t ahead = BURST + (manual_clock_passed_ms(&time) / 1000 + SPARE_S) * SLOW_RATE;
        await(&one, ahead < ALL_BYTES ? ahead : ALL_BYTES, 1);
        manual_clock_advance(&time, f.engine, 0); // returns when the loop has left the callback
        manual_clock_advance(&time, f.engine, STEP_S * 1000);
    }
    manual_clock_advance(&time, f.engine, 60000);
    await(&one, UINT64_MAX, 1);
    assert_status(one.status, NC_OK);
    assert_int_equal(one.bytes, ALL_BYTES);
    fixture_stop(&f);
}

static nc_action pause_at_first_piece(void *ctx, nc_transfer_id id, nc_slice bytes) {
    byte_counter *one = ctx;
    (void)id;
    bool is_first = one->bytes == 0;
    count_bytes(one, bytes.length);
    return is_first ? NC_ACTION_PAUSE : NC_ACTION_CONTINUE;
}

static void engine__the_idle_timeout_applies_again_after_a_long_pause(void **state) {
    manual_clock time = manual_clock_make();
    byte_counter one = BYTE_COUNTER_INIT(&time);
    const nc_sink sink = {.ctx = &one, .on_body = pause_at_first_piece, .on_done = record_end};
    nc_transfer_id id;
    fixture f;
    (void)state;
    start(&f, &time, (nc_engine_options){0});
    fixture_script(&f, "/stall",
                   (nct_reply){.pattern_length = 100, .is_cut = true, .cut_after = 90, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/stall");
    request.limits = patient;
    request.limits.idle_ms = 5000;
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    await(&one, 1, 1);
    for (int i = 0; i < 10; i++) { // much longer than the limit, which does not count meanwhile
        manual_clock_advance(&time, f.engine, 5000);
        nc_transfer_info info;
        assert_int_equal(nc_engine_list(f.engine, &info, 1), 1);
    }
    // When another transfer has completed, the loop has read the new time.
    assert_int_equal(nc_response_status(fixture_get(&f, "/up").response), 204);
    assert_false(is_over(&one, 1));
    nc_engine_resume(f.engine, id);
    assert_int_equal(nc_response_status(fixture_get(&f, "/up").response), 204);
    manual_clock_advance(&time, f.engine, 6000);
    await(&one, UINT64_MAX, 1);
    assert_status(one.status, NC_ERR_IDLE_TIMED_OUT);
    fixture_stop(&f);
}

/* --- progress --- */

typedef struct progress_log {
    gate done;
    unsigned count;
    bool is_monotonic;
    nc_progress last;
} progress_log;

static void record_progress(void *ctx, nc_transfer_id id, const nc_progress *progress) {
    progress_log *progress_seen = ctx;
    (void)id;
    progress_seen->is_monotonic = progress_seen->is_monotonic &&
                                  progress->sent_bytes >= progress_seen->last.sent_bytes &&
                                  progress->received_bytes >= progress_seen->last.received_bytes;
    progress_seen->count++;
    progress_seen->last = *progress;
}

static void end_progress(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)id;
    (void)response;
    (void)error;
    gate_open(&((progress_log *)ctx)->done);
}

static void engine__progress_is_reported_once_an_interval_and_at_the_end(void **state) {
    static uint8_t body[3000000];
    (void)state;
    for (int sends = 0; sends < 2; sends++) {
        manual_clock time = manual_clock_make();
        progress_log progress_seen = {.done = GATE_INIT, .is_monotonic = true};
        const nc_sink sink = {.ctx = &progress_seen, .on_done = end_progress, .on_progress = record_progress};
        nc_transfer_id id;
        fixture f;
        start(&f, &time, (nc_engine_options){0});
        fixture_script(&f, "/down", (nct_reply){.pattern_length = sizeof body});
        nc_request request = fixture_request(&f, sends ? "/up" : "/down");
        request.method = nc_slice_of(sends ? "POST" : "GET");
        request.body = nc_slice_make(body, sends ? sizeof body : 0);
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
        gate_wait(&progress_seen.done);
        assert_true(progress_seen.count >= 2); // one for the first bytes, one at the end
        assert_true(progress_seen.count <= 2 + manual_clock_passed_ms(&time) / 100);
        assert_true(progress_seen.is_monotonic);
        assert_int_equal(progress_seen.last.sent_bytes, sends ? sizeof body : 0);
        assert_int_equal(progress_seen.last.send_total_bytes, sends ? sizeof body : 0);
        assert_int_equal(progress_seen.last.received_bytes, sends ? 0 : sizeof body);
        if (!sends) {
            assert_int_equal(progress_seen.last.receive_total_bytes, sizeof body);
        }
        fixture_stop(&f);
    }
}

static void engine__progress_resets_for_a_hop_without_a_body_regression_1(void **state) {
    manual_clock time = manual_clock_make();
    progress_log progress_seen = {.done = GATE_INIT};
    const nc_sink sink = {.ctx = &progress_seen, .on_done = end_progress, .on_progress = record_progress};
    nc_transfer_id id;
    fixture f;
    (void)state;
    start(&f, &time, (nc_engine_options){0});
    fixture_script(&f, "/moved", (nct_reply){.status = 303, .location = "/down"});
    fixture_script(&f, "/down", (nct_reply){.pattern_length = 10});
    nc_request request = fixture_request(&f, "/moved");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("a body of 21 bytes ..");
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    gate_wait(&progress_seen.done);
    assert_int_equal(progress_seen.last.received_bytes, 10);
    assert_int_equal(progress_seen.last.sent_bytes, 0);
    fixture_stop(&f);
}

static void engine__progress_expects_no_bytes_of_head_and_304_responses_regression_2(void **state) {
    static const struct {
        const char *method;
        const char *path;
    } rows[] = {{"HEAD", "/down"}, {"GET", "/same"}};
    manual_clock time = manual_clock_make();
    fixture f;
    (void)state;
    start(&f, &time, (nc_engine_options){0});
    fixture_script(&f, "/down", (nct_reply){.pattern_length = 10});
    fixture_script(&f, "/same", (nct_reply){.status = 304, .headers = "Content-Length: 10\r\n"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        progress_log progress_seen = {.done = GATE_INIT};
        const nc_sink sink = {.ctx = &progress_seen, .on_done = end_progress, .on_progress = record_progress};
        nc_transfer_id id;
        nc_request request = fixture_request(&f, rows[i].path);
        request.method = nc_slice_of(rows[i].method);
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
        gate_wait(&progress_seen.done);
        assert_int_equal(progress_seen.last.received_bytes, 0);
        assert_int_equal(progress_seen.last.receive_total_bytes, 0);
    }
    fixture_stop(&f);
}

/* --- a form in packets --- */

enum { PACKET_BYTES = 100, PARTS_BYTES = 950, DELAY_MS = 60000, STEP_MS = 5000 };

typedef struct packets {
    manual_clock *time;
    size_t given;
    size_t largest;
    uint64_t last_ns;
    uint64_t shortest_ns;
    size_t last_index;
    bool has_gone_back;
    nc_progress last;
    gate done;
    nc_status status;
} packets;

static nc_pull pull_packet(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    packets *one = ctx;
    (void)id;
    uint64_t now_ns = manual_clock_ns(one->time);
    size_t left = PARTS_BYTES - one->given;
    *filled = left < capacity ? left : capacity;
    memset(bytes, 'x', *filled);
    if (one->last_ns != 0 && now_ns - one->last_ns < one->shortest_ns) {
        one->shortest_ns = now_ns - one->last_ns;
    }
    one->last_ns = now_ns;
    one->largest = *filled > one->largest ? *filled : one->largest;
    one->given += *filled;
    return one->given == PARTS_BYTES ? NC_PULL_END : NC_PULL_MORE;
}

static void record_part_progress(void *ctx, nc_transfer_id id, const nc_progress *progress) {
    packets *one = ctx;
    (void)id;
    one->has_gone_back = one->has_gone_back || progress->part.index < one->last_index;
    one->last_index = progress->part.index;
    one->last = *progress;
}

static void end_form(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    packets *one = ctx;
    (void)id;
    (void)response;
    one->status = error->status;
    gate_open(&one->done);
}

static bool is_form_done(packets *one) {
    pthread_mutex_lock(&one->done.mutex);
    bool is_over = one->done.count > 0;
    pthread_mutex_unlock(&one->done.mutex);
    return is_over;
}

static void engine__a_throttled_form_is_sent_in_packets_with_pauses(void **state) {
    manual_clock time = manual_clock_make();
    packets one = {.time = &time, .shortest_ns = UINT64_MAX, .done = GATE_INIT};
    const nc_sink sink = {.ctx = &one, .on_done = end_form, .on_progress = record_part_progress};
    const nc_multipart_options options = {.packet_bytes = PACKET_BYTES, .delay_ms = DELAY_MS};
    const nc_part part = {.name = nc_slice_of("f"), .source = {&one, pull_packet, NULL}, .source_length = PARTS_BYTES};
    nc_transfer_id id;
    fixture f;
    (void)state;
    manual_clock_start_fixture(&f, &time, (nc_engine_options){0});
    fixture_script(&f, "/up", (nct_reply){.status = 204});
    nc_multipart *form = NULL;
    assert_status(nc_multipart_new(&form, &options, NULL), NC_OK);
    assert_status(nc_multipart_add_field(form, nc_slice_of("f"), nc_slice_of("one"), NULL), NC_OK);
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
    nc_request request = fixture_request(&f, "/up");
    request.method = nc_slice_of("POST");
    request.multipart = form;
    request.limits = (nc_limits){.idle_ms = DELAY_MS / 2, // a pause is not idle time
                                 .slot_ms = NC_UNLIMITED,
                                 .connect_ms = NC_UNLIMITED,
                                 .first_byte_ms = NC_UNLIMITED,
                                 .total_ms = NC_UNLIMITED};
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    while (!is_form_done(&one)) {
        manual_clock_advance(&time, f.engine, STEP_MS);
    }
    assert_status(one.status, NC_OK);
    assert_int_equal(one.given, PARTS_BYTES);
    assert_true(one.largest <= PACKET_BYTES);
    assert_true(one.shortest_ns >= (uint64_t)DELAY_MS * 1000000u);
    assert_true(manual_clock_passed_ms(&time) >= PARTS_BYTES / PACKET_BYTES * DELAY_MS);
    assert_false(one.has_gone_back);
    assert_int_equal(one.last.part.count, 2);
    assert_int_equal(one.last.part.index, 1);
    assert_int_equal(one.last.part.sent_bytes, PARTS_BYTES);
    assert_int_equal(one.last.part.total_bytes, PARTS_BYTES);
    assert_int_equal(one.last.sent_bytes, one.last.send_total_bytes);
    nc_multipart_release(form);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_received_body_stays_within_its_rate),
        harness_case(engine__a_sent_body_stays_within_its_rate_and_the_engines),
        harness_case(engine__all_transfers_together_stay_within_the_engines_rate),
        harness_case(engine__bodies_in_one_piece_stay_within_the_engines_rate),
        harness_case(engine__a_rate_limit_pause_does_not_count_as_idle),
        harness_case(engine__the_idle_timeout_applies_again_after_a_long_pause),
        harness_case(engine__a_throttled_form_is_sent_in_packets_with_pauses),
        harness_case(engine__progress_is_reported_once_an_interval_and_at_the_end),
        harness_case(engine__progress_resets_for_a_hop_without_a_body_regression_1),
        harness_case(engine__progress_expects_no_bytes_of_head_and_304_responses_regression_2),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
