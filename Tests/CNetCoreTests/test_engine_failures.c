/// Broken connections and malformed responses end with their exact status.
#include "fixture.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_BYTES 200

/* --- not connected --- */

static void engine__a_closed_port_is_refused(void **state) {
    fixture f;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    const char *url = fixture_text(&f, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    nc_request request = {.url = nc_slice_of(url)};
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_ERR_REFUSED, CURLE_COULDNT_CONNECT,
                 fixture_text(&f, "the connection was refused: 127.0.0.1:%u", ntohs(address.sin_port)));
    assert_int_equal(nc_response_status(one.response), 0);
    assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_UNKNOWN);
    assert_slice_equals(nc_response_url(one.response), url);
    nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
    assert_int_equal(hop.status + hop.sent_bytes + hop.first_byte_ns + hop.ready_ns, 0);
    assert_true(hop.ended_ns >= hop.started_ns);
    assert_int_equal(hop.connected_ns + hop.connection_id + hop.connections_opened + hop.remote_port, 0);
    assert_string_equal(hop.remote_address, "");
    fixture_stop(&f);
}

static void engine__an_unknown_host_cannot_be_resolved(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = {.url = nc_slice_of("http://user:secret@nohost.invalid/x?token=secret")};
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_ERR_RESOLVE, CURLE_COULDNT_RESOLVE_HOST, "nohost.invalid");
    assert_null(strstr(one.error.message, "secret"));
    assert_slice_equals(nc_response_url(one.response), "http://nohost.invalid/x?token=secret");
    fixture_stop(&f);
}

static void engine__urls_that_only_libcurl_rejects_are_bad_urls(void **state) {
    static const char *const urls[] = {"http://127.0.0.1:99999/", "http://127.0.0.1:abc/", "http://[::1/",
                                       "http://[zz]/"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        nc_request request = {.url = nc_slice_of(urls[i])};
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_ERR_BAD_URL, CURLE_URL_MALFORMAT, "the URL is malformed");
    }
    fixture_stop(&f);
}

/* --- broken off --- */

static void serve_cut(fixture *f, uint64_t at, nct_ending ending, size_t chunk_bytes) {
    fixture_script(f, "/cut",
                   (nct_reply){.headers = "X-First: 0123456789\r\nX-Second: abcdefghijklmnopqrstuvwxyz\r\n",
                               .pattern_length = BODY_BYTES,
                               .chunk_bytes = chunk_bytes,
                               .is_cut = true,
                               .cut_after = at,
                               .ending = ending});
}

/// For libcurl an incomplete status line is no response.
static nc_status expected_at(uint64_t at, nct_ending ending) {
    if (ending == NCT_RESET) {
        return NC_ERR_RESET;
    }
    return at < strlen("HTTP/1.1 200 OK\r\n") ? NC_ERR_EMPTY_REPLY : NC_ERR_CUT_SHORT;
}

static void expect_no_success_at_any_cut(nct_identity identity, size_t chunk_bytes) {
    fixture f;
    fixture_start(&f, identity);
    serve_cut(&f, 1000000, NCT_CLOSE, chunk_bytes);
    answer whole = fixture_get(&f, "/cut");
    assert_ended(whole, NC_OK, 0, "");
    uint64_t head_bytes = nc_response_hop_at(whole.response, 0).head_bytes;
    // A chunk size has at most 2 digits here; the last one is "0", CRLF, CRLF.
    uint64_t total = head_bytes + BODY_BYTES;
    for (size_t left = chunk_bytes != 0 ? BODY_BYTES : 0; left > 0;) {
        size_t chunk = left < chunk_bytes ? left : chunk_bytes;
        total += chunk > 15 ? 6 : 5;
        left -= chunk;
    }
    total += chunk_bytes != 0 ? 5 : 0;
    for (nct_ending ending = NCT_CLOSE; ending <= NCT_RESET; ending++) {
        for (uint64_t at = 0; at < total; at++) {
            serve_cut(&f, at, ending, chunk_bytes);
            answer one = fixture_get(&f, "/cut");
            if (one.error.status != expected_at(at, ending) || nc_response_body(one.response).length > BODY_BYTES) {
                fail_msg("cut at %u of %u, ending %d: %s (%d, %s)", (unsigned)at, (unsigned)total, (int)ending,
                         nc_status_name(one.error.status), one.error.native_code, one.error.message);
            }
        }
    }
    fixture_stop(&f);
}

static void engine__a_response_with_a_length_truncated_at_any_byte_is_an_error(void **state) {
    (void)state;
    expect_no_success_at_any_cut(NCT_PLAIN, 0);
}

static void engine__a_chunked_response_truncated_at_any_byte_is_an_error(void **state) {
    (void)state;
    expect_no_success_at_any_cut(NCT_PLAIN, 20);
}

