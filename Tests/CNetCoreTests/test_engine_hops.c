/// A redirected transfer between two hops, while it waits for a slot of the next host.
#include "driven.h"
#include "fixture.h"
#include "gate.h"

#include <netcore/transfers.h>

/// Two servers, each with one slot. The first redirects to the second, whose slot is in use.
typedef struct redirected_transfer {
    fixture f;
    manual_clock time;
    nct_server *other;
    nc_transfer_id holder;
    gate saw_head;
    gate saw_end;
    nc_error error;
    uint16_t status;
    size_t hops;
} redirected_transfer;

static void led_start(redirected_transfer *it, nct_reply redirect) {
    *it = (redirected_transfer){.time = manual_clock_make(), .saw_head = GATE_INIT, .saw_end = GATE_INIT};
    const nct_reply held = {.is_cut = true, .ending = NCT_STALL};
    const nct_reply end = {.body = "end", .body_length = 3};
    manual_clock_start_fixture(&it->f, &it->time, (nc_engine_options){.max_per_host = 1});
    assert_int_equal(nct_server_start(&it->other, NULL), 0);
    assert_int_equal(nct_server_script(it->other, "/held", &held), 0);
    assert_int_equal(nct_server_script(it->other, "/end", &end), 0);
    redirect.location = fixture_url_of(&it->f, it->other, "127.0.0.1", "/end");
    fixture_script(&it->f, "/leads", redirect);
    const nc_request request = {.url = nc_slice_of(fixture_url_of(&it->f, it->other, "127.0.0.1", "/held")),
                                .limits = {.first_byte_ms = NC_UNLIMITED}};
    it->holder = fixture_submit(&it->f, &request);
    assert_true(nct_server_wait_for_stalled(it->other, 1, FIXTURE_LIMIT_MS));
}

static void led_stop(redirected_transfer *it) {
    nct_server *other = it->other;
    fixture_stop(&it->f);
    nct_server_stop(other);
}

static nc_action pause_at_redirect(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    redirected_transfer *it = ctx;
    (void)id;
    (void)response;
    gate_open(&it->saw_head);
    return is_last ? NC_ACTION_CONTINUE : NC_ACTION_PAUSE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    redirected_transfer *it = ctx;
    (void)id;
    it->error = *error;
    it->status = nc_response_status(response);
    it->hops = nc_response_hop_count(response);
    gate_open(&it->saw_end);
}

/// Sends another request to the first server. Its response shows that the first server's slot is free while the
/// transfer waits for the second server's, and that the loop has handled all earlier commands and timers.
static void send_to_first_server(redirected_transfer *it) {
    const nc_request request = {.url = nc_slice_of(fixture_url(&it->f, "/other")),
                                .limits = {.slot_ms = NC_UNLIMITED, .first_byte_ms = NC_UNLIMITED}};
    assert_ended(fixture_send(&it->f, &request), NC_OK, 0, "");
}

/// Only the holder has used the other server. Its slot is released, and the second hop proceeds.
static void assert_redirected_once(redirected_transfer *it, size_t others) {
    assert_int_equal(nct_server_request_count(it->f.server), 1 + others);
    assert_int_equal(nct_server_request_count(it->other), 1);
    nct_server_release_stalled(it->other);
    assert_ended(fixture_wait(&it->f, it->holder), NC_OK, 0, "");
    gate_wait(&it->saw_end);
    assert_status(it->error.status, NC_OK);
    assert_int_equal(it->status, 200);
    assert_int_equal(it->hops, 2);
    assert_int_equal(nct_server_request_count(it->f.server), 1 + others);
    assert_int_equal(nct_server_request_count(it->other), 2);
}

static void engine__a_resume_between_two_hops_repeats_no_request_regression_1(void **state) {
    redirected_transfer it;
    nc_transfer_id id;
    (void)state;
    led_start(&it, (nct_reply){.status = 302});
    const nc_sink sink = {.ctx = &it, .on_head = pause_at_redirect, .on_done = record_end};
    const nc_request request = fixture_request(&it.f, "/leads");
    assert_status(nc_engine_submit(it.f.engine, &request, &sink, &id, NULL), NC_OK);
    gate_wait(&it.saw_head);
    send_to_first_server(&it);
    nc_engine_resume(it.f.engine, id);
    send_to_first_server(&it);
    nc_engine_pause(it.f.engine, id);
    nc_engine_resume(it.f.engine, id);
    send_to_first_server(&it);
    assert_redirected_once(&it, 3);
    led_stop(&it);
}

static void engine__a_rate_limit_pause_between_two_hops_repeats_no_request_regression_2(void **state) {
    redirected_transfer it;
    nc_transfer_id id;
    (void)state;
    led_start(&it, (nct_reply){.status = 302, .pattern_length = 3000});
    const nc_sink sink = {.ctx = &it, .on_done = record_end};
    nc_request request = fixture_request(&it.f, "/leads");
    request.limits = (nc_limits){.max_receive_bytes_per_s = 1000, .slot_ms = NC_UNLIMITED};
    assert_status(nc_engine_submit(it.f.engine, &request, &sink, &id, NULL), NC_OK);
    send_to_first_server(&it);
    for (int i = 0; i < 50; i++) {
        manual_clock_advance(&it.time, it.f.engine, 100);
    }
    send_to_first_server(&it);
    assert_redirected_once(&it, 2);
    led_stop(&it);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_resume_between_two_hops_repeats_no_request_regression_1),
        harness_case(engine__a_rate_limit_pause_between_two_hops_repeats_no_request_regression_2),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
