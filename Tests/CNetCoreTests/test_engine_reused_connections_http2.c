/// Pooled HTTP/2 connections that break, end or fall silent: which requests are resent, and that no request waits on
/// a dead connection without end.
#include "fixture.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <curl/curl.h>
#include <string.h>
#include <sys/socket.h>

typedef enum ending {
    IS_RESET,
    IS_CLOSED,
    IS_LEFT_OPEN, // TLS is closed, but not the socket
    IS_SILENT,
    IS_FULL, // accepts no more streams, and announces that before its response
    IS_REFUSED,
    IS_DEAD, // silent from then on
    IS_BUSY, // silent on two streams, but active on others
} ending;

/// A peer that serves the first request of its first connection, and ends that connection at the second request.
/// Further connections serve their requests, or refuse them too.
typedef struct ending_peer {
    fixture f;
    tls_peer peer;
    ending ending;
    atomic_bool has_body; // of the next request; the ending follows it
    atomic_uint request_count;
    atomic_int last; // index of the first connection's last request
} ending_peer;

/// libcurl 8 reports another error for the end of a connection, and does not end its other streams.
static bool is_newer(void) {
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000;
}

static void end_connection(SSL *ssl, ending how) {
    char rest[256];
    int fd = SSL_get_fd(ssl);
    if (how == IS_RESET) {
        const struct linger sends_body_immediately = {.l_onoff = 1, .l_linger = 0};
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &sends_body_immediately, sizeof sends_body_immediately),
                         0);
        return;
    }
    (void)SSL_shutdown(ssl);
    if (how != IS_LEFT_OPEN) {
        (void)shutdown(fd, SHUT_WR);
    }
    while (recv(fd, rest, sizeof rest, 0) > 0) {
    }
}

static void refuse(SSL *ssl, int stream) {
    char frame[] = FRAME_HEAD("\4", "\3", "\0", "\1") "\0\0\0\7";
    frame[8] = (char)stream;
    (void)SSL_write(ssl, frame, sizeof frame - 1);
}

/// Leaves two streams without a response and serves the others. Sends a PING while no request arrives, so that the
/// connection is active.
static void serve_busily(SSL *ssl, tls_frames *frames, ending_peer *s) {
    static const char greeting[] = FRAME_HEAD("\10", "\6", "\0", "\0") "12345678";
    const struct timeval soon = {.tv_usec = 10000};
    int waiting = 2;
    assert_int_equal(setsockopt(SSL_get_fd(ssl), SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
    while (true) {
        int stream = tls_frames_find(frames, ssl, TLS_FRAME_HEADERS);
        if (stream > 0) {
            atomic_fetch_add(&s->request_count, 1);
            waiting > 0 ? waiting-- : tls_frames_respond(ssl, stream);
        } else if (SSL_get_error(ssl, stream) != SSL_ERROR_WANT_READ ||
                   SSL_write(ssl, greeting, sizeof greeting - 1) <= 0) {
            return;
        }
    }
}

static void serve(SSL *ssl, const tls_peer_connection *connection) {
    static const char no_more[] = FRAME_HEAD("\6", "\4", "\0", "\0") "\0\3\0\0\0\0";
    ending_peer *s = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    int stream = 0;
    (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
    for (int i = 0; (stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS)) > 0; i++) {
        bool is_last = connection->index == 0 && i == atomic_load(&s->last);
        // A held response is sent at the next request, or never.
        bool is_held = connection->index == 0 && i > 0 && (i < atomic_load(&s->last) || i == 1 || s->ending == IS_DEAD);
        if (atomic_load(&s->has_body)) {
            (void)tls_frames_find(&frames, ssl, TLS_FRAME_DATA);
        }
        atomic_fetch_add(&s->request_count, 1);
        if (s->ending == IS_REFUSED && (is_last || connection->index > 0)) {
            refuse(ssl, stream);
            continue;
        }
        if (is_last && s->ending <= IS_LEFT_OPEN) {
            end_connection(ssl, s->ending);
            return;
        }
        if (connection->index == 0 && i == 0 && s->ending == IS_FULL) {
            (void)SSL_write(ssl, no_more, sizeof no_more - 1);
        }
        if (!is_last && !is_held) {
            tls_frames_respond(ssl, stream);
        }
        if (connection->index == 0 && s->ending == IS_BUSY) {
            serve_busily(ssl, &frames, s);
            return;
        }
    }
}

static answer send_request(ending_peer *s, const char *method, nc_limits limits) {
    bool has_body = strcmp(method, "GET") != 0;
    atomic_store(&s->has_body, has_body);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&s->f, "https://127.0.0.1:%u/", s->peer.port)),
        .method = nc_slice_of(method),
        .body = nc_slice_of(has_body ? "hello" : ""),
        .limits = limits,
    };
    return fixture_send(&s->f, &request);
}

