/// Faults over HTTP/3: streams and connections that end early, protocol violations, lost packets, networks without UDP.
#include "quic.h"

#include <netcore/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_pattern(answer one, size_t length) {
    nc_slice body = nc_response_body(one.response);
    assert_status(one.error.status, NC_OK);
    assert_int_equal(body.length, length);
    for (size_t i = 0; i < length; i++) {
        if (body.data[i] != 'a' + i % 26) {
            fail_msg("byte %zu is wrong", i);
        }
    }
}

/// Sends a POST, which is never resent.
static answer post(quic *q, const char *path) {
    nc_request request = quic_request(q, path);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("once");
    return fixture_send(&q->f, &request);
}

static void expect_failure(answer one) {
    nc_status status = one.error.status;
    if (status != NC_ERR_HTTP3 && status != NC_ERR_CUT_SHORT && status != NC_ERR_BAD_RESPONSE) {
        fail_msg("%s: %s", nc_status_name(status), one.error.message);
    }
}

static void expect_usable(quic *q) {
    assert_response(quic_get(q, "/hello"), 200, "hello");
}

/* --- streams --- */

static void http3__a_stream_reset_before_its_response_is_an_http3_error(void **state) {
    static const char *const codes[] = {"0x100", "0x101", "0x102", "0x10c", "0x110"};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_ended(post(&q, server_text("/reset/%s", codes[i])), NC_ERR_HTTP3, 95, "localhost");
        expect_usable(&q);
    }
    quic_stop(&q);
}

static void http3__a_stream_reset_within_its_body_is_an_error(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_failure(quic_get(&q, "/reset/0x102/after"));
    expect_failure(quic_get(&q, "/reset/0x100/after")); // H3_NO_ERROR too: the body is incomplete
    expect_usable(&q);
    quic_stop(&q);
}

static void http3__a_stream_that_ends_before_its_head_is_an_error(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_failure(post(&q, "/fin"));
    expect_usable(&q);
    quic_stop(&q);
}

static void http3__a_body_shorter_than_its_length_is_an_error(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_failure(quic_get(&q, "/short"));
    quic_stop(&q);
}

static void http3__a_body_longer_than_its_length_is_an_error(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    answer one = quic_get(&q, "/long");
    if (one.error.status == NC_OK) {
        assert_response(one, 200, "four"); // RFC 9114, 4.1.2: malformed, but nothing beyond the length is delivered
    } else {
        expect_failure(one);
    }
    quic_stop(&q);
}

static void http3__malformed_frames_end_the_request(void **state) {
    static const char *const rows[] = {
        "0004deadbeef",   // DATA before HEADERS
        "0102ffff",       // a field section that QPACK cannot read
        "04020000",       // SETTINGS on a request stream
        "01",             // half a frame
        "0200",           // a reserved frame type
        "0103000051ffff", // a truncated field section
    };
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_failure(post(&q, server_text("/raw/%s", rows[i])));
        expect_usable(&q);
    }
    quic_stop(&q);
}

static void http3__unknown_frames_are_ignored(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/control/0x21/00"), 200, "after"); // RFC 9114, 7.2.8
    assert_response(quic_get(&q, "/control/0x4040/0001"), 200, "after");
    quic_stop(&q);
}

/* --- connections --- */

static void http3__after_goaway_the_next_request_uses_another_connection(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/goaway"), 200, "last");
    answer one = quic_get(&q, "/hello");
    assert_response(one, 200, "hello");
    quic_stop(&q);
}

static void http3__a_connection_closed_before_the_response_is_an_http3_error(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_failure(post(&q, "/close/0x102"));
    expect_usable(&q);
    expect_failure(post(&q, "/close/0x100"));
    expect_usable(&q);
    quic_stop(&q);
}

static void http3__a_connection_closed_within_a_body_is_an_error(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_failure(quic_get(&q, "/close/0x102/after"));
    expect_failure(quic_get(&q, "/close/0x100/after"));
    expect_usable(&q);
    quic_stop(&q);
}

static void http3__after_the_idle_timeout_a_new_connection_is_used(void **state) {
    quic q;
    (void)state;
    quic_start(&q, (const char *[]){"idle=0.3", NULL});
    expect_usable(&q);
    quic_command(&q, "/idle"); // returns when the server has closed the connection
    answer one = quic_get(&q, "/hello");
    assert_response(one, 200, "hello");
    assert_int_equal(quic_opened(one), 1);
    quic_stop(&q);
}

static void http3__after_a_stateless_reset_a_get_is_resent(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/forget"), 200, "last");
    quic_command(&q, "/forgotten");
    expect_usable(&q);
    quic_stop(&q);
}

static void http3__a_server_that_requires_retry_is_reached(void **state) {
    quic q;
    (void)state;
    quic_start(&q, (const char *[]){"retry=1", NULL});
    expect_usable(&q);
    quic_stop(&q);
}

