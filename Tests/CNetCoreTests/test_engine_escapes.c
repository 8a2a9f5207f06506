/// Escapes in the path of a URL are sent unchanged, so that a signature over the path stays valid.
///
/// Since 8.20 libcurl would write their hexadecimal digits in upper case.
#include "fixture.h"

#include <netcore/proxy.h>
#include <nettesting/proxy.h>
#include <stdio.h>
#include <string.h>

static void assert_line(const char *received, const char *line) {
    assert_non_null(received);
    size_t length = strlen(line);
    if (strncmp(received, line, length) != 0) {
        fail_msg("\"%.*s\" instead of \"%s\"", (int)strcspn(received, "\r\n"), received, line);
    }
}

static void escapes__preserve_their_case(void **state) {
    static const struct {
        const char *path;
        const char *line;
    } rows[] = {
        {"/a%7eb", "GET /a%7eb HTTP"},
        {"/a%7Eb", "GET /a%7Eb HTTP"},
        {"/%c3%A9/%2f?x=%7e", "GET /%c3%A9/%2f?x=%7e HTTP"},
        {"/a/../b%2fc/./d#f%7e", "GET /b%2fc/d HTTP"},
        {"/a%7eb?", "GET /a%7eb"},     // libcurl below 8.20 may drop the '?'
        {"/plain", "GET /plain HTTP"}, // reuses the previous row's handle
        {"/%aa%", "GET /%aa% HTTP"},
        {"/%e2%98%83\xc3\xa9", "GET /%e2%98%83%C3%A9 HTTP"},
        {"/to", "GET /to HTTP"},
        {"/x%7e?a?b%7e", "GET /x%7e?a?b%7e HTTP"},
    };
    fixture f;
    size_t at = 0;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    fixture_script(&f, "/to", (nct_reply){.location = "/led%2fon"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answer one = fixture_get(&f, rows[i].path);
        assert_response(one, 200, "ok");
        assert_line(fixture_received(&f, at++), rows[i].line);
        if (nc_response_hop_count(one.response) == 2) {
            assert_line(fixture_received(&f, at++), "GET /led%2fon HTTP");
        }
    }
    fixture_stop(&f);
}

static void escapes__of_dot_segments_are_preserved_on_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/a/../%2e%2e/b%7e");
    request.keeps_dot_segments = true;
    (void)fixture_send(&f, &request);
    assert_line(fixture_received(&f, 0), "GET /a/../%2e%2e/b%7e HTTP");
    fixture_stop(&f);
}

static void escapes__are_sent_over_tls_and_http2(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    assert_response(fixture_get(&f, "/a%7eb?c=%7e"), 200, "ok");
    assert_line(fixture_received(&f, 0), "GET /a%7eb?c=%7e HTTP");
    fixture_stop(&f);
}

/// A plain HTTP proxy receives the whole URL (RFC 9112, section 3.2.2). A SOCKS proxy or a tunnel does not.
static void escapes__are_sent_through_proxies(void **state) {
    static const struct {
        nct_proxy_kind kind;
        const char *scheme;
        bool uses_tunnel;
    } rows[] = {{NCT_PROXY_HTTP, "http", false}, {NCT_PROXY_HTTP, "http", true}, {NCT_PROXY_SOCKS5, "socks5h", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        nct_proxy *proxy = NULL;
        char url[64];
        char proxied[512] = "";
        fixture_start(&f, NCT_PLAIN);
        fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
        assert_int_equal(nct_proxy_start(&proxy, &(nct_proxy_options){.kind = rows[i].kind}), 0);
        (void)snprintf(url, sizeof url, "%s://127.0.0.1:%u", rows[i].scheme, nct_proxy_port(proxy));
        const nc_proxy settings = {.choice = NC_PROXY_URL, .url = nc_slice_of(url), .uses_tunnel = rows[i].uses_tunnel};
        nc_request request = fixture_request(&f, "/a%7eb?c#d");
        request.proxy = &settings;
        assert_response(fixture_send(&f, &request), 200, "ok");
        if (i == 0) {
            assert_true(nct_proxy_copy_request(proxy, 0, proxied, sizeof proxied - 1) > 0);
            assert_line(proxied, fixture_text(&f, "GET http://127.0.0.1:%u/a%%7eb?c HTTP", nct_server_port(f.server)));
        } else {
            assert_line(fixture_received(&f, 0), "GET /a%7eb?c HTTP");
        }
        nct_proxy_stop(proxy);
        fixture_stop(&f);
    }
}

/// The digest is over the target that is sent (RFC 7616, 3.4).
static void escapes__are_unchanged_in_a_digest(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(
        &f, "*",
        (nct_reply){.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"});
    nc_request request = fixture_request(&f, "/d%7e?q=%7e");
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("u"), .password = nc_slice_of("p")};
    (void)fixture_send(&f, &request);
    assert_line(fixture_received(&f, 1), "GET /d%7e?q=%7e HTTP");
    assert_non_null(strstr(fixture_received(&f, 1), "uri=\"/d%7e?q=%7e\""));
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(escapes__preserve_their_case),
        cmocka_unit_test(escapes__of_dot_segments_are_preserved_on_request),
        cmocka_unit_test(escapes__are_sent_over_tls_and_http2),
        cmocka_unit_test(escapes__are_sent_through_proxies),
        cmocka_unit_test(escapes__are_unchanged_in_a_digest),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
