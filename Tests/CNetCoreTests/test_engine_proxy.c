/// Proxies of every kind: what they receive, what they must not receive, and the errors of their failures.
#include "fixture.h"

#include <stdio.h>
#include <string.h>

/// A fixture and a proxy beside it.
typedef struct relayed {
    fixture f;
    nct_proxy *proxy;
    nc_proxy settings;
} relayed;

static const char *url_of_proxy(relayed *r, const char *scheme) {
    return fixture_text(&r->f, "%s://127.0.0.1:%u", scheme, nct_proxy_port(r->proxy));
}

static void relayed_start(relayed *r, nct_identity identity, const nct_proxy_options *options, const char *scheme) {
    *r = (relayed){0};
    assert_int_equal(nct_proxy_start(&r->proxy, options), 0);
    fixture_start(&r->f, identity);
    fixture_script(&r->f, "/p", (nct_reply){.body = "through", .body_length = 7});
    r->settings = (nc_proxy){.choice = NC_PROXY_URL, .url = nc_slice_of(url_of_proxy(r, scheme))};
}

static void relayed_stop(relayed *r) {
    fixture_stop(&r->f);
    nct_proxy_stop(r->proxy);
}

static nc_request relayed_request(relayed *r, const char *path) {
    nc_request request = fixture_request(&r->f, path);
    request.proxy = &r->settings;
    return request;
}

static const char *proxy_request(relayed *r, size_t index) {
    char text[4096] = {0};
    assert_true(nct_proxy_copy_request(r->proxy, index, text, sizeof text - 1) > 0);
    return fixture_text(&r->f, "%s", text);
}

static nc_credentials user(uint32_t schemes, const char *name, const char *password) {
    return (nc_credentials){.schemes = schemes, .user = nc_slice_of(name), .password = nc_slice_of(password)};
}

/* --- choice of the proxy --- */

static void engine__the_engines_proxy_is_used_by_requests_without_their_own(void **state) {
    fixture f;
    nct_proxy *one = NULL;
    nct_proxy *two = NULL;
    char urls[2][64];
    (void)state;
    assert_int_equal(nct_proxy_start(&one, NULL), 0);
    assert_int_equal(nct_proxy_start(&two, NULL), 0);
    (void)snprintf(urls[0], sizeof urls[0], "http://127.0.0.1:%u", nct_proxy_port(one));
    (void)snprintf(urls[1], sizeof urls[1], "http://127.0.0.1:%u", nct_proxy_port(two));
    const nc_proxy engines = {.choice = NC_PROXY_URL, .url = nc_slice_of(urls[0])};
    const nc_proxy own = {.choice = NC_PROXY_URL, .url = nc_slice_of(urls[1])};
    const nc_proxy none = {.choice = NC_PROXY_NONE};
    fixture_start_with(&f, NULL, &(nc_engine_options){.proxy = &engines});
    fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
    const nc_proxy *const choices[] = {NULL, &own, &none, NULL, &none};
    for (size_t i = 0; i < 5; i++) {
        nc_request request = fixture_request(&f, "/p");
        request.proxy = choices[i];
        assert_response(fixture_send(&f, &request), 200, "through");
    }
    assert_int_equal(nct_proxy_request_count(one), 2);
    assert_int_equal(nct_proxy_request_count(two), 1);
    fixture_stop(&f);
    nct_proxy_stop(one);
    nct_proxy_stop(two);
}

static void engine__another_proxy_does_not_receive_the_engines_credentials_regression_1(void **state) {
    relayed r; // r.proxy is the request's proxy; `first` is the engine's
    nct_proxy *first = NULL;
    char url[64];
    (void)state;
    assert_int_equal(nct_proxy_start(&first, &(nct_proxy_options){.user = "corp", .password = "secret"}), 0);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", nct_proxy_port(first));
    relayed_start(&r, NCT_PLAIN, NULL, "http");
    const nc_proxy engines = {
        .choice = NC_PROXY_URL, .url = nc_slice_of(url), .credentials = user(NC_AUTH_BASIC, "corp", "secret")};
    assert_status(nc_engine_close(r.f.engine, FIXTURE_LIMIT_MS), NC_OK);
    assert_status(nc_engine_new(&r.f.engine, &(nc_engine_options){.proxy = &engines}, NULL), NC_OK);
    assert_response(fixture_get(&r.f, "/p"), 200, "through");
    nc_request request = relayed_request(&r, "/p");
    assert_response(fixture_send(&r.f, &request), 200, "through");
    assert_null(strstr(proxy_request(&r, 0), "Proxy-Authorization"));
    // Credentials in the URL of the request's proxy are sent.
    r.settings.url = nc_slice_of(fixture_text(&r.f, "http://me:mine@127.0.0.1:%u", nct_proxy_port(r.proxy)));
    assert_response(fixture_send(&r.f, &request), 200, "through");
    assert_non_null(strstr(proxy_request(&r, 1), "\r\nProxy-Authorization: Basic bWU6bWluZQ==\r\n"));
    assert_response(fixture_get(&r.f, "/p"), 200, "through");
    assert_int_equal(nct_proxy_request_count(first), 2);
    relayed_stop(&r);
    nct_proxy_stop(first);
}

