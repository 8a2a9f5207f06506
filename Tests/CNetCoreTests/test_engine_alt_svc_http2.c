/// An alternative service (RFC 7838) with HTTP/2 for an origin without it. They share no connections.
#include "fixture.h"
#include "gate.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <curl/curl.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// An origin, and an alternative service that an engine reads from a file.
typedef struct two_servers {
    fixture f;
    tls_peer origin;
    tls_peer other;
    nc_trust *trust;
    gate is_asked;
    gate may_answer;
} two_servers;

/// Serves HTTP/1.1: the body is the target; "/slow" waits.
static void serve_targets(SSL *ssl, const tls_peer_connection *connection) {
    two_servers *p = connection->peer->ctx;
    char head[4096];
    while (tls_peer_read_to(ssl, head, sizeof head, "\r\n\r\n")) {
        char target[16] = "";
        char reply[128];
        assert_int_equal(sscanf(head, "GET %15s ", target), 1);
        if (strcmp(target, "/slow") == 0) {
            gate_open(&p->is_asked);
            gate_wait(&p->may_answer);
        }
        int count =
            snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(target), target);
        (void)SSL_write(ssl, reply, count);
    }
}

static void serve_streams(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    int stream = 0;
    (void)connection;
    (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
    while ((stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS)) > 0) {
        tls_frames_respond(ssl, stream);
    }
}

/// Sends half a response, then HTTP_1_1_REQUIRED (RFC 9113, section 7).
static void serve_half(SSL *ssl, const tls_peer_connection *connection) {
    static const char half[] =
        OK_HEAD("\1") FRAME_HEAD("\2", "\0", "\0", "\1") "hi" FRAME_HEAD("\x08", "\6", "\0", "\0") "12345678";
    static const char reset[] = FRAME_HEAD("\4", "\3", "\0", "\1") "\0\0\0\x0d";
    tls_frames frames = TLS_FRAMES_INIT;
    (void)connection;
    (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 1) {
        (void)SSL_write(ssl, half, sizeof half - 1);
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING); // shows that the first half was read
        (void)SSL_write(ssl, reset, sizeof reset - 1);
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
    }
}

typedef void serve_fn(SSL *ssl, const tls_peer_connection *connection);

/// `host` is the origin's name in the Alt-Svc entry.
static void start(two_servers *p, const char *host, serve_fn *serve) {
    char path[] = "/tmp/netcore-altsvc-XXXXXX";
    *p = (two_servers){.is_asked = GATE_INIT, .may_answer = GATE_INIT};
    p->origin = (tls_peer){.serve = serve_targets, .members = "1", .ctx = p};
    p->other = (tls_peer){.serve = serve, .members = "2"};
    tls_peer_start(&p->origin);
    tls_peer_start(&p->other);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(
        dprintf(fd, "h2 %s %u h2 127.0.0.1 %u \"20990101 00:00:00\" 0 0\n", host, p->origin.port, p->other.port) > 0);
    assert_int_equal(close(fd), 0);
    const nc_trust_options anybody = {.accepts_anything = true};
    assert_status(nc_trust_new(&p->trust, &anybody, NULL), NC_OK);
    const nc_engine_options options = {.trust = p->trust, .uses_alt_svc = true, .alt_svc_file = nc_slice_of(path)};
    fixture_start_with(&p->f, NULL, &options);
    assert_int_equal(unlink(path), 0);
}

static void stop(two_servers *p) {
    assert_status(nc_engine_close(p->f.engine, FIXTURE_LIMIT_MS), NC_OK);
    p->f.engine = NULL;
    tls_peer_stop(&p->origin);
    tls_peer_stop(&p->other);
    fixture_stop(&p->f);
    nc_trust_release(p->trust);
}

static nc_request request_to(two_servers *p, const char *host, const char *path) {
    return (nc_request){
        .url = nc_slice_of(fixture_text(&p->f, "https://%s:%u%s", host, p->origin.port, path)),
        .limits = {.total_ms = 5000},
    };
}

/// libcurl finds pooled connections to an alternative service by the alternative host and the origin's port. If one of
/// them used HTTP/2, libcurl used a busy HTTP/1.1 connection of the same key as a multiplexed one.
static void expect_no_mixture(two_servers *p, const nc_connect_to *override) {
    nc_request slow = request_to(p, "127.0.0.1", "/slow");
    nc_request quick = request_to(p, "127.0.0.1", "/quick");
    nc_request there = request_to(p, "localhost", "/there");
    there.connect_to = override;
    there.connect_to_count = override != NULL ? 1 : 0;
    nc_transfer_id waiting = fixture_submit(&p->f, &slow);
    gate_wait(&p->is_asked);
    assert_response(fixture_send(&p->f, &there), 200, "hi");
    answer one = fixture_send(&p->f, &quick);
    gate_open(&p->may_answer);
    assert_response(one, 200, "/quick");
    assert_response(fixture_wait(&p->f, waiting), 200, "/slow");
    assert_response(fixture_send(&p->f, &there), 200, "hi");
    assert_int_equal(atomic_load(&p->origin.count), 2);
    assert_int_equal(atomic_load(&p->other.count), 1); // the connection is kept, as others are
}

