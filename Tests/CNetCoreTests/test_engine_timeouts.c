/// Time limits: each has its own status, and none applies while bytes move.
#include "fixture.h"
#include "gate.h"
#include "listening.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netcore/transfers.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Short enough to wait for, long enough for a loaded machine to reach the limited phase.
#define SHORT_MS 150u

static void stall_at(fixture *f, const char *path, uint64_t cut_after) {
    fixture_script(
        f, path,
        (nct_reply){
            .body = "0123456789", .body_length = 10, .is_cut = true, .cut_after = cut_after, .ending = NCT_STALL});
}

static void expect_timeout(answer one, nc_status status) {
    assert_ended(one, status, CURLE_OPERATION_TIMEDOUT, "after 150 ms");
    assert_true(nc_status_is_retryable(status));
}

/* --- connect --- */

static void engine__connecting_ends_at_the_connect_timeout(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    full_listener full = full_listener_start(INADDR_LOOPBACK, 0);
    const char *url = fixture_text(&f, "http://127.0.0.1:%u/", full.port);
    nc_request request = {.url = nc_slice_of(url), .limits.connect_ms = SHORT_MS};
    answer one = fixture_send(&f, &request);
    expect_timeout(one, NC_ERR_CONNECT_TIMED_OUT);
    assert_int_equal(nc_response_status(one.response), 0);
    assert_int_equal(nc_response_hop_count(one.response), 1);
    full_listener_stop(&full);
    fixture_stop(&f);
}

static void engine__a_silent_tls_handshake_is_a_slow_connect(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    full_listener quiet = full_listener_start(INADDR_LOOPBACK, 0);
    int one_of_them = accept(quiet.listener, NULL, NULL); // the next connection is accepted, but receives nothing
    assert_true(one_of_them >= 0);
    nc_trust_options options = {.accepts_anything = true};
    const char *url = fixture_text(&f, "https://127.0.0.1:%u/", quiet.port);
    nc_request request = {.url = nc_slice_of(url), .limits.connect_ms = SHORT_MS, .trust = fixture_trust(&f, &options)};
    expect_timeout(fixture_send(&f, &request), NC_ERR_CONNECT_TIMED_OUT);
    close(one_of_them);
    full_listener_stop(&quiet);
    fixture_stop(&f);
}

/* --- first byte, idle, total --- */

static void engine__a_response_that_does_not_start_ends_at_the_first_byte_timeout(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    stall_at(&f, "/s", 0);
    nc_request request = fixture_request(&f, "/s");
    request.limits.first_byte_ms = SHORT_MS;
    answer one = fixture_send(&f, &request);
    expect_timeout(one, NC_ERR_FIRST_BYTE_TIMED_OUT);
    assert_int_equal(nc_response_hop_at(one.response, 0).first_byte_ns, 0);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("all of it is sent");
    expect_timeout(fixture_send(&f, &request), NC_ERR_FIRST_BYTE_TIMED_OUT);
    fixture_stop(&f);
}

static void engine__a_response_that_stalls_ends_at_the_idle_timeout(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/s");
    request.limits.idle_ms = SHORT_MS;
    static const uint64_t cuts[] = {17, 30, 39, 44};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        stall_at(&f, "/s", cuts[i]);
        answer one = fixture_send(&f, &request);
        expect_timeout(one, NC_ERR_IDLE_TIMED_OUT);
        assert_int_equal(nc_response_status(one.response), 200);
        assert_true(nc_response_body(one.response).length <= 5);
    }
    fixture_stop(&f);
}

static void engine__an_upload_that_the_server_does_not_read_ends_at_the_idle_timeout(void **state) {
    static char body[8 * 1024 * 1024];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    full_listener deaf = full_listener_start(INADDR_LOOPBACK, 0);
    int one_of_them = accept(deaf.listener, NULL, NULL); // the next connection is accepted, but never read
    assert_true(one_of_them >= 0);
    const char *url = fixture_text(&f, "http://127.0.0.1:%u/", deaf.port);
    nc_request request = {.url = nc_slice_of(url),
                          .method = nc_slice_of("POST"),
                          .body = nc_slice_make(body, sizeof body),
                          .limits.idle_ms = SHORT_MS};
    expect_timeout(fixture_send(&f, &request), NC_ERR_IDLE_TIMED_OUT);
    close(one_of_them);
    full_listener_stop(&deaf);
    fixture_stop(&f);
}