static void http3__a_server_without_quic_version_1_is_refused(void **state) {
    quic q;
    (void)state;
    quic_start(&q, (const char *[]){"version=2", NULL});
    nc_request request = quic_request(&q, "/hello");
    request.limits.connect_ms = 3000;
    answer one = fixture_send(&q.f, &request);
    if (one.error.status != NC_ERR_CONNECT && one.error.status != NC_ERR_CONNECT_TIMED_OUT) {
        fail_msg("%s: %s", nc_status_name(one.error.status), one.error.message);
    }
    request.http = NC_HTTP_3_IF_POSSIBLE;
    assert_response(fixture_send(&q.f, &request), 200, "tcp");
    quic_stop(&q);
}

static void http3__no_server_on_the_port_is_a_refused_connection(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    server_kill(&q.server);
    answer one = quic_get(&q, "/hello");
    if (one.error.status != NC_ERR_REFUSED && one.error.status != NC_ERR_CONNECT) {
        fail_msg("%s: %s", nc_status_name(one.error.status), one.error.message);
    }
    quic_stop(&q);
}

/* --- networks --- */

static void http3__bodies_arrive_unchanged_although_packets_are_lost(void **state) {
    static const unsigned losses[] = {1, 2, 5, 10, 20};
    (void)state;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        quic q;
        quic_start(&q, (const char *[]){server_text("loss=%u", losses[i]), NULL});
        expect_pattern(quic_get(&q, "/bytes/300000"), 300000);
        quic_stop(&q);
    }
}

static void http3__uploads_arrive_unchanged_although_packets_are_lost(void **state) {
    static const unsigned losses[] = {1, 5, 20};
    char body[100001];
    (void)state;
    for (size_t i = 0; i < sizeof body - 1; i++) {
        body[i] = (char)('a' + i % 26);
    }
    body[sizeof body - 1] = '\0';
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        quic q;
        quic_start(&q, (const char *[]){server_text("loss=%u", losses[i]), NULL});
        nc_request request = quic_request(&q, "/echo");
        request.method = nc_slice_of("PUT");
        request.body = nc_slice_of(body);
        expect_pattern(fixture_send(&q.f, &request), sizeof body - 1);
        quic_stop(&q);
    }
}

static void http3__udp_blocked_within_a_transfer_ends_it_by_the_idle_limit(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/block/50000");
    request.limits.idle_ms = 500;
    answer one = fixture_send(&q.f, &request);
    assert_ended(one, NC_ERR_IDLE_TIMED_OUT, 28, "");
    quic_stop(&q);
}

static void http3__where_udp_is_blocked_http3_only_exceeds_the_connect_limit(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    quic_command(&q, "/block");
    nc_request request = quic_request(&q, "/hello");
    request.limits.connect_ms = 200;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_CONNECT_TIMED_OUT, 28, "");
    quic_command(&q, "/unblock");
    expect_usable(&q);
    quic_stop(&q);
}

/* --- the race --- */

static answer get_if_possible(quic *q, const char *path) {
    nc_request request = quic_request(q, path);
    request.http = NC_HTTP_3_IF_POSSIBLE;
    return fixture_send(&q->f, &request);
}

static void http3__if_possible_uses_the_announced_server_of_the_origin(void **state) {
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.uses_alt_svc = true});
    // The server's own port is known only now; a response announces it.
    assert_response(quic_get(&q, server_text("/set/alt-svc/h3=%%22:%u%%22", q.server.port)), 200, "set");
    answer one = get_if_possible(&q, "/hello");
    assert_response(one, 200, "hello");
    assert_int_equal(quic_opened(one), 1);
    assert_int_equal(quic_opened(get_if_possible(&q, "/hello")), 0);
    quic_stop(&q);
}

static void http3__if_possible_sends_a_head_that_is_too_large_for_http_2_over_http_1_1(void **state) {
    static char value[50001];
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.uses_alt_svc = true});
    assert_response(quic_get(&q, server_text("/set/alt-svc/h3=%%22:%u%%22", q.server.port)), 200, "set");
    memset(value, 'v', sizeof value - 1);
    const nc_header header = {nc_slice_of("X-Large"), nc_slice_of(value)};
    nc_request request = quic_request(&q, "/hello");
    request.http = NC_HTTP_3_IF_POSSIBLE;
    request.headers = &header;
    request.header_count = 1;
    assert_response(fixture_send(&q.f, &request), 200, "tcp");
    quic_stop(&q);
}

