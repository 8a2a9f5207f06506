/// Requests and responses over HTTP/3: methods, bodies, fields, trailers, interim responses, limits, cancel, redirects.
#include "quic.h"

#include "curl/quirks.h"

#include <netcore/cookies.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEBIBYTE = 1024 * 1024 };

/* --- requests --- */

static void http3__each_method_is_sent_as_it_is(void **state) {
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "MKCOL"};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        nc_request request = quic_request(&q, "/method");
        request.method = nc_slice_of(methods[i]);
        answer one = fixture_send(&q.f, &request);
        assert_response(one, 200, methods[i]);
        assert_int_equal(quic_opened(one), i == 0);
    }
    quic_stop(&q);
}

static void http3__a_response_to_head_has_no_body(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/method");
    request.method = nc_slice_of("HEAD");
    answer one = fixture_send(&q.f, &request);
    assert_response(one, 200, "");
    assert_field(one, "content-length", "5");
    quic_stop(&q);
}

static void http3__a_body_of_known_length_arrives_unchanged(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/echo");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("the body\r\n0\r\n\r\n");
    assert_response(fixture_send(&q.f, &request), 200, "the body\r\n0\r\n\r\n");
    quic_stop(&q);
}

static void http3__an_empty_body_is_sent_with_its_length(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/fields");
    request.method = nc_slice_of("POST");
    request.has_body = true;
    assert_body_has(&q.f, fixture_send(&q.f, &request), "content-length: 0\n");
    quic_stop(&q);
}

typedef struct source {
    size_t left;
} source;

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    source *one = ctx;
    (void)id;
    *filled = one->left < capacity ? one->left : capacity;
    memset(bytes, 'x', *filled);
    one->left -= *filled;
    return one->left == 0 ? NC_PULL_END : NC_PULL_MORE;
}

/// Uploads this many bytes of unknown length and checks how many the server has counted.
static void expect_upload(quic *q, size_t length) {
    source one = {length};
    nc_request request = quic_request(q, "/count");
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){.ctx = &one, .pull = pull};
    request.body_length = NC_LENGTH_UNKNOWN;
    assert_response(fixture_send(&q->f, &request), 200, server_text("%zu", length));
}

static void http3__a_body_of_unknown_length_arrives_complete(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_upload(&q, 3 * MEBIBYTE + 1);
    quic_stop(&q);
}

static void http3__an_upload_waits_for_the_flow_control_window(void **state) {
    quic q;
    (void)state;
    quic_start(&q, (const char *[]){"window=4096", NULL});
    expect_upload(&q, 300000);
    quic_stop(&q);
}

static void http3__fields_are_sent_in_lower_case_without_connection_fields(void **state) {
    const nc_header headers[] = {{nc_slice_of("X-Own"), nc_slice_of("1")}};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/fields");
    request.headers = headers;
    request.header_count = 1;
    answer one = fixture_send(&q.f, &request);
    assert_body_has(&q.f, one, "x-own: 1\n");
    assert_body_has(&q.f, one, ":scheme: https\n");
    assert_body_has(&q.f, one, server_text(":authority: localhost:%u\n", q.server.port));
    assert_null(strstr(ask_body(&q.f, one), "connection"));
    assert_null(strstr(ask_body(&q.f, one), "\nhost:"));
    quic_stop(&q);
}

static void http3__large_request_heads_are_sent(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    char value[12001];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    const nc_header header = {nc_slice_of("X-Large"), nc_slice_of(value)};
    nc_request request = quic_request(&q, "/fields");
    request.headers = &header;
    request.header_count = 1;
    assert_body_has(&q.f, fixture_send(&q.f, &request), value);
    quic_stop(&q);
}

/* --- responses --- */

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

static void http3__bodies_of_any_size_arrive_unchanged(void **state) {
    static const size_t sizes[] = {0, 1, 1199, 1200, 1201, 16384, 65537, 5 * MEBIBYTE};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++) {
        expect_pattern(quic_get(&q, server_text("/bytes/%zu", sizes[i])), sizes[i]);
    }
    quic_stop(&q);
}

static void http3__a_body_without_content_length_ends_with_its_stream(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    answer one = quic_get(&q, "/bytes/100000/endless");
    expect_pattern(one, 100000);
    assert_false(nc_response_is_close_delimited(one.response));
    quic_stop(&q);
}

/// libcurl over OpenSSL's QUIC appends trailers to the body: see nc_quirk_appends_trailers().
static void http3__trailers_are_delivered_or_refused(void **state) {
    bool appends = nc_quirk_appends_trailers();
    quic q;
    (void)state;
    quic_start(&q, NULL);
    answer one = quic_get(&q, "/trailers");
    assert_response(one, 200, "body");
    assert_int_equal(nc_response_trailer_count(one.response), appends ? 0 : 2);
    one = quic_get(&q, "/trailers/announced");
    if (appends) {
        assert_ended(one, NC_ERR_BAD_RESPONSE, 8, "trailers");
    } else {
        assert_response(one, 200, "body");
        nc_header first = nc_response_trailer_at(one.response, 0);
        assert_true(nc_slice_is_equal(first.name, nc_slice_of("x-sum")));
        assert_true(nc_slice_is_equal(first.value, nc_slice_of("42")));
    }
    quic_stop(&q);
}