static void engine__every_phase_ends_at_the_total_timeout(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    static const uint64_t cuts[] = {0, 17, 44};
    nc_request request = fixture_request(&f, "/s");
    request.limits = (nc_limits){.connect_ms = NC_UNLIMITED,
                                 .first_byte_ms = NC_UNLIMITED,
                                 .idle_ms = NC_UNLIMITED,
                                 .slot_ms = NC_UNLIMITED,
                                 .total_ms = SHORT_MS};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        stall_at(&f, "/s", cuts[i]);
        expect_timeout(fixture_send(&f, &request), NC_ERR_TOTAL_TIMED_OUT);
    }
    fixture_script(&f, "/r", (nct_reply){.location = "/s"});
    request.url = nc_slice_of(fixture_url(&f, "/r"));
    answer one = fixture_send(&f, &request);
    expect_timeout(one, NC_ERR_TOTAL_TIMED_OUT);
    assert_int_equal(nc_response_hop_count(one.response), 2);
    fixture_stop(&f);
}

static void engine__an_unlimited_timeout_never_expires(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/s");
    request.limits = (nc_limits){.connect_ms = NC_UNLIMITED,
                                 .first_byte_ms = NC_UNLIMITED,
                                 .idle_ms = NC_UNLIMITED,
                                 .slot_ms = NC_UNLIMITED,
                                 .total_ms = NC_UNLIMITED,
                                 .max_body_bytes = NC_UNLIMITED_BYTES,
                                 .max_head_bytes = NC_UNLIMITED,
                                 .max_head_fields = NC_UNLIMITED,
                                 .max_redirects = NC_UNLIMITED - 1};
    stall_at(&f, "/s", 44);
    nc_transfer_id id = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, id), 200, "0123456789");
    fixture_stop(&f);
}

/* --- while bytes move --- */

/// A clock that is stopped, except that it advances by 4 s at the first piece of a body in each iteration of the loop.
typedef struct stepping_clock {
    atomic_uint_fast64_t now_ns;
    atomic_bool was_read;
    atomic_uint steps;
} stepping_clock;

static uint64_t stepping_ns(void *ctx) {
    stepping_clock *clock = ctx;
    atomic_store(&clock->was_read, true);
    return atomic_load(&clock->now_ns);
}

static int64_t no_realtime(void *ctx) {
    (void)ctx;
    return 0;
}

static void step(void *ctx, nc_trace_point point, nc_transfer_id id) {
    stepping_clock *clock = ctx;
    (void)id;
    if (point == NC_TRACE_BODY_CHUNK && atomic_exchange(&clock->was_read, false)) {
        atomic_fetch_add(&clock->now_ns, 4000000000);
        atomic_fetch_add(&clock->steps, 1);
    }
}