/// Makes the engine keep a connection.
static void start(ending_peer *s, ending how) {
    *s = (ending_peer){.ending = how, .last = 1};
    s->peer = (tls_peer){.serve = serve, .members = "2", .ctx = s};
    tls_peer_start(&s->peer);
    fixture_start_trusting_all(&s->f);
    assert_response(send_request(s, "GET", (nc_limits){0}), 200, "hi");
    assert_int_equal(atomic_load(&s->request_count), 1);
}

static void stop(ending_peer *s) {
    assert_status(nc_engine_close(s->f.engine, FIXTURE_LIMIT_MS), NC_OK);
    s->f.engine = NULL;
    tls_peer_stop(&s->peer);
    fixture_stop(&s->f);
}

static void reused_http2__a_post_is_sent_once_when_the_connection_ends(void **state) {
    (void)state;
    for (ending how = IS_RESET; how <= IS_CLOSED; how++) {
        ending_peer s;
        start(&s, how);
        nc_status status = send_request(&s, "POST", (nc_limits){0}).error.status;
        assert_status(status, how == IS_RESET ? NC_ERR_RESET : is_newer() ? NC_ERR_HTTP2 : NC_ERR_EMPTY_REPLY);
        assert_true(nc_status_is_retryable(status));
        assert_int_equal(atomic_load(&s.request_count), 2);
        assert_response(send_request(&s, "POST", (nc_limits){0}), 200, "hi");
        stop(&s);
    }
}

static void reused_http2__safe_requests_are_resent_when_the_connection_ends(void **state) {
    static const char *const methods[] = {"GET", "PUT", "DELETE"};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        ending_peer s;
        start(&s, i % 2 == 0 ? IS_RESET : IS_CLOSED);
        answer one = send_request(&s, methods[i / 2], (nc_limits){0});
        assert_response(one, 200, "hi");
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_int_equal(atomic_load(&s.request_count), 3);
        assert_int_equal(atomic_load(&s.peer.count), 2);
        stop(&s);
    }
}

static void reused_http2__a_timed_out_stream_is_the_last_of_its_silent_connection(void **state) {
    static const struct {
        nc_limits limits;
        nc_status status;
    } cases[] = {
        {{.first_byte_ms = 200}, NC_ERR_FIRST_BYTE_TIMED_OUT},
        {{.total_ms = 200}, NC_ERR_TOTAL_TIMED_OUT},
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        ending_peer s;
        start(&s, i < 2 ? IS_SILENT : IS_FULL);
        nc_status status = send_request(&s, "GET", cases[i % 2].limits).error.status;
        // libcurl 8.21 opens a new connection when the server accepts no more streams.
        if (!(is_newer() && s.ending == IS_FULL && status == NC_OK)) {
            assert_status(status, cases[i % 2].status);
        }
        assert_response(send_request(&s, "POST", (nc_limits){.total_ms = 5000}), 200, "hi");
        assert_response(send_request(&s, "GET", (nc_limits){.total_ms = 5000}), 200, "hi");
        assert_int_equal(atomic_load(&s.peer.count), 2);
        stop(&s);
    }
}

/// Like a connection that a middlebox has dropped without notice. Some request is always in flight on it.
static void reused_http2__a_dead_connection_is_abandoned_although_other_streams_wait_on_it(void **state) {
    (void)state;
    for (ending how = IS_DEAD; how <= IS_BUSY; how++) {
        ending_peer s;
        start(&s, how);
        const nc_request patient = {.url = nc_slice_of(fixture_text(&s.f, "https://127.0.0.1:%u/", s.peer.port))};
        nc_transfer_id waits = fixture_submit(&s.f, &patient);
        assert_status(send_request(&s, "GET", (nc_limits){.first_byte_ms = 200}).error.status,
                      NC_ERR_FIRST_BYTE_TIMED_OUT);
        for (size_t i = 0; i < 3; i++) {
            assert_response(send_request(&s, "GET", (nc_limits){.total_ms = 5000}), 200, "hi");
        }
        // If the server is silent on some streams and active on others, the connection stays in use.
        assert_int_equal(atomic_load(&s.peer.count), how == IS_DEAD ? 2 : 1);
        nc_engine_cancel(s.f.engine, waits);
        assert_status(fixture_wait(&s.f, waits).error.status, NC_ERR_CANCELLED);
        stop(&s);
    }
}

