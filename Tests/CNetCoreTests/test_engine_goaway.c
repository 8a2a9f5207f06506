/// HTTP/2 servers that close (GOAWAY, RFC 9113, section 6.8) or refuse a stream (section 8.7), frame by frame, with
/// and without TLS.
///
/// Over TLS, the engine reads the frames, and they show whether a request was not processed. Such a request is resent.
/// Any other request is resent only if it is idempotent.
#include "fixture.h"
#include "frames.h"
#include "gate.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <curl/curl.h>
#include <string.h>

enum { MAX_FRAMES = 8 };

static const frame answer_of_2[] = {HEADERS(OK_OF_2), LAST_DATA("hi"), {0}};

/// A body of `left` bytes that cannot be rewound.
static nc_pull pull_once(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    size_t *left = ctx;
    (void)id;
    *filled = *left < capacity ? *left : capacity;
    memset(bytes, 'x', *filled);
    *left -= *filled;
    return *left == 0 ? NC_PULL_END : NC_PULL_MORE;
}

/// The request of a test.
typedef struct test_request {
    const char *method;
    const char *body;
    bool is_one_shot;
    bool is_secure; // always over TLS
} test_request;

static answer send_request(fixture *f, const frame *row, size_t refusals, const test_request *requests,
                           unsigned *served) {
    bool is_secure = requests->is_secure || frame_is_open(&row[0]);
    frame_server server = {.upload_bytes = requests->is_one_shot ? 1 : 0, .is_secure = is_secure};
    size_t left = 30000;
    for (size_t i = 0; i < refusals; i++) {
        server.rows[i] = row;
    }
    server.rows[refusals] = answer_of_2;
    frame_server_start(&server);
    nc_request request = {
        .url = nc_slice_of(fixture_text(f, "http%s://127.0.0.1:%u/", is_secure ? "s" : "", server.port)),
        .method = nc_slice_of(requests->method),
        .body = nc_slice_of(requests->body),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
    };
    if (requests->is_one_shot) {
        request.body_source = (nc_body_source){.pull = pull_once, .ctx = &left};
        request.body_length = left;
    }
    answer got = fixture_send(f, &request);
    frame_server_stop(&server);
    *served = atomic_load(&server.served);
    return got;
}

static void goaway__lets_the_response_of_its_last_stream_arrive(void **state) {
    static const frame rows[][MAX_FRAMES] = {
        {GOAWAY("\1", "\0"), HEADERS(OK_OF_2), LAST_DATA("hi"), {0}},
        {GOAWAY("\1", "\0"), PING, HEADERS(OK_OF_2), PING, LAST_DATA("hi"), {0}},
        {HEADERS(OK_OF_2), GOAWAY("\1", "\0"), LAST_DATA("hi"), {0}},
        {HEADERS(OK_OF_2), PING, GOAWAY("\1", "\0"), PING, DATA("h"), PING, LAST_DATA("i"), {0}},
        {HEADERS(OK_OPEN), PING, GOAWAY("\1", "\0"), PING, DATA("h"), PING, LAST_DATA("i"), {0}},
        {HEADERS(OK_OPEN), LAST_DATA("hi"), GOAWAY("\1", "\0"), {0}},
        {HEADERS(TOLD_OF_2), GOAWAY("\1", "\0"), DATA("hi"), PING, LAST_HEADERS(TRAILER), {0}},
        {HEADERS(OK_OF_2), GOAWAY("\1", "\0"), PING, LAST_DATA("hi"), PING, RESET("\0"), {0}},
        // A GOAWAY with an error code does not end the responses.
        {GOAWAY("\1", "\x0b"), HEADERS(OK_OF_2), LAST_DATA("hi"), {0}},
    };
    static const test_request requests[] = {
        {"GET", "", false, false}, {"POST", "hello", false, false}, {"PUT", "", true, false}};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t kind = 0; kind < sizeof requests / sizeof *requests; kind++) {
            unsigned served = 0;
            answer got = send_request(&f, rows[i], 1, &requests[kind], &served);
            if (got.error.status != NC_OK) {
                fail_msg("row %zu, %s: %s", i, requests[kind].method, got.error.message);
            }
            assert_response(got, 200, "hi");
        }
    }
    fixture_stop(&f);
}