static void engine__every_piece_of_the_body_restarts_the_idle_timeout(void **state) {
    stepping_clock stepping = {.now_ns = 1};
    const nc_clock clock = {&stepping, stepping_ns, no_realtime};
    const nc_engine_options options = {.clock = &clock, .trace = {&stepping, step}};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &options);
    fixture_script(&f, "/long", (nct_reply){.pattern_length = 16 * 1024 * 1024});
    fixture_script(&f, "/stall",
                   (nct_reply){.pattern_length = 9, .is_cut = true, .cut_after = 40, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/long");
    request.limits.total_ms = NC_UNLIMITED;
    request.limits.idle_ms = 5000;
    // The kernel determines the number of rounds. Two or more exceed the limit in total.
    unsigned most_steps = 0;
    for (int i = 0; i < 100 && most_steps < 2; i++) {
        atomic_store(&stepping.steps, 0);
        assert_ended(fixture_send(&f, &request), NC_OK, 0, "");
        unsigned steps = atomic_load(&stepping.steps);
        most_steps = steps > most_steps ? steps : most_steps;
    }
    assert_true(most_steps >= 2);
    request.url = nc_slice_of(fixture_url(&f, "/stall"));
    request.limits.idle_ms = 3000;
    assert_ended(fixture_send(&f, &request), NC_ERR_IDLE_TIMED_OUT, CURLE_OPERATION_TIMEDOUT, "after 3000 ms");
    fixture_stop(&f);
}

/* --- while the process is stopped --- */

/// A process that is stopped (SIGSTOP, Ctrl-Z) during a body while its peer continues.
typedef struct stopped_process {
    atomic_uint_fast64_t now_ns;
    atomic_int peer; // the peer's socket: it sends at the loop's next read of the clock; -1: not any more
    gate has_begun;
} stopped_process;

static uint64_t stopped_process_ns(void *ctx) {
    stopped_process *stopped = ctx;
    int peer = atomic_exchange(&stopped->peer, -1);
    if (peer >= 0) {
        assert_int_equal(send(peer, "56789", 5, MSG_NOSIGNAL), 5);
        atomic_fetch_add(&stopped->now_ns, 20000000000u);
    }
    return atomic_load(&stopped->now_ns);
}

static void open_at_body(void *ctx, nc_trace_point point, nc_transfer_id id) {
    (void)id;
    if (point == NC_TRACE_BODY_CHUNK) {
        gate_open(&((stopped_process *)ctx)->has_begun);
    }
}

static void stop_during_body(nc_poller_choice poller) {
    static const char begin[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234";
    stopped_process stopped = {.now_ns = 1, .peer = -1, .has_begun = GATE_INIT};
    const nc_clock clock = {&stopped, stopped_process_ns, no_realtime};
    const nc_engine_options options = {.clock = &clock, .trace = {&stopped, open_at_body}, .poller = poller};
    uint16_t port;
    char received[1024];
    fixture f;
    int listener = listen_anywhere(&port, 1);
    fixture_start_with(&f, NULL, &options);
    nc_request request = {.url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", port))};
    request.limits = (nc_limits){.idle_ms = 10000, .total_ms = NC_UNLIMITED};
    nc_transfer_id id = fixture_submit(&f, &request);
    int peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0 && recv(peer, received, sizeof received, 0) > 0);
    assert_int_equal(send(peer, begin, sizeof begin - 1, MSG_NOSIGNAL), sizeof begin - 1);
    gate_wait(&stopped.has_begun);
    atomic_store(&stopped.peer, peer);
    assert_true(nc_engine_wake(f.engine));
    assert_response(fixture_wait(&f, id), 200, "0123456789");
    close(peer);
    close(listener);
    fixture_stop(&f);
}

static void engine__bytes_that_arrived_while_the_process_was_stopped_precede_a_timeout(void **state) {
    (void)state;
    stop_during_body(NC_POLLER_AUTO);
    stop_during_body(NC_POLLER_POLL);
}

/* --- waiting for a slot --- */

static void engine__waiting_in_the_queue_ends_at_its_timeout(void **state) {
    const nc_engine_options options = {.max_per_host = 1};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &options);
    stall_at(&f, "/s", 0);
    nc_request request = fixture_request(&f, "/s");
    nc_transfer_id first = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    request.limits.slot_ms = SHORT_MS;
    answer second = fixture_send(&f, &request);
    expect_timeout(second, NC_ERR_SLOT_TIMED_OUT);
    assert_int_equal(nc_response_hop_count(second.response), 0);
    assert_int_equal(nct_server_request_count(f.server), 1);
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, first), 200, "0123456789");
    fixture_stop(&f);
}

static void engine__a_pause_does_not_stop_the_first_byte_timeout_regression_3(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    stall_at(&f, "/s", 0);
    nc_request request = fixture_request(&f, "/s");
    request.limits.total_ms = 3000;
    request.limits.first_byte_ms = SHORT_MS;
    nc_transfer_id id = fixture_submit(&f, &request);
    nc_engine_pause(f.engine, id);
    expect_timeout(fixture_wait(&f, id), NC_ERR_FIRST_BYTE_TIMED_OUT);
    fixture_stop(&f);
}

