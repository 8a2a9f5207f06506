/// Priorities, waiting times, the list of transfers, and that waiting requests send nothing.
#include "driven.h"
#include "fixture.h"

#include <netcore/transfers.h>
#include <string.h>

static void wait_for_loop(fixture *f) {
    // When the cancelled transfer has ended, the loop has handled all earlier commands.
    nc_request request = fixture_request(f, "/none");
    nc_transfer_id id = fixture_submit(f, &request);
    nc_engine_cancel(f->engine, id);
    (void)fixture_wait(f, id);
}

static nc_transfer_id submit(fixture *f, const char *host, const char *path, nc_priority priority) {
    nc_request request = {.url = nc_slice_of(fixture_url_at(f, host, path)), .priority = priority};
    return fixture_submit(f, &request);
}

static void assert_order(fixture *f, size_t first, const char *const *paths, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *line = fixture_text(f, "GET %s ", paths[i]);
        if (strncmp(fixture_received(f, first + i), line, strlen(line)) != 0) {
            fail_msg("request %zu is '%.12s', not %s", first + i, fixture_received(f, first + i), paths[i]);
        }
    }
}

static void engine__priority_orders_hosts_and_submission_order_decides_within_one(void **state) {
    static const char *const expected[] = {"/h1", "/h2", "/n1", "/n2", "/n3", "/l1", "/l2"};
    nc_transfer_id ids[7];
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_in_flight = 1});
    nc_engine_set_suspended(f.engine, true);
    ids[0] = submit(&f, "127.0.0.1", "/l1", NC_PRIORITY_LOW);
    ids[1] = submit(&f, "localhost", "/n1", NC_PRIORITY_NORMAL);
    ids[2] = submit(&f, "127.0.0.1", "/n2", NC_PRIORITY_NORMAL);
    ids[3] = submit(&f, "localhost", "/l2", NC_PRIORITY_LOW);
    ids[4] = submit(&f, "localhost", "/h1", NC_PRIORITY_HIGH);
    ids[5] = submit(&f, "127.0.0.1", "/h2", NC_PRIORITY_HIGH);
    ids[6] = submit(&f, "localhost", "/n3", NC_PRIORITY_NORMAL);
    wait_for_loop(&f);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    nc_engine_set_suspended(f.engine, false);
    for (size_t i = 0; i < 7; i++) {
        assert_status(fixture_wait(&f, ids[i]).error.status, NC_OK);
    }
    assert_order(&f, 0, expected, 7);
    fixture_stop(&f);
}

static void engine__the_next_hop_of_a_running_transfer_follows_its_new_priority(void **state) {
    static const char *const expected[] = {"/wait", "/high", "/normal", "/hop"};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_in_flight = 1});
    fixture_script(&f, "/wait", (nct_reply){.location = "/hop", .is_cut = true, .ending = NCT_STALL});
    nc_transfer_id running = submit(&f, "127.0.0.1", "/wait", NC_PRIORITY_HIGH);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nc_transfer_id normal = submit(&f, "127.0.0.1", "/normal", NC_PRIORITY_NORMAL);
    nc_transfer_id high = submit(&f, "127.0.0.1", "/high", NC_PRIORITY_LOW);
    nc_engine_set_priority(f.engine, running, NC_PRIORITY_LOW);
    nc_engine_set_priority(f.engine, high, NC_PRIORITY_HIGH);
    nc_engine_set_priority(f.engine, high, (nc_priority)7);     // an invalid priority has no effect
    nc_engine_set_priority(f.engine, 123456, NC_PRIORITY_HIGH); // nor does an unknown id
    wait_for_loop(&f);
    nct_server_release_stalled(f.server);
    assert_status(fixture_wait(&f, running).error.status, NC_OK);
    assert_status(fixture_wait(&f, normal).error.status, NC_OK);
    assert_status(fixture_wait(&f, high).error.status, NC_OK);
    assert_order(&f, 0, expected, 4);
    fixture_stop(&f);
}