static void engine__hosts_in_the_no_proxy_list_are_connected_directly(void **state) {
    static const struct {
        const char *except;
        const char *host;
        bool is_direct;
    } cases[] = {
        {"127.0.0.1", "127.0.0.1", true},
        {"localhost", "127.0.0.1", false},
        {"a.example, .other.example , 127.0.0.0/8", "127.0.0.1", true},
        {"*", "127.0.0.1", true},
        {"example", "a.example", true},
        {".example", "a.example", true},
        {"a.example", "xa.example", false},
        {"10.0.0.0/8", "127.0.0.1", false},
    };
    relayed r;
    (void)state;
    relayed_start(&r, NCT_PLAIN, NULL, "http");
    const nc_connect_to here = {.host = nc_slice_of("a.example"), .to_host = nc_slice_of("127.0.0.1")};
    size_t expected = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_request request = {.url = nc_slice_of(fixture_url_at(&r.f, cases[i].host, "/p")), .proxy = &r.settings};
        r.settings.except = nc_slice_of(cases[i].except);
        request.connect_to = &here;
        request.connect_to_count = cases[i].is_direct ? 1 : 0;
        assert_response(fixture_send(&r.f, &request), 200, "through");
        expected += cases[i].is_direct ? 0 : 1;
        if (nct_proxy_request_count(r.proxy) != expected) {
            fail_msg("'%s' does not hold for %s", cases[i].except, cases[i].host);
        }
    }
    relayed_stop(&r);
}

/* --- requests as the proxy receives them --- */

static void engine__a_redirect_through_a_proxy_leaks_no_secrets(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        relayed r;
        nc_header own = {nc_slice_of("X-Secret"), nc_slice_of("origin-canary")};
        nc_header proxys = {nc_slice_of("Proxy-X"), nc_slice_of("proxy-canary")};
        relayed_start(&r, identities[i], &(nct_proxy_options){.user = "us", .password = "pw"}, "http");
        fixture_script(&r.f, "/away", (nct_reply){.location = fixture_url_at(&r.f, "localhost", "/p")});
        r.settings.credentials = user(NC_AUTH_BASIC, "us", "pw");
        r.settings.headers = &proxys;
        r.settings.header_count = 1;
        nc_request request = relayed_request(&r, "/away");
        request.credentials = user(NC_AUTH_BASIC, "me", "secret");
        request.headers = &own;
        request.header_count = 1;
        assert_response(fixture_send(&r.f, &request), 200, "through");
        assert_int_equal(nct_proxy_request_count(r.proxy), 2); // the second hop uses the proxy too
        assert_non_null(strstr(fixture_received(&r.f, 0), "origin-canary"));
        assert_non_null(strstr(fixture_received(&r.f, 0), "\r\nAuthorization: Basic bWU6c2VjcmV0\r\n"));
        for (size_t j = 0; j < 2; j++) {
            assert_null(strstr(fixture_received(&r.f, j), "Proxy-"));
            assert_null(strstr(fixture_received(&r.f, j), "proxy-canary"));
            assert_non_null(strstr(proxy_request(&r, j), "\r\nProxy-Authorization: Basic dXM6cHc=\r\n"));
            assert_non_null(strstr(proxy_request(&r, j), "Proxy-X: proxy-canary\r\n"));
        }
        assert_null(strstr(fixture_received(&r.f, 1), "canary"));
        assert_null(strstr(fixture_received(&r.f, 1), "Authorization"));
        assert_null(strstr(proxy_request(&r, 1), "origin-canary"));
        if (identities[i] != NCT_PLAIN) { // a tunnel sees only the target
            assert_null(strstr(proxy_request(&r, 0), "origin-canary"));
            assert_null(strstr(proxy_request(&r, 0), "bWU6c2VjcmV0"));
            assert_null(strstr(proxy_request(&r, 0), "/away"));
        }
        relayed_stop(&r);
    }
}

