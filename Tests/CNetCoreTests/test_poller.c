/// All pollers behave alike, the socket table makes only the necessary calls, and an engine runs on each poller.
#include "event_loop/sockets.h"
#include "fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Long enough for any pending event.
#define LONG_NS UINT64_C(1000000000)

static const nc_poller_choice choices[] = {NC_POLLER_AUTO, NC_POLLER_POLL};

/* --- real pollers --- */

static void poller__reports_only_wanted_events(void **state) {
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        int pipes[40][2];
        nc_poll_event events[64];
        const nc_poller_kind *kind = nc_poller_choose(choices[c]);
        nc_poller *poller = NULL;
        assert_status(kind->create(&poller, NULL), NC_OK);
        for (size_t i = 0; i < 40; i++) {
            assert_int_equal(pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK), 0);
            assert_status(kind->change(poller, pipes[i][0], 0, NC_WANT_READ), NC_OK);
        }
        assert_int_equal(kind->wait(poller, events, 64, 0, 0), 0);
        for (size_t i = 0; i < 40; i += 2) {
            assert_int_equal(write(pipes[i][1], "x", 1), 1);
        }
        assert_int_equal(kind->wait(poller, events, 64, 0, LONG_NS), 20);
        assert_int_equal(kind->wait(poller, events, 64, 0, LONG_NS), 20); // level-triggered
        for (size_t i = 0; i < 20; i++) {
            assert_true(events[i].is_readable && !events[i].is_writable && !events[i].has_error);
        }
        assert_int_equal(kind->wait(poller, events, 7, 0, LONG_NS), 7);
        // Removed, added again, changed: only members of the set are reported.
        for (size_t i = 0; i < 40; i += 4) {
            assert_status(kind->change(poller, pipes[i][0], NC_WANT_READ, 0), NC_OK);
            assert_status(kind->change(poller, pipes[i][0], 0, 0), NC_OK);
        }
        assert_int_equal(kind->wait(poller, events, 64, 0, LONG_NS), 10);
        assert_status(kind->change(poller, pipes[1][1], 0, NC_WANT_WRITE), NC_OK);
        assert_int_equal(kind->wait(poller, events, 64, 0, LONG_NS), 11);
        assert_status(kind->change(poller, pipes[1][1], NC_WANT_WRITE, 0), NC_OK);
        close(pipes[3][1]);
        assert_int_equal(kind->wait(poller, events, 64, 0, LONG_NS), 11);
        for (size_t i = 0; i < 11; i++) {
            assert_true(events[i].is_readable);
        }
        for (size_t i = 0; i < 40; i++) {
            assert_status(kind->change(poller, pipes[i][0], NC_WANT_READ, 0), NC_OK);
            close(pipes[i][0]);
            if (i != 3) {
                close(pipes[i][1]);
            }
        }
        assert_int_equal(kind->wait(poller, events, 64, 0, 0), 0);
        kind->destroy(poller);
    }
}

/// A reset connection can be reported with an error flag alone. The poller reports it as readable, because only a read
/// shows what has happened.
static void poller__an_error_is_reported_as_readable_regression_1(void **state) {
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        nc_poll_event event = {0};
        struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof nobody;
        const nc_poller_kind *kind = nc_poller_choose(choices[c]);
        nc_poller *poller = NULL;
        assert_status(kind->create(&poller, NULL), NC_OK);
        // The port was just closed, so the kernel rejects a datagram to it.
        int other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_int_equal(bind(other, (struct sockaddr *)&nobody, length), 0);
        assert_int_equal(getsockname(other, (struct sockaddr *)&nobody, &length), 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&nobody, length), 0);
        close(other);
        assert_status(kind->change(poller, fd, 0, NC_WANT_READ), NC_OK);
        assert_int_equal(send(fd, "x", 1, 0), 1);
        assert_int_equal(kind->wait(poller, &event, 1, 0, LONG_NS), 1);
        assert_true(event.has_error && event.is_readable && !event.is_writable);
        close(fd);
        kind->destroy(poller);
    }
}

static void poller__tolerates_a_descriptor_that_was_closed_without_notice(void **state) {
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        int first[2];
        int second[2];
        nc_poll_event events[4];
        const nc_poller_kind *kind = nc_poller_choose(choices[c]);
        nc_poller *poller = NULL;
        assert_status(kind->create(&poller, NULL), NC_OK);
        assert_int_equal(pipe2(first, O_CLOEXEC), 0);
        assert_status(kind->change(poller, first[0], 0, NC_WANT_READ), NC_OK);
        close(first[0]);
        close(first[1]);
        assert_int_equal(pipe2(second, O_CLOEXEC), 0);
        assert_int_equal(second[0], first[0]);
        // The caller may assume that the new descriptor is still in the set, or that it was never added.
        assert_status(kind->change(poller, second[0], NC_WANT_READ, NC_WANT_READ), NC_OK);
        assert_status(kind->change(poller, second[0], 0, NC_WANT_READ), NC_OK);
        assert_int_equal(write(second[1], "x", 1), 1);
        assert_int_equal(kind->wait(poller, events, 4, 0, LONG_NS), 1);
        assert_int_equal(events[0].fd, second[0]);
        close(second[0]);
        close(second[1]);
        kind->destroy(poller);
    }
}

