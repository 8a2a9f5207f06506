/// The request with the authorization response after a challenge over HTTP/2 without TLS. libcurl 7.88 sends no
/// second request on such a connection, and must not use another user's connection.
#include "fixture.h"
#include "gate.h"
#include "listening.h"
#include "tls_peer.h"

#include <curl/curl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_FRAME_BYTES = 1024 };

typedef struct server {
    int listener;
    uint16_t port;
    gate is_asked;
} server;

/// A response on the first stream: status 200, Content-Length: 2, and "hi". Without TLS a body needs its length.
#define ANSWER_OF_2 FRAME_HEAD("\5", "\1", "\4", "\1") "\x88\x0f\x0d\x01\x32" FRAME_HEAD("\2", "\0", "\1", "\1") "hi"

static bool read_exactly(int fd, uint8_t *bytes, size_t count) {
    return count <= MAX_FRAME_BYTES && (count == 0 || recv(fd, bytes, count, MSG_WAITALL) == (ssize_t)count);
}

/// Accepts a connection and reads its first request; -1 if there is none.
static int take(const server *it) {
    uint8_t bytes[MAX_FRAME_BYTES];
    int fd = accept(it->listener, NULL, NULL);
    bool is_read = fd >= 0 && read_exactly(fd, bytes, 24);
    uint8_t type = 0;
    while (is_read && type != 1) {
        is_read = read_exactly(fd, bytes, 9);
        type = bytes[3];
        is_read = is_read && read_exactly(fd, bytes, (size_t)bytes[1] << 8 | bytes[2]);
    }
    return fd;
}

static void send_bytes(int fd, const char *bytes, size_t length) {
    (void)send(fd, bytes, length, MSG_NOSIGNAL);
}

/// Delays the first response until the second request's authorization response has been served.
static void *serve(void *ctx) {
    server *it = ctx;
    int first = take(it);
    gate_open(&it->is_asked);
    int second = take(it);
    send_bytes(second, SETTINGS FIRST_CHALLENGE, sizeof(SETTINGS FIRST_CHALLENGE) - 1);
    int third = take(it);
    send_bytes(third, SETTINGS ANSWER_OF_2, sizeof(SETTINGS ANSWER_OF_2) - 1);
    send_bytes(first, SETTINGS ANSWER_OF_2, sizeof(SETTINGS ANSWER_OF_2) - 1);
    uint8_t rest[256];
    while (third >= 0 && recv(first, rest, sizeof rest, 0) > 0) {
    }
    (void)close(first);
    (void)close(second);
    (void)close(third);
    return NULL;
}

static void http2_cleartext_auth__an_authorization_response_uses_no_other_users_connection(void **state) {
    fixture f;
    server it = {.is_asked = GATE_INIT};
    pthread_t thread;
    (void)state;
    if (curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000) {
        return; // libcurl 8 correctly sends both requests over one connection.
    }
    fixture_start_trusting_all(&f);
    it.listener = listen_anywhere(&it.port, 4);
    assert_int_equal(pthread_create(&thread, NULL, serve, &it), 0);
    nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", it.port)),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
        .credentials = {.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")},
        .limits = {.total_ms = 5000},
    };
    nc_transfer_id waiting = fixture_submit(&f, &request);
    gate_wait(&it.is_asked);
    answer second = fixture_send(&f, &request);
    (void)shutdown(it.listener, SHUT_RDWR);
    answer first = fixture_wait(&f, waiting);
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(close(it.listener), 0);
    assert_response(second, 200, "hi");
    assert_response(first, 200, "hi");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(http2_cleartext_auth__an_authorization_response_uses_no_other_users_connection),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