static void engine__a_tunnel_for_http_hides_the_request_from_the_proxy(void **state) {
    relayed r;
    nc_header own = {nc_slice_of("X-Secret"), nc_slice_of("canary")};
    nc_header proxys = {nc_slice_of("X-For-Proxy"), nc_slice_of("other")};
    (void)state;
    relayed_start(&r, NCT_PLAIN, NULL, "http");
    r.settings.uses_tunnel = true;
    r.settings.headers = &proxys;
    r.settings.header_count = 1;
    nc_request request = relayed_request(&r, "/p");
    request.headers = &own;
    request.header_count = 1;
    assert_response(fixture_send(&r.f, &request), 200, "through");
    assert_int_equal(nct_proxy_tunnel_count(r.proxy), 1);
    assert_memory_equal(proxy_request(&r, 0), "CONNECT 127.0.0.1:", 18);
    assert_null(strstr(proxy_request(&r, 0), "canary"));
    assert_non_null(strstr(proxy_request(&r, 0), "X-For-Proxy: other\r\n"));
    assert_null(strstr(fixture_received(&r.f, 0), "X-For-Proxy"));
    assert_non_null(strstr(fixture_received(&r.f, 0), "X-Secret: canary\r\n"));
    relayed_stop(&r);
}

/* --- challenges --- */

static void engine__a_proxys_digest_challenge_is_answered(void **state) {
    static const char challenge[] = "Proxy-Authenticate: Digest realm=\"p\", nonce=\"abc\", qop=\"auth\"\r\n"
                                    "Proxy-Authenticate: Basic realm=\"p\"\r\n";
    const nct_reply replies[] = {{.status = 407, .headers = challenge, .body = "who?", .body_length = 4},
                                 {.body = "welcome", .body_length = 7}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN); // acts as the proxy: its paths are whole URLs
    assert_int_equal(nct_server_script_sequence(f.server, "*", replies, 2), 0);
    const nc_proxy proxy = {.choice = NC_PROXY_URL,
                            .url = nc_slice_of(fixture_url(&f, "")),
                            .credentials = user(NC_AUTH_DIGEST | NC_AUTH_BASIC, "us", "pw")};
    nc_request request = {.url = nc_slice_of("http://a.example/x"),
                          .method = nc_slice_of("PUT"),
                          .body = nc_slice_of("the body"),
                          .proxy = &proxy};
    assert_response(fixture_send(&f, &request), 200, "welcome");
    assert_int_equal(nct_server_request_count(f.server), 2);
    assert_null(strstr(fixture_received(&f, 0), "Proxy-Authorization"));
    const char *second = fixture_received(&f, 1);
    assert_non_null(strstr(second, "\r\nProxy-Authorization: Digest username=\"us\""));
    assert_non_null(strstr(second, "uri=\"/x\""));
    assert_non_null(strstr(second, "\r\n\r\nthe body"));
    assert_null(strstr(second, "pw"));
    fixture_stop(&f);
}

static void engine__a_tunnel_is_requested_with_digest_and_its_rejection_reported(void **state) {
    static const char challenge[] = "Proxy-Authenticate: Digest realm=\"p\", nonce=\"abc\", qop=\"auth\"\r\n";
    const nct_reply replies[] = {{.status = 407, .headers = challenge}, {.status = 502}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_script_sequence(f.server, "*", replies, 2), 0);
    const nc_proxy proxy = {.choice = NC_PROXY_URL,
                            .url = nc_slice_of(fixture_url(&f, "")),
                            .credentials = user(NC_AUTH_DIGEST, "us", "pw")};
    nc_request request = {.url = nc_slice_of("https://a.example/x"), .proxy = &proxy};
    answer one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_PROXY);
    assert_non_null(strstr(one.error.message, "502"));
    assert_int_equal(nc_response_status(one.response), 0); // the proxy's response is not the server's
    assert_int_equal(nct_server_request_count(f.server), 2);
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nProxy-Authorization: Digest username=\"us\""));
    assert_non_null(strstr(fixture_received(&f, 1), "uri=\"a.example:443\""));
    fixture_stop(&f);
}

/* --- refusals and failures --- */