static void poller__returns_at_the_timeout(void **state) {
    const nc_clock clock = nc_clock_system();
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        nc_poll_event events[4];
        const nc_poller_kind *kind = nc_poller_choose(choices[c]);
        nc_poller *poller = NULL;
        assert_status(kind->create(&poller, NULL), NC_OK);
        // Short and long waits, a nearer deadline after a farther one, and a passed one, in the engine's cached time.
        const uint64_t waits_ms[] = {1, 30, 60, 25, 0, 30};
        for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
            uint64_t began_ns = clock.monotonic_ns(NULL);
            uint64_t now_ns = began_ns + 5000000000u;
            uint64_t until_ns = now_ns + waits_ms[i] * 1000000u;
            if (i == 2) {
                // Set later than the others. Its timer must not delay the next wait.
                assert_int_equal(kind->wait(poller, events, 4, now_ns, now_ns), 0);
            }
            while (kind->wait(poller, events, 4, now_ns, until_ns) == 0 && now_ns < until_ns) {
                now_ns = clock.monotonic_ns(NULL) + 5000000000u;
            }
            uint64_t took_ns = clock.monotonic_ns(NULL) - began_ns;
            assert_true(took_ns >= waits_ms[i] * 1000000u);
            assert_true(took_ns < 20 * LONG_NS);
        }
        kind->destroy(poller);
    }
}

static void poller__rounds_a_timeout_up_and_bounds_it(void **state) {
    (void)state;
    assert_int_equal(nc_poller_timeout_ms(5, UINT64_MAX), -1);
    assert_int_equal(nc_poller_timeout_ms(0, 10000001), 11);
    assert_int_equal(nc_poller_timeout_ms(1, 10000001), 10);
    assert_int_equal(nc_poller_timeout_ms(10000000, 10000001), 1);
    assert_int_equal(nc_poller_timeout_ms(10000001, 10000001), 0);
    assert_int_equal(nc_poller_timeout_ms(20000000, 10000001), 0);
    assert_int_equal(nc_poller_timeout_ms(0, UINT64_MAX - 1), INT_MAX);
}

/* --- the socket table, with a recording poller --- */

typedef struct remembering_poller {
    nc_poller base;
    int interest[64];
    unsigned calls;
    bool fails;
} remembering_poller;

static nc_status remember(nc_poller *base, int fd, int before, int after) {
    remembering_poller *poller = (remembering_poller *)base;
    poller->calls++;
    if (poller->fails && after != 0) {
        return NC_ERR_NO_MEMORY;
    }
    assert_int_equal(poller->interest[fd], before);
    poller->interest[fd] = after;
    return NC_OK;
}

static const nc_poller_kind remembering_kind = {false, NULL, NULL, remember, NULL};

static void sockets__an_idle_connection_causes_no_poller_calls(void **state) {
    remembering_poller poller = {.base = {&remembering_kind}};
    nc_sockets sockets;
    int owner = 0;
    (void)state;
    nc_sockets_init(&sockets, &poller.base);
    assert_status(nc_sockets_opened(&sockets, 7, 1), NC_OK);
    assert_int_equal(poller.calls, 0);
    for (int i = 0; i < 10; i++) {
        assert_status(nc_sockets_want(&sockets, 7, NC_WANT_READ, &owner), NC_OK);
        assert_ptr_equal(nc_sockets_owner(&sockets, 7), &owner);
        assert_status(nc_sockets_want(&sockets, 7, 0, &owner), NC_OK);
    }
    assert_int_equal(poller.calls, 1);
    assert_int_equal(poller.interest[7], NC_WANT_READ);
    // An event for a socket without an owner removes it from the poller.
    assert_null(nc_sockets_owner(&sockets, 7));
    assert_int_equal(poller.interest[7], 0);
    assert_status(nc_sockets_want(&sockets, 7, NC_WANT_READ | NC_WANT_WRITE, &owner), NC_OK);
    assert_int_equal(poller.interest[7], NC_WANT_READ | NC_WANT_WRITE);
    nc_sockets_closing(&sockets, 7);
    assert_int_equal(poller.interest[7], 0);
    assert_null(nc_sockets_owner(&sockets, 7));
    nc_sockets_deinit(&sockets);
}

