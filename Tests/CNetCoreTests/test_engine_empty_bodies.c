/// Requests without a body: methods that allow one send Content-Length: 0 (RFC 9110, section 8.6).
#include "fixture.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <string.h>

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

static void assert_lengths(fixture *f, size_t index, size_t count) {
    const char *head = fixture_received(f, index);
    if (count_of(head, "\r\nContent-Length:") != count || count_of(head, "\r\nContent-Length: 0\r\n") != count) {
        fail_msg("%s", head);
    }
    assert_null(strstr(head, "\r\nTransfer-Encoding:"));
    assert_null(strstr(head, "\r\nContent-Type:"));
}

static void engine__methods_that_allow_a_body_send_content_length_0(void **state) {
    static const struct {
        const char *method;
        size_t lengths;
    } rows[] = {
        {"POST", 1}, {"PUT", 1},    {"PATCH", 1},   {"GET", 0},  {"", 0},
        {"HEAD", 0}, {"DELETE", 0}, {"OPTIONS", 0}, {"post", 0},
    };
    static const nc_http_choice choices[] = {NC_HTTP_AUTO, NC_HTTP_1_0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < 2; k++) {
            fixture f;
            fixture_start(&f, NCT_PLAIN);
            fixture_script(&f, "/", (nct_reply){0});
            nc_request request = fixture_request(&f, "/");
            request.method = nc_slice_of(rows[i].method);
            request.http = choices[k];
            assert_response(fixture_send(&f, &request), 200, "");
            assert_lengths(&f, 0, rows[i].lengths);
            request.omits_zero_length = true;
            assert_response(fixture_send(&f, &request), 200, "");
            assert_lengths(&f, 1, 0);
            request.has_body = true; // An empty body is always declared, once.
            if (rows[i].lengths > 0) {
                assert_response(fixture_send(&f, &request), 200, "");
                assert_lengths(&f, 2, 1);
            }
            fixture_stop(&f);
        }
    }
}

static void engine__a_redirect_that_preserves_the_method_sends_content_length_0(void **state) {
    static const struct {
        uint16_t status;
        size_t lengths;
    } rows[] = {{307, 1}, {308, 1}, {302, 0}, {303, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        nct_server *other = NULL;
        char head[2000] = {0};
        fixture_start(&f, NCT_PLAIN);
        assert_int_equal(nct_server_start(&other, NULL), 0);
        assert_int_equal(nct_server_script(other, "/c", &(nct_reply){0}), 0);
        fixture_script(&f, "/a", (nct_reply){.status = rows[i].status, .location = "/b"});
        fixture_script(&f, "/b",
                       (nct_reply){.status = rows[i].status, .location = fixture_url_of(&f, other, "127.0.0.1", "/c")});
        nc_request request = fixture_request(&f, "/a");
        request.method = nc_slice_of("POST");
        assert_response(fixture_send(&f, &request), 200, "");
        assert_lengths(&f, 0, 1);
        assert_lengths(&f, 1, rows[i].lengths);
        assert_true(nct_server_copy_request(other, 0, head, sizeof head - 1) > 0);
        assert_int_equal(count_of(head, "\r\nContent-Length: 0\r\n"), rows[i].lengths);
        nct_server_stop(other);
        fixture_stop(&f);
    }
}

static void engine__content_length_0_is_sent_once_with_a_challenge_or_a_callers_field(void **state) {
    static const char field[] = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";
    const nct_reply replies[] = {{.status = 401, .headers = field}, {.body = "in", .body_length = 2}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
    nc_request request = fixture_request(&f, "/d");
    request.method = nc_slice_of("PUT");
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
    assert_response(fixture_send(&f, &request), 200, "in");
    assert_lengths(&f, 0, 1);
    assert_lengths(&f, 1, 1);
    fixture_stop(&f);
}

/// Responds to each HTTP/2 stream, and keeps the requests in `ctx`.
static void serve_stream(SSL *ssl, const tls_peer_connection *connection) {
    nc_buf *received = connection->peer->ctx;
    char bytes[4096];
    (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
    for (int got; (got = SSL_read(ssl, bytes, sizeof bytes)) > 0;) {
        nc_buf_append(received, nc_slice_make((const uint8_t *)bytes, (size_t)got));
        if (memmem(received->data, received->length,
                   "\x0f\x0d\x01"
                   "0",
                   4) != NULL) {
            (void)SSL_write(ssl, FIRST_ANSWER, sizeof(FIRST_ANSWER) - 1);
        }
    }
}

/// In a head of HTTP/2 the field is the 28th of HPACK's table, a literal that is not indexed.
static void engine__http_2_requests_send_content_length_0(void **state) {
    nc_buf received = nc_buf_init(1 << 16);
    tls_peer peer = {.serve = serve_stream, .members = "2", .ctx = &received};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
                          .method = nc_slice_of("POST")};
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "hi");
    assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_2);
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    tls_peer_stop(&peer);
    nc_buf_deinit(&received);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__methods_that_allow_a_body_send_content_length_0),
        harness_case(engine__a_redirect_that_preserves_the_method_sends_content_length_0),
        harness_case(engine__content_length_0_is_sent_once_with_a_challenge_or_a_callers_field),
        harness_case(engine__http_2_requests_send_content_length_0),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