static void http3__if_possible_falls_back_to_tcp_where_udp_is_blocked(void **state) {
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.uses_alt_svc = true});
    assert_response(quic_get(&q, server_text("/set/alt-svc/h3=%%22:%u%%22", q.server.port)), 200, "set");
    quic_command(&q, "/block");
    assert_response(get_if_possible(&q, "/hello"), 200, "tcp");
    quic_command(&q, "/unblock");
    assert_response(get_if_possible(&q, "/hello"), 200, "tcp"); // remembered
    quic_stop(&q);
}

static void http3__an_announced_server_is_used_by_automatic_requests_if_allowed(void **state) {
    (void)state;
    for (int allows = 0; allows < 2; allows++) {
        quic q;
        quic_start_with(&q, NULL, &(nc_engine_options){.uses_alt_svc = allows == 1});
        assert_response(quic_get(&q, server_text("/set/alt-svc/h3=%%22:%u%%22", q.server.port)), 200, "set");
        nc_request request = ask_for(&q.f, &q.server, "https", "/hello");
        answer one = fixture_send(&q.f, &request);
        assert_response(one, 200, allows == 1 ? "hello" : "tcp");
        quic_stop(&q);
    }
}

static void http3__the_engines_version_applies_to_redirects_and_retries(void **state) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    nc_client *client;
    nc_call *call;
    nc_response *response;
    nc_error err;
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.http = NC_HTTP_3_ONLY});
    nc_request request = ask_for(&q.f, &q.server, "https", "/to/302/%2Fhello");
    answer one = fixture_send(&q.f, &request);
    assert_response(one, 200, "hello");
    assert_int_equal(nc_response_hop_at(one.response, 0).quic_version, 1);
    assert_int_equal(quic_opened(one), 0); // the connection of the first hop
    policy.base_delay_ms = 0;
    assert_status(nc_client_new(&client, q.f.engine, &(nc_client_options){.retry = &policy}, &err), NC_OK);
    request = ask_for(&q.f, &q.server, "https", "/flaky");
    assert_status(nc_client_send(client, &request, NULL, NULL, &call, &err), NC_OK);
    assert_status(nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err), NC_OK);
    assert_int_equal(nc_call_attempt_count(call), 2);
    assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_3);
    nc_response_release(response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    request.http = NC_HTTP_1_1;
    assert_response(fixture_send(&q.f, &request), 200, "tcp");
    quic_stop(&q);
}

static void http3__an_even_race_has_one_winner_and_is_decided_once(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        quic q;
        quic_start(&q, NULL);
        answer one = get_if_possible(&q, "/hello");
        bool is_quic = nc_response_hop_at(one.response, 0).quic_version == 1;
        assert_response(one, 200, is_quic ? "hello" : "tcp");
        one = get_if_possible(&q, "/hello");
        assert_response(one, 200, is_quic ? "hello" : "tcp");
        assert_true(nc_response_hop_at(one.response, 0).is_reused);
        quic_stop(&q);
    }
}

static const struct CMUnitTest cases[] = {
    harness_case(http3__a_stream_reset_before_its_response_is_an_http3_error),
    harness_case(http3__a_stream_reset_within_its_body_is_an_error),
    harness_case(http3__a_stream_that_ends_before_its_head_is_an_error),
    harness_case(http3__a_body_shorter_than_its_length_is_an_error),
    harness_case(http3__a_body_longer_than_its_length_is_an_error),
    harness_case(http3__malformed_frames_end_the_request),
    harness_case(http3__unknown_frames_are_ignored),
    harness_case(http3__after_goaway_the_next_request_uses_another_connection),
    harness_case(http3__a_connection_closed_before_the_response_is_an_http3_error),
    harness_case(http3__a_connection_closed_within_a_body_is_an_error),
    harness_case(http3__after_the_idle_timeout_a_new_connection_is_used),
    harness_case(http3__after_a_stateless_reset_a_get_is_resent),
    harness_case(http3__a_server_that_requires_retry_is_reached),
    harness_case(http3__a_server_without_quic_version_1_is_refused),
    harness_case(http3__no_server_on_the_port_is_a_refused_connection),
    harness_case(http3__bodies_arrive_unchanged_although_packets_are_lost),
    harness_case(http3__uploads_arrive_unchanged_although_packets_are_lost),
    harness_case(http3__udp_blocked_within_a_transfer_ends_it_by_the_idle_limit),
    harness_case(http3__where_udp_is_blocked_http3_only_exceeds_the_connect_limit),
    harness_case(http3__if_possible_uses_the_announced_server_of_the_origin),
    harness_case(http3__if_possible_sends_a_head_that_is_too_large_for_http_2_over_http_1_1),
    harness_case(http3__if_possible_falls_back_to_tcp_where_udp_is_blocked),
    harness_case(http3__an_announced_server_is_used_by_automatic_requests_if_allowed),
    harness_case(http3__the_engines_version_applies_to_redirects_and_retries),
    harness_case(http3__an_even_race_has_one_winner_and_is_decided_once),
};

QUIC_MAIN(cases)