static const test_request put_once = {"PUT", "", true, false};
static const test_request secure_put_once = {"PUT", "", true, true};
static const frame went_away[][MAX_FRAMES] = {
    {GOAWAY("\0", "\0"), {0}},
    {PING, GOAWAY("\0", "\0"), {0}},
    {GOAWAY("\0", "\x0b"), {0}},
};
static const frame refused[][MAX_FRAMES] = {
    {RESET("\7"), {0}},
    {PING, RESET("\7"), {0}},
};

static void assert_end(fixture *f, const frame *row, size_t refusals, const test_request *requests, nc_status status,
                       unsigned served) {
    unsigned seen = 0;
    assert_status(send_request(f, row, refusals, requests, &seen).error.status, status);
    assert_int_equal(seen, served);
}

static void assert_resent(fixture *f, const frame *row, const test_request *requests) {
    unsigned served = 0;
    answer got = send_request(f, row, 1, requests, &served);
    assert_response(got, 200, "hi");
    assert_int_equal(served, 2);
    assert_int_equal(nc_response_hop_count(got.response), 1);
}

static void goaway__before_a_request_was_processed_causes_a_resend(void **state) {
    static const test_request requests[] = {
        {"GET", "", false, false},
        {"PUT", "hello", false, false},
        {"DELETE", "", false, false},
        {"GET", "", false, true},
    };
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i + 1 < sizeof went_away / sizeof *went_away; i++) {
        for (size_t kind = 0; kind < sizeof requests / sizeof *requests; kind++) {
            assert_resent(&f, went_away[i], &requests[kind]);
        }
    }
    fixture_stop(&f);
}

static void goaway__is_retried_five_times_and_then_an_error(void **state) {
    static const test_request requests = {"GET", "", false, false};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < sizeof went_away / sizeof *went_away; i++) {
        for (unsigned refusals = 5; refusals <= 6; refusals++) {
            assert_end(&f, went_away[i], refusals, &requests, refusals == 5 ? NC_OK : NC_ERR_HTTP2, 6);
        }
    }
    fixture_stop(&f);
}

/// Without TLS the reason of a stream's end is unknown.
static void goaway__without_tls_resends_no_non_idempotent_request(void **state) {
    static const test_request requests[] = {{"POST", "hello", false, false}, {"PATCH", "hello", false, false}};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t kind = 0; kind < sizeof requests / sizeof *requests; kind++) {
        for (size_t i = 0; i < sizeof went_away / sizeof *went_away; i++) {
            assert_end(&f, went_away[i], 1, &requests[kind], NC_ERR_HTTP2, 1);
        }
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
            assert_end(&f, refused[i], 1, &requests[kind], NC_ERR_HTTP2, 1);
        }
    }
    fixture_stop(&f);
}

/// REFUSED_STREAM, and GOAWAY with a lower last stream, show that the request was not processed, for any method.
static void goaway__resends_any_unprocessed_request(void **state) {
    static const test_request requests[] = {
        {"POST", "hello", false, true}, {"PATCH", "hello", false, true}, {"POST", "", false, true}};
    static const frame *const rows[] = {went_away[0], went_away[1], refused[0], refused[1]};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t kind = 0; kind < sizeof requests / sizeof *requests; kind++) {
            assert_resent(&f, rows[i], &requests[kind]);
        }
        nc_status status = send_request(&f, rows[i], 1, &secure_put_once, &(unsigned){0}).error.status;
        assert_true(status == NC_ERR_NOT_REWINDABLE || status == NC_ERR_HTTP2);
    }
    fixture_stop(&f);
}