static void engine__a_rejected_tunnel_reports_the_proxys_status(void **state) {
    static const char asks[] = "HTTP/1.1 407 Asks\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
                               "Content-Length: 0\r\n\r\n";
    static const char *const replies[] = {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
                                          "HTTP/1.1 502 Bad Gateway\r\n\r\n", "HTTP/1.0 500 Oops\r\n\r\n", asks};
    static const char *const codes[] = {"403", "502", "500", "407"};
    (void)state;
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        relayed r;
        relayed_start(&r, NCT_TLS_VALID, &(nct_proxy_options){.connect_reply = replies[i]}, "http");
        nc_request request = relayed_request(&r, "/p");
        answer one = fixture_send(&r.f, &request);
        assert_status(one.error.status, NC_ERR_PROXY);
        if (strstr(one.error.message, codes[i]) == NULL) {
            fail_msg("'%s' does not contain %s", one.error.message, codes[i]);
        }
        assert_int_equal(nct_server_connection_count(r.f.server), 0);
        // The response has the head of a 407, because the caller needs its challenge. Other proxy responses are hidden.
        bool asks_who = replies[i] == asks;
        nc_slice challenge = {0};
        assert_int_equal(nc_response_status(one.response), asks_who ? 407 : 0);
        assert_int_equal(nc_response_header_count(one.response), asks_who ? 2 : 0);
        assert_int_equal(nc_response_find_header(one.response, nc_slice_of("proxy-authenticate"), &challenge),
                         asks_who);
        assert_true(!asks_who || nc_slice_is_equal(challenge, nc_slice_of("Basic realm=\"x\"")));
        relayed_stop(&r);
    }
}

static void engine__a_proxy_that_fails_at_any_point_is_a_proxy_error(void **state) {
    static const struct {
        const char *what;
        nct_reply reply;
        const char *words;
    } cases[] = {
        {"closes", {.is_cut = true, .ending = NCT_CLOSE}, ""},
        {"resets", {.is_cut = true, .ending = NCT_RESET}, ""},
        {"closes within the status line", {.is_cut = true, .cut_after = 5, .ending = NCT_CLOSE}, ""},
        {"closes within the head", {.headers = "X-A: 1\r\n", .is_cut = true, .cut_after = 20, .ending = NCT_CLOSE}, ""},
        {"is no HTTP",
         {.is_raw = true, .body = "220 smtp\r\n\r\n", .body_length = 12, .ending = NCT_CLOSE},
         "its response to CONNECT is not valid HTTP"},
        {"has a NUL in its head",
         {.is_raw = true, .body = "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", .body_length = 25, .ending = NCT_CLOSE},
         "its response to CONNECT is not valid HTTP"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        fixture_start(&f, NCT_PLAIN);
        fixture_script(&f, "*", cases[i].reply);
        const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(fixture_url(&f, ""))};
        nc_request request = {.url = nc_slice_of("https://a.example/x"), .proxy = &proxy};
        answer one = fixture_send(&f, &request);
        if (one.error.status != NC_ERR_PROXY) {
            fail_msg("a proxy that %s: %s, %s", cases[i].what, nc_status_name(one.error.status), one.error.message);
        }
        if (strstr(one.error.message, cases[i].words) == NULL) {
            fail_msg("for a proxy that %s, the message is: %s", cases[i].what, one.error.message);
        }
        fixture_stop(&f);
    }
}

static void engine__an_unreachable_proxy_is_named(void **state) {
    static const char *const schemes[] = {"http", "https", "socks5", "socks5h", "socks4"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        relayed r;
        relayed_start(&r, NCT_PLAIN, NULL, schemes[i]);
        const char *address = fixture_text(&r.f, "127.0.0.1:%u", nct_proxy_port(r.proxy));
        nct_proxy_stop(r.proxy); // its port is closed now
        r.proxy = NULL;
        nc_request request = relayed_request(&r, "/p");
        answer one = fixture_send(&r.f, &request);
        assert_status(one.error.status, NC_ERR_PROXY);
        assert_non_null(strstr(one.error.message, address));
        r.settings.url = nc_slice_of("http://proxy.invalid:3128");
        assert_status(fixture_send(&r.f, &request).error.status, NC_ERR_PROXY);
        assert_int_equal(nct_server_connection_count(r.f.server), 0);
        relayed_stop(&r);
    }
}