static void engine__http2_at_an_alternative_service_is_not_assumed_for_a_host_of_that_name(void **state) {
    two_servers p;
    (void)state;
    start(&p, "localhost", serve_streams);
    expect_no_mixture(&p, NULL);
    stop(&p);
}

static void engine__http2_at_a_connect_to_target_is_not_assumed_for_a_host_of_that_name(void **state) {
    two_servers p;
    (void)state;
    start(&p, "nobody.example", serve_streams);
    const nc_connect_to route = {.to_host = nc_slice_of("127.0.0.1"), .to_port = p.other.port};
    expect_no_mixture(&p, &route);
    stop(&p);
}

/// Serves HTTP/1.1, or HTTP/2 if the connection negotiated it.
static void serve_either(SSL *ssl, const tls_peer_connection *connection) {
    if (connection->peer->members[connection->index] == '2') {
        serve_streams(ssl, connection);
    } else {
        serve_targets(ssl, connection);
    }
}

/// `host` uses HTTP/1.1, then another name for the same address and port uses HTTP/2.
static void expect_no_mixture_of_names(const char *host, bool has_override) {
    two_servers p;
    const nc_connect_to route = {.to_host = nc_slice_of("127.0.0.1")};
    start(&p, "nobody.example", serve_streams);
    p.origin.serve = serve_either;
    p.origin.members = "121";
    nc_request slow = request_to(&p, host, "/slow");
    nc_request quick = request_to(&p, host, "/quick");
    nc_request there = request_to(&p, "another.example", "/there");
    slow.connect_to = quick.connect_to = there.connect_to = &route;
    slow.connect_to_count = quick.connect_to_count = has_override ? 1 : 0;
    there.connect_to_count = 1;
    nc_transfer_id waiting = fixture_submit(&p.f, &slow);
    gate_wait(&p.is_asked);
    answer other = fixture_send(&p.f, &there);
    answer one = fixture_send(&p.f, &quick);
    gate_open(&p.may_answer);
    answer first = fixture_wait(&p.f, waiting);
    assert_response(other, 200, "hi");
    assert_response(one, 200, "/quick");
    assert_response(first, 200, "/slow");
    assert_int_equal(atomic_load(&p.origin.count), 3);
    stop(&p);
}

static void engine__alt_svc_http2_support_is_not_assumed_for_another_host_at_the_same_address(void **state) {
    (void)state;
    expect_no_mixture_of_names("127.0.0.1", false);
    expect_no_mixture_of_names("one.example", true);
}

static void engine__an_alternative_service_reuses_its_connection_for_any_origin_protocol(void **state) {
    two_servers p;
    (void)state;
    start(&p, "127.0.0.1", serve_streams);
    nc_request request = request_to(&p, "127.0.0.1", "/origin");
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    request.connect_to = &here;
    request.connect_to_count = 1;
    assert_response(fixture_send(&p.f, &request), 200, "/origin");
    request.connect_to_count = 0;
    for (int i = 0; i < 4; i++) {
        assert_response(fixture_send(&p.f, &request), 200, "hi");
    }
    assert_int_equal(atomic_load(&p.other.count), 1);
    stop(&p);
}

static void engine__a_response_reset_by_the_alternative_service_is_not_retried_at_the_origin(void **state) {
    two_servers p;
    (void)state;
    start(&p, "127.0.0.1", serve_half);
    p.other.members = "21"; // the resent request uses HTTP/1.1
    nc_request request = request_to(&p, "127.0.0.1", "/x");
    answer one = fixture_send(&p.f, &request);
    assert_ended(one, NC_ERR_HTTP2, CURLE_HTTP2_STREAM, "");
    assert_slice_equals(nc_response_body(one.response), "hi");
    assert_int_equal(atomic_load(&p.origin.count), 0);
    stop(&p);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__http2_at_an_alternative_service_is_not_assumed_for_a_host_of_that_name),
        harness_case(engine__http2_at_a_connect_to_target_is_not_assumed_for_a_host_of_that_name),
        harness_case(engine__alt_svc_http2_support_is_not_assumed_for_another_host_at_the_same_address),
        harness_case(engine__an_alternative_service_reuses_its_connection_for_any_origin_protocol),
        harness_case(engine__a_response_reset_by_the_alternative_service_is_not_retried_at_the_origin),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