static void engine__the_queue_is_bounded(void **state) {
    const nc_engine_options options = {.max_in_flight = 1, .max_waiting = 2};
    fixture f;
    nc_transfer_id ids[4];
    (void)state;
    fixture_start_with(&f, NULL, &options);
    stall_at(&f, "/s", 0);
    fixture_script(&f, "/x", (nct_reply){.body = "x", .body_length = 1});
    nc_request request = fixture_request(&f, "/s");
    ids[0] = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    request = fixture_request(&f, "/x");
    for (size_t i = 1; i < 4; i++) {
        ids[i] = fixture_submit(&f, &request);
    }
    assert_ended(fixture_wait(&f, ids[3]), NC_ERR_TOO_LARGE, 0, "too many transfers wait for a slot");
    assert_int_equal(nct_server_request_count(f.server), 1);
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, ids[1]), 200, "x");
    assert_response(fixture_wait(&f, ids[2]), 200, "x");
    assert_response(fixture_wait(&f, ids[0]), 200, "0123456789");
    fixture_stop(&f);
}

static void engine__a_redirect_is_followed_although_the_queue_is_full_regression_1(void **state) {
    const nc_engine_options options = {.max_in_flight = 1, .max_waiting = 1};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &options);
    fixture_script(&f, "/r", (nct_reply){.location = "/x", .is_cut = true, .ending = NCT_STALL});
    fixture_script(&f, "/x", (nct_reply){.body = "x", .body_length = 1});
    nc_request request = fixture_request(&f, "/r");
    nc_transfer_id redirected = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    request = fixture_request(&f, "/x");
    nc_transfer_id waiting = fixture_submit(&f, &request);
    assert_ended(fixture_send(&f, &request), NC_ERR_TOO_LARGE, 0, "too many transfers wait for a slot");
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, redirected), 200, "x");
    assert_response(fixture_wait(&f, waiting), 200, "x");
    fixture_stop(&f);
}

/// Blocks the loop, so that it later receives all transfers that were submitted meanwhile together.
typedef struct loop_blocker {
    gate is_held;
    gate may_go;
} loop_blocker;

static bool block_loop(void *ctx, uint32_t max_jobs) {
    loop_blocker *one = ctx;
    (void)max_jobs;
    gate_open(&one->is_held);
    gate_wait(&one->may_go);
    return false;
}

static void engine__concurrent_submissions_queue_only_without_a_free_slot_regression_2(void **state) {
    enum { SLOTS = 5 };
    loop_blocker one = {GATE_INIT, GATE_INIT};
    const nc_engine_options options = {
        .max_per_host = SLOTS, .max_waiting = 1, .loop_client = {.ctx = &one, .drain = block_loop}};
    fixture f;
    nc_transfer_id ids[SLOTS + 2];
    (void)state;
    fixture_start_with(&f, NULL, &options);
    fixture_script(&f, "/x", (nct_reply){.body = "x", .body_length = 1});
    nc_request request = fixture_request(&f, "/x");
    assert_true(nc_engine_wake(f.engine));
    gate_wait(&one.is_held);
    for (size_t i = 0; i < SLOTS + 2; i++) {
        ids[i] = fixture_submit(&f, &request);
    }
    gate_open(&one.may_go);
    for (size_t i = 0; i < SLOTS + 1; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, "x");
    }
    assert_ended(fixture_wait(&f, ids[SLOTS + 1]), NC_ERR_TOO_LARGE, 0, "too many transfers wait for a slot");
    fixture_stop(&f);
}

static void engine__connections_to_one_host_stay_within_their_limit(void **state) {
    const nc_engine_options options = {.max_per_host = 3};
    fixture f;
    nc_transfer_id ids[12];
    (void)state;
    fixture_start_with(&f, NULL, &options);
    stall_at(&f, "/s", 20);
    nc_request request = fixture_request(&f, "/s");
    for (size_t i = 0; i < 12; i++) {
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t round = 0; round < 4; round++) {
        assert_true(nct_server_wait_for_stalled(f.server, 3, FIXTURE_LIMIT_MS));
        assert_int_equal(nct_server_request_count(f.server), 3 * (round + 1));
        nct_server_release_stalled(f.server);
    }
    for (size_t i = 0; i < 12; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, "0123456789");
    }
    assert_int_equal(nct_server_connection_count(f.server), 3);
    fixture_stop(&f);
}