/// Callers cancel or have limits shorter than the engine's.
static void reused_http2__a_cancelled_stream_is_the_last_of_its_dead_connection(void **state) {
    static const struct {
        ending how;
        size_t waiting;
        unsigned connections;
    } cases[] = {{IS_DEAD, 1, 2}, {IS_DEAD, 2, 2}, {IS_BUSY, 2, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_transfer_id ids[2];
        nc_response *none = NULL;
        ending_peer s;
        start(&s, cases[i].how);
        const nc_request patient = {.url = nc_slice_of(fixture_text(&s.f, "https://127.0.0.1:%u/", s.peer.port))};
        for (size_t k = 0; k < cases[i].waiting; k++) {
            ids[k] = fixture_submit(&s.f, &patient);
        }
        assert_status(nc_engine_wait(s.f.engine, ids[0], 1200, &none, NULL), NC_ERR_WAIT_TIMED_OUT);
        nc_engine_cancel(s.f.engine, ids[0]);
        assert_status(fixture_wait(&s.f, ids[0]).error.status, NC_ERR_CANCELLED);
        assert_response(send_request(&s, "GET", (nc_limits){.total_ms = 5000}), 200, "hi");
        assert_int_equal(atomic_load(&s.peer.count), cases[i].connections);
        for (size_t k = 1; k < cases[i].waiting; k++) {
            nc_engine_cancel(s.f.engine, ids[k]);
            assert_status(fixture_wait(&s.f, ids[k]).error.status, NC_ERR_CANCELLED);
        }
        stop(&s);
    }
}

static void reused_http2__all_streams_end_when_their_connection_ends(void **state) {
    (void)state;
    for (ending how = IS_RESET; how <= IS_LEFT_OPEN; how++) {
        nc_transfer_id ids[3];
        ending_peer s;
        start(&s, how);
        atomic_store(&s.last, 3);
        const nc_request request = {
            .url = nc_slice_of(fixture_text(&s.f, "https://127.0.0.1:%u/", s.peer.port)),
            .method = nc_slice_of("POST"),
            .limits = {.total_ms = 5000},
        };
        for (size_t i = 0; i < 3; i++) {
            ids[i] = fixture_submit(&s.f, &request);
        }
        for (size_t i = 0; i < 3; i++) {
            nc_status status = fixture_wait(&s.f, ids[i]).error.status;
            if (!nc_status_is_retryable(status) || status == NC_ERR_TOTAL_TIMED_OUT) {
                fail_msg("ending %d, request %zu: %s", (int)how, i, nc_status_name(status));
            }
        }
        assert_int_equal(atomic_load(&s.request_count), 4);
        stop(&s);
    }
}

static void reused_http2__a_stream_that_is_always_refused_is_an_error(void **state) {
    static const char *const methods[] = {"GET", "POST"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        ending_peer s;
        start(&s, IS_REFUSED);
        answer one = send_request(&s, methods[i], (nc_limits){0});
        assert_status(one.error.status, NC_ERR_HTTP2);
        assert_non_null(strstr(one.error.message, "REFUSED_STREAM"));
        assert_in_range(atomic_load(&s.request_count), 3, 12); // the exact number depends on libcurl
        stop(&s);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(reused_http2__a_post_is_sent_once_when_the_connection_ends),
        harness_case(reused_http2__safe_requests_are_resent_when_the_connection_ends),
        harness_case(reused_http2__a_timed_out_stream_is_the_last_of_its_silent_connection),
        harness_case(reused_http2__a_dead_connection_is_abandoned_although_other_streams_wait_on_it),
        harness_case(reused_http2__a_cancelled_stream_is_the_last_of_its_dead_connection),
        harness_case(reused_http2__all_streams_end_when_their_connection_ends),
        harness_case(reused_http2__a_stream_that_is_always_refused_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