/// A stream that the server may have processed, and one that it resets for another reason.
static void goaway__never_resends_a_request_that_may_have_been_processed(void **state) {
    static const test_request requests = {"POST", "hello", false, true};
    static const frame rows[][MAX_FRAMES] = {
        {GOAWAY("\1", "\0"), RESET("\0"), {0}},
        {PING, GOAWAY("\1", "\2"), RESET("\2"), {0}},
        {RESET("\2"), {0}},
        {PING, RESET("\x08"), {0}},
        {HEADERS(OK_OF_2), PING, RESET("\7"), {0}},
    };
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned served = 0;
        nc_error err = send_request(&f, rows[i], 1, &requests, &served).error;
        if (err.status == NC_OK || served != 1) {
            fail_msg("row %zu: %s (%s), %u", i, nc_status_name(err.status), err.message, served);
        }
    }
    fixture_stop(&f);
}

static void goaway__a_refused_stream_is_resent_with_or_without_goaway(void **state) {
    static const test_request requests[] = {{"GET", "", false, false}, {"GET", "", false, true}};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < 2 * sizeof refused / sizeof *refused; i++) {
        const frame *row = refused[i / 2];
        assert_resent(&f, row, &requests[i % 2]);
        unsigned served = 0; // depends on libcurl's version
        nc_error err = send_request(&f, row, FRAME_ROWS - 1, &requests[i % 2], &served).error;
        if (err.status != NC_ERR_HTTP2 || strstr(err.message, "REFUSED_STREAM") == NULL) {
            fail_msg("row %zu: %s (%s), %u", i, nc_status_name(err.status), err.message, served);
        }
    }
    assert_end(&f, refused[0], 1, &put_once, NC_ERR_NOT_REWINDABLE, 1);
    // After the response head, REFUSED_STREAM is not valid.
    static const frame late[] = {HEADERS(OK_OPEN), PING, RESET("\7"), {0}};
    assert_end(&f, late, 1, &requests[0], NC_ERR_HTTP2, 1);
    fixture_stop(&f);
}

/// An overloaded server does not receive an immediate resend (RFC 9113, section 7). Without TLS the reason is
/// unknown.
static void goaway__enhance_your_calm_is_an_error_of_one_connection(void **state) {
    static const frame rows[][MAX_FRAMES] = {
        {GOAWAY("\0", "\x0b"), {0}},
        {PING, GOAWAY("\0", "\x0b"), {0}},
        {PING, GOAWAY("\0", "\0"), GOAWAY("\0", "\x0b"), {0}},
    };
    static const char *const methods[] = {"GET", "PUT", "POST"};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < 3 * sizeof rows / sizeof *rows; i++) {
        frame_server server = {.rows = {rows[i / 3], rows[i / 3], answer_of_2}, .is_secure = true};
        frame_server_start(&server);
        const nc_request request = {
            .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", server.port)),
            .method = nc_slice_of(methods[i % 3]),
            .body = nc_slice_of(i % 3 == 0 ? "" : "hello"),
        };
        assert_ended(fixture_send(&f, &request), NC_ERR_HTTP2, CURLE_HTTP2, "ENHANCE_YOUR_CALM");
        assert_int_equal(atomic_load(&server.connections[1]), -1);
        // Later requests are sent: the second connection ends like the first, and the third sends a response.
        assert_status(fixture_send(&f, &request).error.status, NC_ERR_HTTP2);
        assert_response(fixture_send(&f, &request), 200, "hi");
        frame_server_stop(&server);
    }
    fixture_stop(&f);
}

/* --- GOAWAY with a response --- */

/// How the server closes. If `is_exclusive`, it writes GOAWAY separately after the response, otherwise in one write
/// with it. If `closes`, it then sends close_notify.
typedef struct closing_server {
    bool is_exclusive;
    bool closes;
    atomic_uint late; // requests on a connection after its GOAWAY
} closing_server;

