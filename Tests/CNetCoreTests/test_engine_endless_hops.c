/// Redirects and challenges whose bodies stall, drip or have no end. Only their heads matter.
#include "driven.h"
#include "fixture.h"
#include "gate.h"

#include <string.h>

/// A server, an engine with the test's clock, and one transfer.
typedef struct redirected_transfer {
    fixture f;
    manual_clock time;
    gate saw_head;
    gate saw_end;
    nc_error error;
    uint16_t status;
    size_t hops;
    uint64_t first_bytes;
} redirected_transfer;

static nc_action open_at_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    redirected_transfer *it = ctx;
    (void)id;
    (void)response;
    (void)is_last;
    gate_open(&it->saw_head);
    return NC_ACTION_CONTINUE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    redirected_transfer *it = ctx;
    (void)id;
    it->error = *error;
    it->status = nc_response_status(response);
    it->hops = nc_response_hop_count(response);
    it->first_bytes = nc_response_hop_at(response, 0).received_bytes;
    gate_open(&it->saw_end);
}

static void transfer_start(redirected_transfer *it) {
    *it = (redirected_transfer){.time = manual_clock_make(), .saw_head = GATE_INIT, .saw_end = GATE_INIT};
    manual_clock_start_fixture(&it->f, &it->time, (nc_engine_options){0});
    fixture_script(&it->f, "/end", (nct_reply){.body = "end", .body_length = 3});
}

/// Other limits are off.
static void transfer_submit(redirected_transfer *it, nc_request *request) {
    const nc_sink sink = {.ctx = it, .on_head = open_at_head, .on_done = record_end};
    nc_transfer_id id;
    request->limits = (nc_limits){.idle_ms = NC_UNLIMITED, .first_byte_ms = NC_UNLIMITED, .total_ms = NC_UNLIMITED};
    assert_status(nc_engine_submit(it->f.engine, request, &sink, &id, NULL), NC_OK);
}

static void assert_redirected(redirected_transfer *it) {
    gate_wait(&it->saw_end);
    if (it->error.status != NC_OK) {
        fail_msg("ended with %s: %s", nc_status_name(it->error.status), it->error.message);
    }
    assert_int_equal(it->status, 200);
    assert_int_equal(it->hops, 2);
}

static void engine__a_redirect_with_an_endless_body_is_followed_regression_1(void **state) {
    const nct_reply replies[] = {
        {.location = "/end", .pattern_length = 100, .is_cut = true, .is_cut_in_body = true, .ending = NCT_STALL},
        {.location = "/end",
         .pattern_length = 100,
         .chunk_bytes = 10,
         .is_cut = true,
         .is_cut_in_body = true,
         .cut_after = 30,
         .ending = NCT_STALL},
        {.location = "/end", .pattern_length = 60000, .drip_bytes = 400, .drip_ms = 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        redirected_transfer it;
        transfer_start(&it);
        fixture_script(&it.f, "/leads", replies[i]);
        nc_request request = fixture_request(&it.f, "/leads");
        transfer_submit(&it, &request);
        gate_wait(&it.saw_head);
        manual_clock_advance(&it.time, it.f.engine, 1001);
        assert_redirected(&it);
        assert_true(it.first_bytes < 60000);
        fixture_stop(&it.f);
    }
}

/// A body that ends with its connection leaves no connection to reuse, so its end is not awaited.
static void engine__a_close_delimited_redirect_body_is_not_read_regression_2(void **state) {
    static const char text[] = "HTTP/1.1 302 Found\r\nLocation: /end\r\n\r\nto the end";
    redirected_transfer it;
    (void)state;
    transfer_start(&it);
    fixture_script(&it.f, "/leads",
                   (nct_reply){.body = text,
                               .body_length = sizeof text - 1,
                               .is_raw = true,
                               .is_cut = true,
                               .cut_after = sizeof text - 1,
                               .ending = NCT_STALL});
    nc_request request = fixture_request(&it.f, "/leads");
    transfer_submit(&it, &request);
    assert_redirected(&it);
    assert_int_equal(it.first_bytes, 0);
    fixture_stop(&it.f);
}

/// The server has responded before the end of the request's body, and may still need it.
static void engine__an_early_redirect_still_sends_the_whole_request_body(void **state) {
    enum { BODY_BYTES = 1 << 20 };
    static const char text[] = "HTTP/1.1 303 See Other\r\nLocation: /end\r\n\r\n";
    static const char body[BODY_BYTES];
    redirected_transfer it;
    (void)state;
    transfer_start(&it);
    fixture_script(&it.f, "/leads",
                   (nct_reply){.body = text,
                               .body_length = sizeof text - 1,
                               .is_raw = true,
                               .early = NCT_EARLY_DISCARD,
                               .ending = NCT_CLOSE});
    nc_request request = fixture_request(&it.f, "/leads");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_make(body, BODY_BYTES);
    transfer_submit(&it, &request);
    assert_redirected(&it);
    assert_int_equal(nct_server_received_bytes(it.f.server), BODY_BYTES);
    fixture_stop(&it.f);
}

static void open_at_challenge(void *ctx, nc_trace_point point, nc_transfer_id id) {
    (void)id;
    if (point == NC_TRACE_CHALLENGED) {
        gate_open(ctx);
    }
}

/// libcurl drops a challenge's body without a callback.
static void engine__a_challenge_whose_body_still_arrives_is_not_idle_regression_3(void **state) {
    const nct_reply replies[] = {{.status = 401,
                                  .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
                                  .body = "who are you?",
                                  .body_length = 12,
                                  .is_cut = true,
                                  .is_cut_in_body = true,
                                  .cut_after = 6,
                                  .ending = NCT_STALL},
                                 {.body = "in", .body_length = 2}};
    gate saw_challenge = GATE_INIT;
    manual_clock time = manual_clock_make();
    fixture f;
    (void)state;
    manual_clock_start_fixture(&f, &time, (nc_engine_options){.trace = {&saw_challenge, open_at_challenge}});
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
    nc_request request = fixture_request(&f, "/d");
    request.credentials = (nc_credentials){
        .schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("Circle of Life")};
    request.limits = (nc_limits){.idle_ms = 3000, .first_byte_ms = NC_UNLIMITED, .total_ms = NC_UNLIMITED};
    nc_transfer_id id = fixture_submit(&f, &request);
    gate_wait(&saw_challenge);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    (void)fixture_get(&f, "/none"); // the bytes before it were read
    manual_clock_advance(&time, f.engine, 3001);
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, id), 200, "in");
    nct_server_forget(f.server);
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 1), 0);
    id = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    (void)fixture_get(&f, "/none"); // the bytes before it were read
    manual_clock_advance(&time, f.engine, 3001);
    manual_clock_advance(&time, f.engine, 3001);
    assert_status(fixture_wait(&f, id).error.status, NC_ERR_IDLE_TIMED_OUT);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_redirect_with_an_endless_body_is_followed_regression_1),
        harness_case(engine__a_close_delimited_redirect_body_is_not_read_regression_2),
        harness_case(engine__an_early_redirect_still_sends_the_whole_request_body),
        harness_case(engine__a_challenge_whose_body_still_arrives_is_not_idle_regression_3),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
