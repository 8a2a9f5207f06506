/// A server may send bytes together with its half of the handshake, before the request, and then send nothing more.
/// libcurl waits for the socket to become readable. If OpenSSL read ahead (which would save a dozen system calls per
/// handshake), these bytes would no longer be in the socket, and libcurl would wait without end.
#include "fixture.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <string.h>

/// Requests a page from a server that has sent early bytes.
static void assert_response_arrives(const tls_peer *connection_peer) {
    tls_peer peer = *connection_peer;
    fixture f;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
                          .limits = {.total_ms = FIXTURE_LIMIT_MS / 2}};
    assert_response(fixture_send(&f, &request), 200, "hi");
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

/// Responds when its settings are acknowledged, as a server may require (RFC 9113, section 6.5.3).
static void serve_acknowledged(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    (void)connection;
    (void)SSL_write(ssl, FRAME_HEAD("\0", "\4", "\1", "\0"), TLS_FRAME_HEAD_BYTES);
    int stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
    frames.at = 24;
    // The client's SETTINGS, and its acknowledgement.
    if (stream > 0 && tls_frames_find(&frames, ssl, TLS_FRAME_SETTINGS) == 0 &&
        tls_frames_find(&frames, ssl, TLS_FRAME_SETTINGS) == 0) {
        tls_frames_respond(ssl, stream);
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING); // no PING arrives: waits until the client closes
    }
}

static void engine__settings_that_arrive_with_the_handshake_are_read_immediately(void **state) {
    (void)state;
    assert_response_arrives(&(tls_peer){.serve = serve_acknowledged,
                                        .members = "2",
                                        .early = FRAME_HEAD("\0", "\4", "\0", "\0"),
                                        .early_length = TLS_FRAME_HEAD_BYTES});
}

/// Sends nothing more.
static void serve_silently(SSL *ssl, const tls_peer_connection *connection) {
    char bytes[4096];
    (void)connection;
    while (SSL_read(ssl, bytes, sizeof bytes) > 0) {
    }
}

static void engine__a_response_that_arrives_with_the_handshake_is_read_without_waiting(void **state) {
    static const char early[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    (void)state;
    assert_response_arrives(
        &(tls_peer){.serve = serve_silently, .members = "1", .early = early, .early_length = sizeof early - 1});
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__settings_that_arrive_with_the_handshake_are_read_immediately),
        harness_case(engine__a_response_that_arrives_with_the_handshake_is_read_without_waiting),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
