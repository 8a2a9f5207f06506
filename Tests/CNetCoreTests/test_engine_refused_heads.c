/// Heads that nghttp2 refuses although they are valid: the request goes again over HTTP/1.1 where that is safe.
#include "fixture.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <string.h>

typedef struct head {
    const char *name;
    const char *frames;
    size_t length;
    const char *reply; // the same over HTTP/1.1
    uint16_t status;
    const char *body;
} head;

#define FRAMES(text) (text), sizeof(text) - 1

static const head heads[] = {
    {"204 with a length", FRAMES(FRAME_HEAD("\6", "\1", "\5", "\1") "\x89\x0f\x0d\x02\x32\x30"),
     "HTTP/1.1 204 No Content\r\nContent-Length: 20\r\n\r\n", 204, ""},
    {"one length twice",
     FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88\x0f\x0d\x01\x32\x0f\x0d\x01\x32" FRAME_HEAD("\2", "\0", "\1",
                                                                                                   "\1") "ok"),
     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", 200, "ok"},
};

static void serve(SSL *ssl, const tls_peer_connection *connection) {
    const head *one = connection->peer->ctx;
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    char request[4096];
    tls_frames frames = TLS_FRAMES_INIT;
    SSL_get0_alpn_selected(ssl, &protocol, &length);
    if (length == 2 && tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) > 0) {
        (void)SSL_write(ssl, SETTINGS, sizeof SETTINGS - 1);
        (void)SSL_write(ssl, one->frames, (int)one->length);
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING); // until it has hung up
    } else if (length != 2 && tls_peer_read_to(ssl, request, sizeof request, "\r\n\r\n")) {
        (void)SSL_write(ssl, one->reply, (int)strlen(one->reply));
        (void)SSL_read(ssl, request, sizeof request);
    }
}

static void refused_heads__send_the_request_again_over_http_1_where_that_is_safe(void **state) {
    static const char *const methods[] = {"GET", "DELETE", "POST"};
    (void)state;
    for (size_t i = 0; i < 3 * sizeof heads / sizeof *heads; i++) {
        const head *one = &heads[i / 3];
        bool is_safe = i % 3 < 2;
        fixture f;
        fixture_start_trusting_all(&f);
        tls_peer peer = {.serve = serve, .members = "2", .ctx = (void *)one};
        tls_peer_start(&peer);
        const nc_request request = {
            .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
            .method = nc_slice_of(methods[i % 3]),
        };
        answer got = fixture_send(&f, &request);
        if (is_safe) {
            if (got.error.status != NC_OK) {
                fail_msg("%s: %s", one->name, got.error.message);
            }
            assert_answered(got, one->status, one->body);
            assert_int_equal(nc_response_http_version(got.response), NC_HTTP_VERSION_1_1);
            assert_int_equal(nc_response_hop_count(got.response), 1);
        } else {
            assert_status(got.error.status, NC_ERR_HTTP2);
        }
        assert_int_equal(atomic_load(&peer.count), is_safe ? 2 : 1);
        fixture_stop(&f);
        tls_peer_stop(&peer);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(refused_heads__send_the_request_again_over_http_1_where_that_is_safe),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