static void engine__a_tls_response_truncated_at_any_byte_is_an_error(void **state) {
    (void)state;
    expect_no_success_at_any_cut(NCT_TLS_VALID, 0);
}

static void engine__a_truncation_between_interim_and_final_head_is_an_error(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/i", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n");
    assert_ended(fixture_get(&f, "/i"), NC_ERR_EMPTY_REPLY, CURLE_GOT_NOTHING, "Empty reply");
    fixture_script_raw(&f, "/i", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 20");
    assert_ended(fixture_get(&f, "/i"), NC_ERR_EMPTY_REPLY, CURLE_GOT_NOTHING, "Empty reply");
    fixture_script_raw(&f, "/i", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nA: b");
    assert_ended(fixture_get(&f, "/i"), NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE, "within the response head");
    nc_request request = fixture_request(&f, "/i");
    request.method = nc_slice_of("HEAD");
    fixture_script_raw(&f, "/i", "HTTP/1.1 200 OK\r\nX-A: b\r\n");
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_CUT_SHORT);
    fixture_stop(&f);
}

static void engine__a_connection_lost_during_upload_is_an_error(void **state) {
    static char body[4 * 1024 * 1024];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/up", (nct_reply){.is_cut = true, .cut_after = 0, .ending = NCT_RESET});
    nc_request request = fixture_request(&f, "/up");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_make(body, sizeof body);
    answer one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_RESET);
    assert_int_equal(nc_response_status(one.response), 0);
    fixture_stop(&f);
}

/* --- malformed responses --- */

static void engine__a_non_http_reply_is_a_bad_response(void **state) {
    static const char *const replies[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "<html>HTTP/0.9 has no head</html>",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded first\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcdeX\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111111\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nabcdef",
        "\r\n\r\n",
        "\n",
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        fixture_script_raw(&f, "/raw", replies[i]);
        answer one = fixture_get(&f, "/raw");
        if (one.error.status != NC_ERR_BAD_RESPONSE) {
            fail_msg("%.60s: %s (%d, %s) %u", replies[i], nc_status_name(one.error.status), one.error.native_code,
                     one.error.message, nc_response_status(one.response));
        }
    }
    fixture_stop(&f);
}

static void engine__a_head_with_a_nul_is_a_bad_response(void **state) {
    static const char reply[] = "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n";
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/nul",
                   (nct_reply){.is_raw = true, .body = reply, .body_length = sizeof reply - 1, .ending = NCT_CLOSE});
    assert_ended(fixture_get(&f, "/nul"), NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY, "the server's response");
    fixture_stop(&f);
}

static void engine__equal_content_lengths_are_accepted(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/l", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-length: 02\r\n\r\nhi");
    assert_response(fixture_get(&f, "/l"), 200, "hi");
    fixture_script_raw(&f, "/l", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi");
    assert_response(fixture_get(&f, "/l"), 200, "hi");
    fixture_script_raw(&f, "/l", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: Identity\r\n\r\nhi");
    assert_response(fixture_get(&f, "/l"), 200, "hi");
    fixture_stop(&f);
}

static void engine__content_length_applies_with_transfer_encoding_identity(void **state) {
    static const char *const replies[] = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n",
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < 2; i++) {
        // The server keeps the connection.
        fixture_script(&f, "/l", (nct_reply){.is_raw = true, .body = replies[i], .body_length = strlen(replies[i])});
        nc_request request = fixture_request(&f, "/l");
        request.limits.idle_ms = 400; // The engine waits for no further frame, so this short limit suffices.
        assert_response(fixture_send(&f, &request), 200, i == 0 ? "hi" : "");
    }
    fixture_stop(&f);
}

static void engine__an_empty_reply_has_its_own_status(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_cut = true, .cut_after = 0, .ending = NCT_CLOSE});
    assert_ended(fixture_get(&f, "/e"), NC_ERR_EMPTY_REPLY, CURLE_GOT_NOTHING, "Empty reply");
    assert_int_equal(nct_server_request_count(f.server), 1);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_closed_port_is_refused),
        harness_case(engine__an_unknown_host_cannot_be_resolved),
        harness_case(engine__urls_that_only_libcurl_rejects_are_bad_urls),
        harness_case(engine__a_truncation_between_interim_and_final_head_is_an_error),
        harness_case(engine__a_connection_lost_during_upload_is_an_error),
        harness_case(engine__a_non_http_reply_is_a_bad_response),
        harness_case(engine__a_head_with_a_nul_is_a_bad_response),
        harness_case(engine__equal_content_lengths_are_accepted),
        harness_case(engine__content_length_applies_with_transfer_encoding_identity),
        harness_case(engine__an_empty_reply_has_its_own_status),
        harness_case(engine__a_response_with_a_length_truncated_at_any_byte_is_an_error),
        harness_case(engine__a_chunked_response_truncated_at_any_byte_is_an_error),
        harness_case(engine__a_tls_response_truncated_at_any_byte_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