static void serve_and_leave(SSL *ssl, const tls_peer_connection *connection) {
    static const char bytes[] = SETTINGS FIRST_ANSWER FRAME_HEAD("\x08", "\7", "\0", "\0") "\0\0\0\1\0\0\0\0";
    closing_server *how = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    int first = how->is_exclusive ? (int)sizeof bytes - 1 - 17 : (int)sizeof bytes - 1;
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) < 0) {
        return;
    }
    (void)SSL_write(ssl, bytes, first);
    if (how->is_exclusive) {
        (void)SSL_write(ssl, bytes + first, 17);
    }
    if (how->closes) {
        (void)SSL_shutdown(ssl);
    }
    while (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) > 0) {
        atomic_fetch_add(&how->late, 1);
    }
}

static void goaway__with_a_response_makes_the_next_request_use_a_new_connection(void **state) {
    static const char *const methods[] = {"GET", "POST", "PUT"};
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        fixture f;
        closing_server how = {.is_exclusive = i % 2 != 0, .closes = i / 2 % 2 != 0};
        tls_peer peer = {.serve = serve_and_leave, .members = "2", .ctx = &how};
        fixture_start_trusting_all(&f);
        tls_peer_start(&peer);
        const nc_request request = {
            .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
            .method = nc_slice_of(methods[i / 4]),
        };
        for (size_t k = 1; k <= 3; k++) {
            answer one = fixture_send(&f, &request);
            assert_response(one, 200, "hi");
            assert_int_equal(nc_response_hop_count(one.response), 1);
            assert_int_equal(atomic_load(&peer.count), k);
        }
        fixture_stop(&f);
        tls_peer_stop(&peer);
        assert_true(how.is_exclusive || atomic_load(&how.late) == 0); // else the next request may cross the GOAWAY
    }
}

/// The engine abandons the first connection while one of its streams waits.
typedef struct crossing {
    gate is_left;
    gate may_answer;
} crossing;

static void serve_and_cross(SSL *ssl, const tls_peer_connection *connection) {
    static const char leaves[] = SETTINGS FRAME_HEAD("\x08", "\7", "\0", "\0") "\0\0\0\1\0\0\0\0" FRAME_HEAD(
        "\x08", "\6", "\0", "\0") "12345678";
    crossing *at = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    int stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
    if (stream < 0) {
        return;
    }
    if (connection->index == 0) {
        (void)SSL_write(ssl, leaves, sizeof leaves - 1);
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING);
        gate_open(&at->is_left);
        gate_wait(&at->may_answer);
    } else {
        (void)SSL_write(ssl, SETTINGS, sizeof SETTINGS - 1);
    }
    tls_frames_respond(ssl, stream);
    (void)tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
}

static void goaway__lets_a_stream_in_flight_finish_while_new_ones_use_another_connection(void **state) {
    fixture f;
    crossing at = {.is_left = GATE_INIT, .may_answer = GATE_INIT};
    tls_peer peer = {.serve = serve_and_cross, .members = "2", .ctx = &at};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
        .method = nc_slice_of("POST"),
        .limits = {.total_ms = 5000},
    };
    nc_transfer_id waiting = fixture_submit(&f, &request);
    gate_wait(&at.is_left);
    answer other = fixture_send(&f, &request);
    gate_open(&at.may_answer);
    assert_response(other, 200, "hi");
    assert_response(fixture_wait(&f, waiting), 200, "hi");
    assert_int_equal(atomic_load(&peer.count), 2);
    fixture_stop(&f);
    tls_peer_stop(&peer);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(goaway__lets_the_response_of_its_last_stream_arrive),
        harness_case(goaway__before_a_request_was_processed_causes_a_resend),
        harness_case(goaway__is_retried_five_times_and_then_an_error),
        harness_case(goaway__without_tls_resends_no_non_idempotent_request),
        harness_case(goaway__resends_any_unprocessed_request),
        harness_case(goaway__never_resends_a_request_that_may_have_been_processed),
        harness_case(goaway__a_refused_stream_is_resent_with_or_without_goaway),
        harness_case(goaway__with_a_response_makes_the_next_request_use_a_new_connection),
        harness_case(goaway__lets_a_stream_in_flight_finish_while_new_ones_use_another_connection),
        harness_case(goaway__enhance_your_calm_is_an_error_of_one_connection),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