static void sockets__every_change_of_a_foreign_descriptor_reaches_the_poller(void **state) {
    remembering_poller poller = {.base = {&remembering_kind}};
    nc_sockets sockets;
    int owner = 0;
    (void)state;
    nc_sockets_init(&sockets, &poller.base);
    assert_null(nc_sockets_owner(&sockets, 60));
    nc_sockets_closing(&sockets, 60);
    assert_status(nc_sockets_want(&sockets, 60, NC_WANT_READ, &owner), NC_OK);
    assert_int_equal(poller.interest[60], NC_WANT_READ);
    assert_status(nc_sockets_want(&sockets, 60, 0, &owner), NC_OK);
    assert_int_equal(poller.interest[60], 0);
    assert_status(nc_sockets_want(&sockets, 60, NC_WANT_WRITE, &owner), NC_OK);
    nc_sockets_forget_owner(&sockets, &owner);
    assert_null(nc_sockets_owner(&sockets, 60));
    // A socket with the same number is opened again, so the earlier report is withdrawn.
    assert_status(nc_sockets_opened(&sockets, 60, 1), NC_OK);
    assert_int_equal(poller.interest[60], 0);
    nc_sockets_deinit(&sockets);
}

static void sockets__an_invalid_descriptor_is_ignored(void **state) {
    remembering_poller poller = {.base = {&remembering_kind}};
    nc_sockets sockets;
    int owner = 0;
    (void)state;
    nc_sockets_init(&sockets, &poller.base);
    assert_status(nc_sockets_opened(&sockets, 200, 1), NC_OK);
    assert_status(nc_sockets_want(&sockets, -1, NC_WANT_READ, &owner), NC_OK);
    assert_int_equal(nc_sockets_connection(&sockets, 200), 1); // the table is unchanged
    nc_sockets_deinit(&sockets);
}

static void sockets__a_failed_poller_call_is_retried(void **state) {
    remembering_poller poller = {.base = {&remembering_kind}, .fails = true};
    nc_sockets sockets;
    int owner = 0;
    (void)state;
    nc_sockets_init(&sockets, &poller.base);
    assert_status(nc_sockets_want(&sockets, 5, NC_WANT_READ, &owner), NC_ERR_NO_MEMORY);
    poller.fails = false;
    assert_status(nc_sockets_want(&sockets, 5, NC_WANT_READ, &owner), NC_OK);
    assert_int_equal(poller.interest[5], NC_WANT_READ);
    nc_sockets_deinit(&sockets);
}

/* --- an engine on each --- */

static void expect_core_behaviour(nc_poller_choice choice, nct_identity identity) {
    const nct_server_options server = {.identity = identity};
    nc_engine_options options = {.poller = choice};
    fixture f;
    nc_transfer_id ids[30];
    fixture_start_with(&f, &server, &options);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    fixture_script(&f, "/big", (nct_reply){.pattern_length = 3000000, .chunk_bytes = 70001});
    fixture_script(&f, "/r", (nct_reply){.location = "/big"});
    fixture_script(&f, "/reset",
                   (nct_reply){.pattern_length = 1000, .is_cut = true, .cut_after = 100, .ending = NCT_RESET});
    fixture_script(&f, "/stall", (nct_reply){.is_cut = true, .cut_after = 0, .ending = NCT_STALL});
    nc_request echo = fixture_request(&f, "/echo");
    echo.method = nc_slice_of("POST");
    echo.body = nc_slice_of("there and back");
    for (size_t i = 0; i < 30; i++) {
        ids[i] = fixture_submit(&f, &echo);
    }
    for (size_t i = 0; i < 30; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, "there and back");
    }
    assert_true(nct_server_connection_count(f.server) <= NC_DEFAULT_MAX_PER_HOST);
    answer big = fixture_get(&f, "/r");
    assert_ended(big, NC_OK, 0, "");
    assert_int_equal(nc_response_body(big.response).length, 3000000);
    assert_status(fixture_get(&f, "/reset").error.status, NC_ERR_RESET);
    nc_request stalled = fixture_request(&f, "/stall");
    stalled.limits.first_byte_ms = 50;
    assert_status(fixture_send(&f, &stalled).error.status, NC_ERR_FIRST_BYTE_TIMED_OUT);
    stalled.limits.first_byte_ms = 0;
    nc_transfer_id id = fixture_submit(&f, &stalled);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nc_engine_cancel(f.engine, id);
    assert_status(fixture_wait(&f, id).error.status, NC_ERR_CANCELLED);
    fixture_stop(&f);
}

static void engine__behaves_the_same_with_every_poller(void **state) {
    static const nc_poller_choice every[] = {NC_POLLER_AUTO, NC_POLLER_EPOLL, NC_POLLER_POLL};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        expect_core_behaviour(every[i], NCT_PLAIN);
        expect_core_behaviour(every[i], NCT_TLS_VALID);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(poller__reports_only_wanted_events),
        harness_case(poller__an_error_is_reported_as_readable_regression_1),
        harness_case(poller__tolerates_a_descriptor_that_was_closed_without_notice),
        harness_case(poller__returns_at_the_timeout),
        harness_case(poller__rounds_a_timeout_up_and_bounds_it),
        harness_case(sockets__an_idle_connection_causes_no_poller_calls),
        harness_case(sockets__every_change_of_a_foreign_descriptor_reaches_the_poller),
        harness_case(sockets__an_invalid_descriptor_is_ignored),
        harness_case(sockets__a_failed_poller_call_is_retried),
        harness_case(engine__behaves_the_same_with_every_poller),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