static void engine__timeouts_of_queued_transfers_run_while_the_queue_is_suspended(void **state) {
    manual_clock time = manual_clock_make();
    fixture f;
    (void)state;
    manual_clock_start_fixture(&f, &time, (nc_engine_options){0});
    nc_engine_set_suspended(f.engine, true);
    nc_request request = fixture_request(&f, "/");
    request.limits.slot_ms = 5000;
    nc_transfer_id brief = fixture_submit(&f, &request);
    request.limits.slot_ms = NC_UNLIMITED;
    request.limits.total_ms = 7000;
    nc_transfer_id longer = fixture_submit(&f, &request);
    wait_for_loop(&f);
    manual_clock_advance(&time, f.engine, 6000);
    assert_status(fixture_wait(&f, brief).error.status, NC_ERR_SLOT_TIMED_OUT);
    assert_int_equal(nc_engine_list(f.engine, NULL, 0), 1);
    manual_clock_advance(&time, f.engine, 2000);
    assert_status(fixture_wait(&f, longer).error.status, NC_ERR_TOTAL_TIMED_OUT);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

static void engine__running_transfers_continue_while_the_queue_is_suspended(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/s", (nct_reply){.pattern_length = 26, .is_cut = true, .cut_after = 60, .ending = NCT_STALL});
    nc_transfer_id running = submit(&f, "127.0.0.1", "/s", NC_PRIORITY_NORMAL);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nc_engine_set_suspended(f.engine, true);
    nc_transfer_id waiting = submit(&f, "127.0.0.1", "/w", NC_PRIORITY_HIGH);
    wait_for_loop(&f);
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, running), 200, "abcdefghijklmnopqrstuvwxyz");
    assert_int_equal(nct_server_request_count(f.server), 1);
    nc_engine_set_suspended(f.engine, false);
    assert_int_equal(nc_response_status(fixture_wait(&f, waiting).response), 404);
    fixture_stop(&f);
}

/// Suspends the queue while one request runs and another one waits for the host's only slot. Checks that the running
/// one completes.
static void assert_continues_while_suspended(fixture *f, const nc_request *request, const char *body) {
    nc_transfer_id running = fixture_submit(f, request);
    assert_true(nct_server_wait_for_stalled(f->server, 1, FIXTURE_LIMIT_MS));
    nc_engine_set_suspended(f->engine, true);
    nc_transfer_id waiting = submit(f, "127.0.0.1", "/w", NC_PRIORITY_HIGH);
    wait_for_loop(f);
    nct_server_release_stalled(f->server);
    assert_response(fixture_wait(f, running), 200, body);
    for (size_t i = 0; i < nct_server_request_count(f->server); i++) {
        assert_null(strstr(fixture_received(f, i), " /w "));
    }
    nc_engine_set_suspended(f->engine, false);
    assert_int_equal(nc_response_status(fixture_wait(f, waiting).response), 404);
}

static void engine__a_suspended_queue_lets_running_transfers_follow_redirects_regression_1(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_per_host = 1});
    fixture_script(&f, "/far", (nct_reply){.location = "/next", .is_cut = true, .ending = NCT_STALL});
    fixture_script(&f, "/next", (nct_reply){.location = fixture_url_at(&f, "localhost", "/end")});
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    const nc_request request = fixture_request(&f, "/far");
    assert_continues_while_suspended(&f, &request, "end");
    fixture_stop(&f);
}

static void engine__running_transfers_are_retried_while_the_queue_is_suspended_regression_2(void **state) {
    const nc_header expects = {nc_slice_of("Expect"), nc_slice_of("100-continue")};
    static const nct_reply replies[] = {{.status = 417, .is_cut = true, .ending = NCT_STALL},
                                        {.body = "taken", .body_length = 5}};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_per_host = 1});
    assert_int_equal(nct_server_script_sequence(f.server, "/post", replies, 2), 0);
    nc_request request = fixture_request(&f, "/post");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("the body");
    request.headers = &expects;
    request.header_count = 1;
    assert_continues_while_suspended(&f, &request, "taken");
    assert_int_equal(nct_server_request_count(f.server), 3);
    fixture_stop(&f);
}