static void http3__interim_responses_are_skipped(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/hints/1"), 200, "after");
    assert_response(quic_get(&q, "/hints/20"), 200, "after");
    quic_stop(&q);
}

static void http3__status_codes_without_a_body_end_immediately(void **state) {
    static const unsigned codes[] = {204, 304, 200, 404, 503, 599};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_response(quic_get(&q, server_text("/status/%u", codes[i])), codes[i], "");
    }
    quic_stop(&q);
}

static void http3__coded_bodies_are_decoded(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/gzip/200000");
    request.accepts_codings = true;
    answer one = fixture_send(&q.f, &request);
    expect_pattern(one, 200000);
    nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
    assert_int_equal(hop.decoded_bytes, 200000);
    assert_true(hop.received_bytes < 10000);
    quic_stop(&q);
}

static void http3__an_early_response_ends_an_upload(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    source one = {4 * MEBIBYTE};
    nc_request request = quic_request(&q, "/early");
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){.ctx = &one, .pull = pull};
    request.body_length = one.left;
    assert_response(fixture_send(&q.f, &request), 413, "early");
    quic_stop(&q);
}

/* --- limits and cancel --- */

static void http3__the_limit_of_the_body_holds(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/bytes/1000000");
    request.limits.max_body_bytes = 1000;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_BODY_TOO_LARGE, 63, "");
    request = quic_request(&q, "/bytes/1000000/endless");
    request.limits.max_body_bytes = 1000;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_BODY_TOO_LARGE, 63, "");
    quic_stop(&q);
}

static void http3__the_limits_of_the_head_hold(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/large_head/9000");
    request.limits.max_head_bytes = 4096;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_HEAD_TOO_LARGE, 56, "");
    request = quic_request(&q, "/many_fields/50");
    request.limits.max_head_fields = 20;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_HEAD_TOO_LARGE, 56, "");
    quic_stop(&q);
}

static void http3__a_server_that_does_not_respond_exceeds_the_first_byte_limit(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/silence");
    request.limits.first_byte_ms = 100;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_FIRST_BYTE_TIMED_OUT, 28, "");
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    quic_stop(&q);
}

static void http3__a_cancelled_request_leaves_its_connection_usable(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    nc_request request = quic_request(&q, "/silence");
    nc_transfer_id id = fixture_submit(&q.f, &request);
    nc_engine_cancel(q.f.engine, id);
    assert_ended(fixture_wait(&q.f, id), NC_ERR_CANCELLED, 0, "");
    answer one = quic_get(&q, "/hello");
    assert_response(one, 200, "hello");
    assert_int_equal(quic_opened(one), 0);
    quic_stop(&q);
}

typedef struct stopper {
    nc_engine *engine;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    nc_status status;
    bool is_over;
    uint64_t bytes;
    uint64_t stops_at;
} stopper;

static nc_action stop_after(void *ctx, nc_transfer_id id, nc_slice bytes) {
    stopper *one = ctx;
    (void)id;
    one->bytes += bytes.length;
    return one->bytes >= one->stops_at ? NC_ACTION_STOP : NC_ACTION_CONTINUE;
}

static void note_over(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    stopper *one = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&one->mutex);
    one->status = error->status;
    one->is_over = true;
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->mutex);
}

static void http3__a_body_stopped_in_the_middle_leaves_its_connection_usable(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    stopper one = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .stops_at = 100000};
    const nc_sink sink = {.ctx = &one, .on_body = stop_after, .on_done = note_over};
    nc_request request = quic_request(&q, "/bytes/5000000");
    nc_transfer_id id;
    nc_error err;
    assert_status(nc_engine_submit(q.f.engine, &request, &sink, &id, &err), NC_OK);
    pthread_mutex_lock(&one.mutex);
    while (!one.is_over) {
        pthread_cond_wait(&one.changed, &one.mutex);
    }
    pthread_mutex_unlock(&one.mutex);
    assert_status(one.status, NC_ERR_STOPPED_BY_CALLER);
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    quic_stop(&q);
}

/* --- connections --- */

static void http3__concurrent_requests_share_one_connection(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    unsigned opened = quic_opened(quic_get(&q, "/hello"));
    nc_transfer_id ids[40];
    for (size_t i = 0; i < 40; i++) {
        nc_request request = quic_request(&q, "/bytes/20000");
        ids[i] = fixture_submit(&q.f, &request);
    }
    for (size_t i = 0; i < 40; i++) {
        answer one = fixture_wait(&q.f, ids[i]);
        expect_pattern(one, 20000);
        opened += quic_opened(one);
    }
    assert_int_equal(opened, 1);
    quic_stop(&q);
}

