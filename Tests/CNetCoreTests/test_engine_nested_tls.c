/// TLS within the TLS of an HTTPS proxy: unsolicited bytes in the outer layer's buffer are no response (RFC 9112,
/// section 9.2).
#include "fixture.h"
#include "tls_peer.h"

#include <stdio.h>
#include <string.h>

#define FIRST "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
#define GOOD "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
#define EVIL "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

/// A server's TLS, carried within the proxy's.
typedef struct inner {
    SSL *outer;
    SSL *ssl;
    BIO *in;
    BIO *out;
} inner;

/// Sends all pending bytes in one record of the proxy.
static bool flush(const inner *it) {
    char bytes[16 * 1024];
    int count = BIO_read(it->out, bytes, sizeof bytes);
    return count <= 0 || SSL_write(it->outer, bytes, count) == count;
}

static bool feed(const inner *it) {
    char bytes[16 * 1024];
    int count = SSL_read(it->outer, bytes, sizeof bytes);
    return count > 0 && BIO_write(it->in, bytes, count) == count;
}

static bool accept_within(const inner *it) {
    int result = 0;
    while ((result = SSL_accept(it->ssl)) != 1) {
        if (SSL_get_error(it->ssl, result) != SSL_ERROR_WANT_READ || !flush(it) || !feed(it)) {
            return false;
        }
    }
    return flush(it);
}

/// Reads up to the end of a head; false at the end of the connection.
static bool read_head(const inner *it, char *head, size_t capacity) {
    size_t length = 0;
    head[0] = '\0';
    while (strstr(head, "\r\n\r\n") == NULL && length + 1 < capacity) {
        int count = SSL_read(it->ssl, head + length, (int)(capacity - 1 - length));
        if (count <= 0 && !feed(it)) {
            return false;
        }
        length += count > 0 ? (size_t)count : 0;
        head[length] = '\0';
    }
    return true;
}

static void answer_within(const inner *it) {
    char head[4096];
    while (read_head(it, head, sizeof head)) {
        bool is_first = strncmp(head, "GET /first ", 11) == 0;
        (void)SSL_write(it->ssl, is_first ? FIRST : GOOD, (int)strlen(is_first ? FIRST : GOOD));
        if (is_first) {
            (void)SSL_write(it->ssl, EVIL, (int)strlen(EVIL));
        }
        (void)flush(it);
    }
}

/// Serves as the proxy and as the origin behind it.
static void serve(SSL *ssl, const tls_peer_connection *connection) {
    static const char granted[] = "HTTP/1.1 200 OK\r\n\r\n";
    char head[4096];
    if (!tls_peer_read_to(ssl, head, sizeof head, "\r\n\r\n")) {
        return;
    }
    (void)SSL_write(ssl, granted, sizeof granted - 1);
    inner it = {.outer = ssl, .ssl = SSL_new(connection->peer->context)};
    it.in = BIO_new(BIO_s_mem());
    it.out = BIO_new(BIO_s_mem());
    SSL_set_bio(it.ssl, it.in, it.out);
    (void)SSL_set_app_data(it.ssl, (void *)(uintptr_t)connection);
    if (accept_within(&it)) {
        answer_within(&it);
    }
    SSL_free(it.ssl);
}

static void unsolicited_bytes__within_a_proxys_tls_are_no_response(void **state) {
    fixture f;
    tls_peer peer = {.serve = serve, .members = "1"};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    const nc_proxy proxy = {.choice = NC_PROXY_URL,
                            .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u", peer.port))};
    nc_request first = {.url = nc_slice_of("https://a.example/first"), .proxy = &proxy};
    nc_request next = {.url = nc_slice_of("https://a.example/next"), .proxy = &proxy};
    assert_response(fixture_send(&f, &first), 200, "first");
    assert_response(fixture_send(&f, &next), 200, "good"); // over a new connection,
    assert_response(fixture_send(&f, &next), 200, "good"); // which stays open
    assert_int_equal(atomic_load(&peer.count), 2);
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(unsolicited_bytes__within_a_proxys_tls_are_no_response),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
