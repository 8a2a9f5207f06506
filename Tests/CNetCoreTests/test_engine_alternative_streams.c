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
typedef struct places {
    fixture f;
    tls_peer origin;
    tls_peer other;
    nc_trust *trust;
    gate is_asked;
    gate may_answer;
} places;

/// Serves HTTP/1.1: the body is the target; "/slow" waits.
static void serve_targets(SSL *ssl, const tls_peer_connection *connection) {
    places *p = connection->peer->ctx;
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
        tls_frames_answer(ssl, stream);
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
static void start(places *p, const char *host, serve_fn *serve) {
    char path[] = "/tmp/netcore-altsvc-XXXXXX";
    *p = (places){.is_asked = GATE_INIT, .may_answer = GATE_INIT};
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

static void stop(places *p) {
    assert_status(nc_engine_close(p->f.engine, FIXTURE_LIMIT_MS), NC_OK);
    p->f.engine = NULL;
    tls_peer_stop(&p->origin);
    tls_peer_stop(&p->other);
    fixture_stop(&p->f);
    nc_trust_release(p->trust);
}

static nc_request request_to(places *p, const char *host, const char *path) {
    return (nc_request){
        .url = nc_slice_of(fixture_text(&p->f, "https://%s:%u%s", host, p->origin.port, path)),
        .limits = {.total_ms = 5000},
    };
}

/// libcurl keys a connection to an alternative service by the alternative host and the origin's port. An HTTP/2
/// connection there made it use a busy HTTP/1.1 connection as a multiplexed one.
static void expect_no_mixture(places *p, const nc_connect_to *override) {
    nc_request slow = request_to(p, "127.0.0.1", "/slow");
    nc_request quick = request_to(p, "127.0.0.1", "/quick");
    nc_request there = request_to(p, "localhost", "/there");
    there.connect_to = override;
    there.connect_to_count = override != NULL ? 1 : 0;
    nc_transfer_id waiting = fixture_submit(&p->f, &slow);
    gate_wait(&p->is_asked);
    assert_answered(fixture_send(&p->f, &there), 200, "hi");
    answer one = fixture_send(&p->f, &quick);
    gate_open(&p->may_answer);
    assert_answered(one, 200, "/quick");
    assert_answered(fixture_wait(&p->f, waiting), 200, "/slow");
    assert_answered(fixture_send(&p->f, &there), 200, "hi");
    assert_int_equal(atomic_load(&p->origin.count), 2);
    assert_int_equal(atomic_load(&p->other.count), 1); // the connection is kept, as others are
}

static void engine__another_place_says_nothing_of_a_host_that_is_called_like_it(void **state) {
    places p;
    (void)state;
    start(&p, "localhost", serve_streams);
    expect_no_mixture(&p, NULL);
    stop(&p);
}

static void engine__an_override_says_nothing_of_a_host_that_is_called_like_its_place(void **state) {
    places p;
    (void)state;
    start(&p, "nobody.example", serve_streams);
    const nc_connect_to place = {.to_host = nc_slice_of("127.0.0.1"), .to_port = p.other.port};
    expect_no_mixture(&p, &place);
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
    places p;
    const nc_connect_to place = {.to_host = nc_slice_of("127.0.0.1")};
    start(&p, "nobody.example", serve_streams);
    p.origin.serve = serve_either;
    p.origin.members = "121";
    nc_request slow = request_to(&p, host, "/slow");
    nc_request quick = request_to(&p, host, "/quick");
    nc_request there = request_to(&p, "another.example", "/there");
    slow.connect_to = quick.connect_to = there.connect_to = &place;
    slow.connect_to_count = quick.connect_to_count = has_override ? 1 : 0;
    there.connect_to_count = 1;
    nc_transfer_id waiting = fixture_submit(&p.f, &slow);
    gate_wait(&p.is_asked);
    answer other = fixture_send(&p.f, &there);
    answer one = fixture_send(&p.f, &quick);
    gate_open(&p.may_answer);
    answer first = fixture_wait(&p.f, waiting);
    assert_answered(other, 200, "hi");
    assert_answered(one, 200, "/quick");
    assert_answered(first, 200, "/slow");
    assert_int_equal(atomic_load(&p.origin.count), 3);
    stop(&p);
}

static void engine__a_name_says_nothing_of_another_one_that_leads_to_the_same_place(void **state) {
    (void)state;
    expect_no_mixture_of_names("127.0.0.1", false);
    expect_no_mixture_of_names("one.example", true);
}

static void engine__another_place_keeps_its_connection_whatever_the_origin_speaks(void **state) {
    places p;
    (void)state;
    start(&p, "127.0.0.1", serve_streams);
    nc_request request = request_to(&p, "127.0.0.1", "/origin");
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    request.connect_to = &here;
    request.connect_to_count = 1;
    assert_answered(fixture_send(&p.f, &request), 200, "/origin");
    request.connect_to_count = 0;
    for (int i = 0; i < 4; i++) {
        assert_answered(fixture_send(&p.f, &request), 200, "hi");
    }
    assert_int_equal(atomic_load(&p.other.count), 1);
    stop(&p);
}

static void engine__what_another_place_has_broken_off_is_not_asked_for_at_the_origin(void **state) {
    places p;
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
        harness_case(engine__another_place_says_nothing_of_a_host_that_is_called_like_it),
        harness_case(engine__an_override_says_nothing_of_a_host_that_is_called_like_its_place),
        harness_case(engine__a_name_says_nothing_of_another_one_that_leads_to_the_same_place),
        harness_case(engine__another_place_keeps_its_connection_whatever_the_origin_speaks),
        harness_case(engine__what_another_place_has_broken_off_is_not_asked_for_at_the_origin),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