static void engine__more_transfers_than_idle_connections_reuse_their_connections(void **state) {
    enum { AT_ONCE = 8, ROUNDS = 4, ALL = AT_ONCE * ROUNDS };
    const nc_engine_options options = {.max_in_flight = AT_ONCE, .max_per_host = AT_ONCE, .max_idle_connections = 3};
    fixture f;
    nc_transfer_id ids[ALL];
    (void)state;
    fixture_start_with(&f, NULL, &options);
    stall_at(&f, "/s", 20);
    nc_request request = fixture_request(&f, "/s");
    for (size_t i = 0; i < ALL; i++) {
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        assert_true(nct_server_wait_for_stalled(f.server, AT_ONCE, FIXTURE_LIMIT_MS));
        nct_server_release_stalled(f.server);
    }
    for (size_t i = 0; i < ALL; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, "0123456789");
    }
    assert_int_equal(nct_server_connection_count(f.server), AT_ONCE);
    fixture_stop(&f);
}

/// Each connection that becomes idle closes one surplus connection, so the pool shrinks to its limit after a burst.
static void engine__idle_connections_of_a_burst_are_closed_down_to_the_limit(void **state) {
    enum { AT_ONCE = 8, KEPT = 3 };
    const nc_engine_options options = {.max_in_flight = AT_ONCE, .max_per_host = AT_ONCE, .max_idle_connections = KEPT};
    fixture f;
    nc_transfer_id ids[AT_ONCE];
    (void)state;
    fixture_start_with(&f, NULL, &options);
    stall_at(&f, "/s", 20);
    fixture_script(&f, "/one", (nct_reply){.body = "one", .body_length = 3});
    nc_request request = fixture_request(&f, "/s");
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            ids[i] = fixture_submit(&f, &request);
        }
        assert_true(nct_server_wait_for_stalled(f.server, AT_ONCE, FIXTURE_LIMIT_MS));
        nct_server_release_stalled(f.server);
        for (size_t i = 0; i < AT_ONCE; i++) {
            assert_response(fixture_wait(&f, ids[i]), 200, "0123456789");
        }
        for (size_t i = 0; i < AT_ONCE; i++) {
            assert_response(fixture_get(&f, "/one"), 200, "one");
        }
    }
    assert_int_equal(nct_server_connection_count(f.server), 2 * AT_ONCE - KEPT);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__connecting_ends_at_the_connect_timeout),
        harness_case(engine__a_silent_tls_handshake_is_a_slow_connect),
        harness_case(engine__a_response_that_does_not_start_ends_at_the_first_byte_timeout),
        harness_case(engine__a_response_that_stalls_ends_at_the_idle_timeout),
        harness_case(engine__an_upload_that_the_server_does_not_read_ends_at_the_idle_timeout),
        harness_case(engine__every_phase_ends_at_the_total_timeout),
        harness_case(engine__an_unlimited_timeout_never_expires),
        harness_case(engine__every_piece_of_the_body_restarts_the_idle_timeout),
        harness_case(engine__bytes_that_arrived_while_the_process_was_stopped_precede_a_timeout),
        harness_case(engine__waiting_in_the_queue_ends_at_its_timeout),
        harness_case(engine__a_pause_does_not_stop_the_first_byte_timeout_regression_3),
        harness_case(engine__the_queue_is_bounded),
        harness_case(engine__a_redirect_is_followed_although_the_queue_is_full_regression_1),
        harness_case(engine__concurrent_submissions_queue_only_without_a_free_slot_regression_2),
        harness_case(engine__connections_to_one_host_stay_within_their_limit),
        harness_case(engine__more_transfers_than_idle_connections_reuse_their_connections),
        harness_case(engine__idle_connections_of_a_burst_are_closed_down_to_the_limit),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