static void engine__a_cancelled_queued_transfer_sends_nothing(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_per_host = 1});
    fixture_script(&f, "/s", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    nc_transfer_id running = submit(&f, "127.0.0.1", "/s", NC_PRIORITY_NORMAL);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nc_transfer_id waiting = submit(&f, "127.0.0.1", "/never", NC_PRIORITY_HIGH);
    nc_transfer_id next = submit(&f, "127.0.0.1", "/next", NC_PRIORITY_LOW);
    nc_engine_cancel(f.engine, waiting);
    answer one = fixture_wait(&f, waiting);
    assert_status(one.error.status, NC_ERR_CANCELLED);
    assert_int_equal(nc_response_hop_count(one.response), 0);
    nct_server_release_stalled(f.server);
    assert_status(fixture_wait(&f, running).error.status, NC_OK);
    assert_status(fixture_wait(&f, next).error.status, NC_OK);
    assert_order(&f, 0, (const char *const[]){"/s", "/next"}, 2);
    assert_int_equal(nct_server_request_count(f.server), 2);
    fixture_stop(&f);
}

/* --- lists --- */

static nc_transfer_info info_of(fixture *f, nc_transfer_id id) {
    nc_transfer_info all[16];
    size_t count = nc_engine_list(f->engine, all, 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        if (all[i].id == id) {
            return all[i];
        }
    }
    fail_msg("transfer %llu is not listed", (unsigned long long)id);
    return (nc_transfer_info){0};
}

static void engine__a_list_reports_the_state_of_each_transfer(void **state) {
    manual_clock time = manual_clock_make();
    fixture f;
    (void)state;
    manual_clock_start_fixture(&f, &time, (nc_engine_options){.max_per_host = 2});
    fixture_script(&f, "/silent", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    fixture_script(&f, "/half",
                   (nct_reply){.pattern_length = 1000, .is_cut = true, .cut_after = 500, .ending = NCT_STALL});
    nc_transfer_id silent = submit(&f, "127.0.0.1", "/silent", NC_PRIORITY_HIGH);
    nc_transfer_id half = submit(&f, "127.0.0.1", "/half", NC_PRIORITY_NORMAL);
    assert_true(nct_server_wait_for_stalled(f.server, 2, FIXTURE_LIMIT_MS));
    nc_transfer_id waiting = submit(&f, "127.0.0.1", "/later", NC_PRIORITY_LOW);
    nc_engine_pause(f.engine, half);
    manual_clock_advance(&time, f.engine, 3000);
    while (info_of(&f, half).received_bytes == 0 && !info_of(&f, half).is_paused) {
        manual_clock_advance(&time, f.engine, 1); // until the loop has read the bytes that the server has sent
    }
    nc_transfer_info one = info_of(&f, silent);
    assert_int_equal(one.state, NC_TRANSFER_AWAITING_REPLY);
    assert_int_equal(one.priority, NC_PRIORITY_HIGH);
    assert_true(one.age_ns >= 3000000000u);
    assert_false(one.is_paused);
    assert_true(info_of(&f, half).is_paused);
    assert_int_equal(info_of(&f, waiting).state, NC_TRANSFER_WAITING);
    assert_int_equal(info_of(&f, waiting).priority, NC_PRIORITY_LOW);
    nc_buf text = nc_buf_init(1000);
    assert_status(nc_engine_describe(f.engine, waiting, &text), NC_OK);
    assert_slice_equals(nc_buf_slice(&text), fixture_url(&f, "/later"));
    nc_engine_resume(f.engine, half);
    nct_server_release_stalled(f.server);
    assert_int_equal(nc_response_body(fixture_wait(&f, half).response).length, 1000);
    assert_status(fixture_wait(&f, silent).error.status, NC_OK);
    assert_status(fixture_wait(&f, waiting).error.status, NC_OK);
    assert_int_equal(nc_engine_list(f.engine, NULL, 0), 0);
    assert_status(nc_engine_describe(f.engine, waiting, &text), NC_ERR_USAGE);
    nc_buf_deinit(&text);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__priority_orders_hosts_and_submission_order_decides_within_one),
        harness_case(engine__the_next_hop_of_a_running_transfer_follows_its_new_priority),
        harness_case(engine__timeouts_of_queued_transfers_run_while_the_queue_is_suspended),
        harness_case(engine__running_transfers_continue_while_the_queue_is_suspended),
        harness_case(engine__a_suspended_queue_lets_running_transfers_follow_redirects_regression_1),
        harness_case(engine__running_transfers_are_retried_while_the_queue_is_suspended_regression_2),
        harness_case(engine__a_cancelled_queued_transfer_sends_nothing),
        harness_case(engine__a_list_reports_the_state_of_each_transfer),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