static void http3__other_choices_do_not_use_a_quic_connection(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    nc_request request = ask_for(&q.f, &q.server, "https", "/hello");
    answer one = fixture_send(&q.f, &request);
    assert_response(one, 200, "tcp");
    assert_int_equal(nc_response_hop_at(one.response, 0).quic_version, 0);
    assert_int_equal(quic_opened(quic_get(&q, "/hello")), 0); // nor the reverse
    quic_stop(&q);
}

static void http3__metrics_are_in_order(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (unsigned i = 0; i < 2; i++) {
        answer one = quic_get(&q, "/hello");
        nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
        assert_int_equal(hop.is_reused, i == 1);
        assert_int_equal(hop.remote_port, q.server.port);
        assert_string_equal(hop.remote_address, "127.0.0.1");
        assert_int_equal(hop.secured_ns > 0, i == 0);
        assert_true(hop.resolved_ns <= hop.connected_ns && hop.connected_ns <= hop.secured_ns);
        assert_true(hop.secured_ns <= hop.ready_ns && hop.ready_ns <= hop.first_byte_ns);
        assert_true(hop.first_byte_ns <= hop.ended_ns);
        assert_int_equal(hop.received_bytes, 5);
        assert_true(hop.connection_id > 0);
    }
    quic_stop(&q);
}

/* --- redirects, cookies, HSTS --- */

static void http3__redirects_are_followed(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    answer one = quic_get(&q, "/to/302/%2Fto%2F307%2F%252Fhello");
    assert_response(one, 200, "hello");
    assert_int_equal(nc_response_hop_count(one.response), 3);
    assert_int_equal(quic_opened(one), 0);
    quic_stop(&q);
}

static void http3__a_redirect_to_http_is_refused(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_ended(quic_get(&q, "/to/302/http%3A%2F%2Flocalhost%2F"), NC_ERR_REDIRECT_REFUSED, 0, "");
    nc_request request = quic_request(&q, "/to/302/http%3A%2F%2Flocalhost%2F");
    request.redirects = NC_REDIRECTS_FOLLOW_DOWNGRADE;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_UNSUPPORTED, 0, "an http URL");
    quic_stop(&q);
}

static void http3__cookies_are_stored_and_sent(void **state) {
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    assert_response(quic_get(&q, "/set/set-cookie/__Host-a=1;%20Path=%2F;%20Secure"), 200, "set");
    assert_body_has(&q.f, quic_get(&q, "/fields"), "cookie: __Host-a=1\n");
    quic_stop(&q);
}

static void http3__hsts_is_learned(void **state) {
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.uses_hsts = true});
    assert_response(quic_get(&q, "/set/strict-transport-security/max-age=600"), 200, "set");
    nc_request request = ask_for(&q.f, &q.server, "http", "/hello");
    request.http = NC_HTTP_3_ONLY; // refused for an http URL
    assert_response(fixture_send(&q.f, &request), 200, "hello");
    quic_stop(&q);
}

static const struct CMUnitTest cases[] = {
    harness_case(http3__each_method_is_sent_as_it_is),
    harness_case(http3__a_response_to_head_has_no_body),
    harness_case(http3__a_body_of_known_length_arrives_unchanged),
    harness_case(http3__an_empty_body_is_sent_with_its_length),
    harness_case(http3__a_body_of_unknown_length_arrives_complete),
    harness_case(http3__an_upload_waits_for_the_flow_control_window),
    harness_case(http3__fields_are_sent_in_lower_case_without_connection_fields),
    harness_case(http3__large_request_heads_are_sent),
    harness_case(http3__bodies_of_any_size_arrive_unchanged),
    harness_case(http3__a_body_without_content_length_ends_with_its_stream),
    harness_case(http3__trailers_are_delivered_or_refused),
    harness_case(http3__interim_responses_are_skipped),
    harness_case(http3__status_codes_without_a_body_end_immediately),
    harness_case(http3__coded_bodies_are_decoded),
    harness_case(http3__an_early_response_ends_an_upload),
    harness_case(http3__the_limit_of_the_body_holds),
    harness_case(http3__the_limits_of_the_head_hold),
    harness_case(http3__a_server_that_does_not_respond_exceeds_the_first_byte_limit),
    harness_case(http3__a_cancelled_request_leaves_its_connection_usable),
    harness_case(http3__a_body_stopped_in_the_middle_leaves_its_connection_usable),
    harness_case(http3__concurrent_requests_share_one_connection),
    harness_case(http3__other_choices_do_not_use_a_quic_connection),
    harness_case(http3__metrics_are_in_order),
    harness_case(http3__redirects_are_followed),
    harness_case(http3__a_redirect_to_http_is_refused),
    harness_case(http3__cookies_are_stored_and_sent),
    harness_case(http3__hsts_is_learned),
};

QUIC_MAIN(cases)