static void engine__a_malformed_proxy_url_does_not_leak_its_password(void **state) {
    static const char *const urls[] = {"http://me:secret@127.0.0.1:99999", "http://me:secret@[::1",
                                       "http://me:sec/ret@h", "socks5h://me:secret@a:b:c", "http://me:secret@[::z]:80"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(urls[i])};
        nc_request request = fixture_request(&f, "/p");
        request.proxy = &proxy;
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, NC_ERR_PROXY);
        assert_null(strstr(one.error.message, "sec"));
    }
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

static void engine__a_silent_proxy_is_named_at_the_connect_timeout(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    unsigned port = nct_server_port(f.server);
    const char *url = fixture_text(&f, "http://me:secret@127.0.0.1:%u", port);
    nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(url)};
    nc_request request = {.url = nc_slice_of("https://a.example/x"), .proxy = &proxy, .limits = {.connect_ms = 50}};
    answer one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_CONNECT_TIMED_OUT);
    const char *proxy_request = fixture_text(&f, ": a.example after 50 ms, through the proxy 127.0.0.1:%u", port);
    assert_non_null(strstr(one.error.message, proxy_request));
    assert_null(strstr(one.error.message, "secret"));
    proxy.except =
        nc_slice_of("b.example"); // libcurl applies this list, so the engine does not know if the proxy was used
    one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_CONNECT_TIMED_OUT);
    assert_null(strstr(one.error.message, "proxy"));
    fixture_stop(&f);
}

static void engine__a_failing_server_behind_a_tunnel_has_its_own_error(void **state) {
    relayed r;
    (void)state;
    relayed_start(&r, NCT_TLS_EXPIRED, NULL, "http");
    nc_request request = relayed_request(&r, "/p");
    assert_status(fixture_send(&r.f, &request).error.status, NC_ERR_TLS_EXPIRED);
    relayed_stop(&r);
    relayed_start(&r, NCT_TLS_VALID, NULL, "http");
    fixture_script(&r.f, "/cut",
                   (nct_reply){.pattern_length = 100, .is_cut = true, .cut_after = 100, .ending = NCT_CLOSE});
    request = relayed_request(&r, "/cut");
    assert_status(fixture_send(&r.f, &request).error.status, NC_ERR_CUT_SHORT);
    relayed_stop(&r);
}

static void engine__an_inconsistent_proxy_configuration_is_rejected(void **state) {
    const nc_proxy cases[] = {
        {.choice = NC_PROXY_URL},
        {.choice = NC_PROXY_URL, .url = nc_slice_of("ftp://127.0.0.1")},
        {.choice = NC_PROXY_URL, .url = nc_slice_of("127.0.0.1:3128")},
        {.choice = NC_PROXY_URL, .url = nc_slice_of("http://a b")},
        {.choice = NC_PROXY_URL,
         .url = nc_slice_of("http://127.0.0.1"),
         .credentials = {.schemes = NC_AUTH_BEARER, .token = nc_slice_of("t")}},
        {.choice = (nc_proxy_choice)9},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_request request = fixture_request(&f, "/");
        nc_transfer_id id;
        request.proxy = &cases[i];
        if (nc_engine_submit(f.engine, &request, NULL, &id, NULL) != NC_ERR_USAGE) {
            fail_msg("proxy %zu is accepted", i);
        }
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__the_engines_proxy_is_used_by_requests_without_their_own),
        harness_case(engine__another_proxy_does_not_receive_the_engines_credentials_regression_1),
        harness_case(engine__hosts_in_the_no_proxy_list_are_connected_directly),
        harness_case(engine__a_redirect_through_a_proxy_leaks_no_secrets),
        harness_case(engine__a_tunnel_for_http_hides_the_request_from_the_proxy),
        harness_case(engine__a_proxys_digest_challenge_is_answered),
        harness_case(engine__a_tunnel_is_requested_with_digest_and_its_rejection_reported),
        harness_case(engine__a_rejected_tunnel_reports_the_proxys_status),
        harness_case(engine__a_proxy_that_fails_at_any_point_is_a_proxy_error),
        harness_case(engine__an_unreachable_proxy_is_named),
        harness_case(engine__a_malformed_proxy_url_does_not_leak_its_password),
        harness_case(engine__a_silent_proxy_is_named_at_the_connect_timeout),
        harness_case(engine__a_failing_server_behind_a_tunnel_has_its_own_error),
        harness_case(engine__an_inconsistent_proxy_configuration_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
