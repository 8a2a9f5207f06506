/// Heads of requests that are larger than a library underneath takes.
#include "fixture.h"
#include "tls_peer.h"

#include <string.h>

enum { FIELD_BYTES = 60 * 1024 };

static int choose_best(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                       unsigned offered_length, void *ctx) {
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    unsigned char *chosen = NULL;
    (void)ssl;
    (void)ctx;
    int found = SSL_select_next_proto(&chosen, length, ours, sizeof ours - 1, offered, offered_length);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void serve_one(SSL *ssl, const tls_peer_connection *connection) {
    static const char answer_text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    char end[4] = "";
    char next;
    (void)connection;
    SSL_get0_alpn_selected(ssl, &protocol, &length);
    while (length == strlen("http/1.1") && SSL_read(ssl, &next, 1) == 1) {
        memmove(end, end + 1, sizeof end - 1);
        end[sizeof end - 1] = next;
        if (memcmp(end, "\r\n\r\n", sizeof end) == 0) {
            (void)SSL_write(ssl, answer_text, sizeof answer_text - 1);
        }
    }
}

static void engine__a_request_head_too_large_for_http_2_is_sent_over_http_1(void **state) {
    static char text[FIELD_BYTES];
    fixture f;
    tls_peer peer = {.serve = serve_one, .members = "2"};
    (void)state;
    memset(text, 'x', sizeof text);
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    SSL_CTX_set_alpn_select_cb(peer.context, choose_best, NULL);
    const nc_header field = {.name = nc_slice_of("A"), .value = nc_slice_make(text, sizeof text)};
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
        .headers = &field,
        .header_count = 1,
    };
    answer got = fixture_send(&f, &request);
    assert_response(got, 200, "ok");
    assert_int_equal(nc_response_http_version(got.response), NC_HTTP_VERSION_1_1);
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_request_head_too_large_for_http_2_is_sent_over_http_1),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
