/// The engine's jar on the wire: which heads fill it, the cookies of libcurl's own further requests, and the query of
/// a request's cookies.
#include "fixture.h"

#include <netcore/cookies.h>
#include <nettesting/proxy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void start(fixture *f) {
    fixture_start_with(f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
}

static void set(fixture *f, const char *lines) {
    assert_status(nc_engine_set_cookies(f->engine, nc_slice_of(lines), NULL), NC_OK);
}

static const char *jar_text(fixture *f) {
    nc_buf text = nc_buf_init(1 << 20);
    assert_status(nc_engine_copy_cookies(f->engine, &text, NULL), NC_OK);
    nc_buf_append_byte(&text, 0);
    const char *copy = fixture_text(f, "%s", (const char *)text.data);
    nc_buf_deinit(&text);
    return copy;
}

/// Returns the Cookie field of request `index`, or "".
static const char *sent(fixture *f, size_t index) {
    const char *field = strstr(fixture_received(f, index), "\r\nCookie: ");
    return field == NULL ? "" : fixture_text(f, "%.*s", (int)strcspn(field + 10, "\r"), field + 10);
}

static size_t last_index(fixture *f) {
    return nct_server_request_count(f->server) - 1;
}

/// Returns the cookies that the engine reports for a request.
static const char *queried_cookies(fixture *f, const char *url, const char *host) {
    nc_buf out = nc_buf_init(1 << 16);
    assert_status(nc_engine_copy_cookie_field(f->engine, nc_slice_of(url), nc_slice_of(host), &out, NULL), NC_OK);
    nc_buf_append_byte(&out, 0);
    const char *copy = fixture_text(f, "%s", (const char *)out.data);
    nc_buf_deinit(&out);
    return copy;
}

/* --- further requests by libcurl --- */

static void engine__an_authorization_response_has_the_cookies_set_by_the_challenge(void **state) {
    static const char *const schemes[] = {"WWW", "Proxy"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *name = schemes[i];
        const char *status = i == 0 ? "401" : "407";
        fixture f;
        start(&f);
        const nct_reply replies[] = {
            {.status = (uint16_t)(i == 0 ? 401 : 407),
             .headers = fixture_text(&f,
                                     "%s-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
                                     "Set-Cookie: fixed=%s; Path=/\r\nSet-Cookie: old=; Path=/; Max-Age=0\r\n",
                                     name, status)},
            {.status = 200}};
        assert_int_equal(nct_server_script_sequence(f.server, "*", replies, 2), 0);
        set(&f, "Set-Cookie: old=1; Domain=127.0.0.1; Path=/");
        const nc_credentials login = {
            .schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
        const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(fixture_url(&f, "")), .credentials = login};
        const nc_header own = {nc_slice_of("Cookie"), nc_slice_of("mine=2")};
        nc_request request = fixture_request(&f, "/asked");
        request.headers = &own;
        request.header_count = 1;
        request.credentials = i == 0 ? login : (nc_credentials){0};
        request.proxy = i == 0 ? NULL : &proxy;
        assert_response(fixture_send(&f, &request), 200, "");
        assert_int_equal(nct_server_request_count(f.server), 2);
        assert_string_equal(sent(&f, 0), "old=1; mine=2");
        assert_string_equal(sent(&f, 1), fixture_text(&f, "fixed=%s; mine=2", status));
        fixture_stop(&f);
    }
}

/* --- heads without stored cookies --- */

static void engine__interim_heads_and_trailers_store_no_cookies(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script_raw(&f, "/early",
                       "HTTP/1.1 103 Early Hints\r\nSet-Cookie: early=1; Path=/\r\n\r\n"
                       "HTTP/1.1 200 OK\r\nSet-Cookie: final=2; Path=/\r\nContent-Length: 0\r\n\r\n");
    fixture_script(&f, "/late",
                   (nct_reply){.pattern_length = 50, .chunk_bytes = 25, .trailers = "Set-Cookie: late=3; Path=/\r\n"});
    assert_status(fixture_get(&f, "/early").error.status, NC_OK);
    assert_status(fixture_get(&f, "/late").error.status, NC_OK);
    assert_string_equal(jar_text(&f), "127.0.0.1\tFALSE\t/\tFALSE\t0\tfinal\t2\n");
    fixture_stop(&f);
}

static void engine__the_head_of_a_tunnel_stores_no_cookies(void **state) {
    fixture f;
    nct_proxy *proxy = NULL;
    (void)state;
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID, .names = "DNS:localhost"},
                       &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    assert_int_equal(
        nct_proxy_start(
            &proxy,
            &(nct_proxy_options){.connect_reply = "HTTP/1.1 200 Connected\r\nSet-Cookie: tunnel=1; Path=/\r\n\r\n"}),
        0);
    fixture_script(&f, "/", (nct_reply){.headers = "Set-Cookie: origin=2; Path=/\r\n"});
    const nc_proxy through = {.choice = NC_PROXY_URL,
                              .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u", nct_proxy_port(proxy)))};
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/")), .proxy = &through};
    (void)fixture_send(&f, &request);
    assert_null(strstr(jar_text(&f), "tunnel"));
    nct_proxy_stop(proxy);
    fixture_stop(&f);
}

/* --- cookies stay with their request --- */

static void engine__a_reused_easy_handle_sends_no_old_cookies(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script(&f, "/away", (nct_reply){.location = fixture_url_at(&f, "localhost", "/there")});
    set(&f, "Set-Cookie: a=1; Domain=127.0.0.1; Path=/");
    (void)fixture_get(&f, "/");
    assert_string_equal(sent(&f, 0), "a=1");
    (void)fixture_get(&f, "/away");
    assert_string_equal(sent(&f, 2), ""); // a redirect to another host
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/"))};
    (void)fixture_send(&f, &request);
    assert_string_equal(sent(&f, 3), "");
    request = fixture_request(&f, "/");
    request.cookie_use = NC_COOKIES_IGNORE;
    (void)fixture_send(&f, &request);
    assert_string_equal(sent(&f, 4), "");
    set(&f, "");
    (void)fixture_get(&f, "/");
    assert_string_equal(sent(&f, 5), "");
    fixture_stop(&f);
}

/* --- queries of the cookies to send --- */

static void engine__every_spelling_of_a_host_has_the_same_cookie_field(void **state) {
    static const struct {
        const char *url, *host, *field;
    } cases[] = {
        {"http://xn--bcher-kva.example/me", "", "b=2"},
        {"http://B\xc3\x9c"
         "CHER.example:8080/me?x#y",
         "", "b=2"},
        {"http://user:pw@b%C3%BCcher.example./me", "", "b=2"},
        {"http://127.0.0.1", "", "ip=3"},
        {"http://127.1:80/", "", "ip=3"},
        {"http://2130706433/", "", "ip=3"},
        {"http://0x7f.1/", "", "ip=3"},
        {"http://[::ffff:7f00:1]/", "", "ip=3"},
        {"http://[0:0::1]/", "", "v6=4"},
        {"http://elsewhere.example/me",
         "b\xc3\xbc"
         "cher.example:80",
         "b=2"},
        {"http://elsewhere.example/me", "[::1]:80", "v6=4"},
        {"http://elsewhere.example/me", "", ""},
        {"http://a.example/deep/in", "", "raw=\xc4\xe3; root=1"},
        {"http://a.example/x/../deep/./in?/", "", "raw=\xc4\xe3; root=1"},
        {"http://a.example?/deep/", "", "root=1"},
        {"https://a.example/", "", "root=1; s=5"},
    };
    fixture f;
    (void)state;
    start(&f);
    set(&f, "a.example\tFALSE\t/\tFALSE\t0\troot\t1\n"
            "xn--bcher-kva.example\tFALSE\t/\tFALSE\t0\tb\t2\n"
            "127.0.0.1\tFALSE\t/\tFALSE\t0\tip\t3\n"
            "::1\tFALSE\t/\tFALSE\t0\tv6\t4\n"
            "a.example\tFALSE\t/\tTRUE\t0\ts\t5\n"
            "a.example\tFALSE\t/deep\tFALSE\t0\traw\t\xc4\xe3\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(queried_cookies(&f, cases[i].url, cases[i].host), cases[i].field) != 0) {
            fail_msg("'%s' gets '%s'", cases[i].url, queried_cookies(&f, cases[i].url, cases[i].host));
        }
    }
    nc_buf out = nc_buf_init(100);
    nc_error err;
    assert_status(nc_engine_copy_cookie_field(f.engine, nc_slice_of("ftp://a/"), nc_slice_of(""), &out, &err),
                  NC_ERR_BAD_SCHEME);
    assert_status(nc_engine_copy_cookie_field(f.engine, nc_slice_of("http:///"), nc_slice_of(""), &out, &err),
                  NC_ERR_BAD_URL);
    nc_buf_deinit(&out);
    fixture_stop(&f);
}

static void engine__the_cookie_field_has_secure_cookies_for_http_if_hsts_is_enabled(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY, .uses_hsts = true});
    set(&f, "a.example\tFALSE\t/\tTRUE\t0\ts\t5");
    assert_string_equal(queried_cookies(&f, "http://a.example/", ""), "s=5");
    fixture_stop(&f);
}

static void engine__copying_the_cookie_field_without_a_jar_is_an_error(void **state) {
    fixture f;
    nc_buf out = nc_buf_init(100);
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_status(nc_engine_copy_cookie_field(f.engine, nc_slice_of("http://a/"), nc_slice_of(""), &out, NULL),
                  NC_ERR_USAGE);
    nc_buf_deinit(&out);
    fixture_stop(&f);
}

static void engine__the_copied_cookie_field_equals_the_sent_one(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script(&f, "/login",
                   (nct_reply){.headers = "Set-Cookie: name=\xc4\xe3\xba\xc3; Max-Age=1000; Path=/\r\n"
                                          "Set-Cookie: deep=1; Path=/x\r\nSet-Cookie: s=1; Secure; Path=/\r\n"});
    (void)fixture_get(&f, "/login");
    (void)fixture_get(&f, "/x/y");
    assert_string_equal(sent(&f, last_index(&f)), "deep=1; name=\xc4\xe3\xba\xc3; s=1"); // 127.0.0.1 counts as secure
    assert_string_equal(queried_cookies(&f, fixture_url(&f, "/x/y"), ""), sent(&f, last_index(&f)));
    fixture_stop(&f);
}

/* --- snapshots --- */

static const char *shown(fixture *f, const nc_cookie_snapshot *snapshot, const char *host) {
    nc_buf out = nc_buf_init(1 << 16);
    assert_status(nc_cookie_snapshot_append(snapshot, nc_slice_of(host), &out, NULL), NC_OK);
    nc_buf_append_byte(&out, 0);
    const char *copy = fixture_text(f, "%s", (const char *)out.data);
    nc_buf_deinit(&out);
    return copy;
}

static void engine__a_cookie_snapshot_is_immutable_and_outlives_the_engine(void **state) {
    fixture f;
    fixture other;
    nc_cookie_snapshot *before = NULL;
    nc_cookie_snapshot *after = NULL;
    nc_cookie_snapshot *none = NULL;
    nc_error err;
    (void)state;
    fixture_start(&other, NCT_PLAIN);
    start(&f);
    set(&f, "xn--bcher-kva.example\tFALSE\t/\tFALSE\t0\ta\t\xc4\xe3\n"
            ".b.example\tTRUE\t/deep\tTRUE\t0\tb\t2\n");
    assert_status(nc_engine_snapshot_cookies(f.engine, &before, &err), NC_OK);
    set(&f, "xn--bcher-kva.example\tFALSE\t/\tFALSE\t4102444800\ta\t\xc4\xe4\n");
    assert_status(nc_engine_snapshot_cookies(f.engine, &after, &err), NC_OK);
    fixture_stop(&f);
    assert_string_equal(shown(&other, before,
                              "B\xc3\x9c"
                              "CHER.example."),
                        "xn--bcher-kva.example\t/\ta\t\xc4\xe3\n");
    assert_string_equal(shown(&other, after, "b%C3%BCcher.example"), "xn--bcher-kva.example\t/\ta\t\xc4\xe4\n");
    assert_string_equal(shown(&other, before, "www.b.example"), "b.example\t/deep\tb\t2\n");
    assert_string_equal(shown(&other, before, "sub.xn--bcher-kva.example"), "");
    nc_buf out = nc_buf_init(100);
    assert_status(nc_cookie_snapshot_append(before, nc_slice_of(""), &out, &err), NC_ERR_BAD_URL);
    assert_status(nc_engine_snapshot_cookies(other.engine, &none, &err), NC_ERR_USAGE);
    assert_null(none);
    nc_cookie_snapshot_release(before);
    nc_cookie_snapshot_release(after);
    nc_cookie_snapshot_release(NULL);
    fixture_stop(&other);
}

/* --- several threads --- */

typedef struct reader {
    nc_engine *engine;
    atomic_bool is_over;
} reader;

static void *read_on(void *ctx) {
    reader *one = ctx;
    while (!atomic_load(&one->is_over)) {
        nc_buf text = nc_buf_init(1 << 20);
        assert_status(nc_engine_copy_cookies(one->engine, &text, NULL), NC_OK);
        assert_status(nc_engine_set_cookies(one->engine, nc_slice_of("Set-Cookie: mine=1; Domain=b.example"), NULL),
                      NC_OK);
        assert_status(
            nc_engine_copy_cookie_field(one->engine, nc_slice_of("http://b.example/"), nc_slice_of(""), &text, NULL),
            NC_OK);
        nc_buf_deinit(&text);
    }
    return NULL;
}

static void engine__the_jar_can_be_read_and_filled_while_requests_use_it(void **state) {
    fixture f;
    pthread_t thread;
    (void)state;
    start(&f);
    reader one = {.engine = f.engine};
    assert_int_equal(pthread_create(&thread, NULL, read_on, &one), 0);
    for (int i = 0; i < 100; i++) {
        fixture_script(&f, "/", (nct_reply){.headers = fixture_text(&f, "Set-Cookie: n%d=1; Path=/\r\n", i % 7)});
        assert_status(fixture_get(&f, "/").error.status, NC_OK);
    }
    atomic_store(&one.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)fixture_get(&f, "/");
    assert_string_equal(sent(&f, last_index(&f)), "n0=1; n1=1; n2=1; n3=1; n4=1; n5=1; n6=1");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__an_authorization_response_has_the_cookies_set_by_the_challenge),
        harness_case(engine__interim_heads_and_trailers_store_no_cookies),
        harness_case(engine__the_head_of_a_tunnel_stores_no_cookies),
        harness_case(engine__a_reused_easy_handle_sends_no_old_cookies),
        harness_case(engine__every_spelling_of_a_host_has_the_same_cookie_field),
        harness_case(engine__the_cookie_field_has_secure_cookies_for_http_if_hsts_is_enabled),
        harness_case(engine__copying_the_cookie_field_without_a_jar_is_an_error),
        harness_case(engine__the_copied_cookie_field_equals_the_sent_one),
        harness_case(engine__a_cookie_snapshot_is_immutable_and_outlives_the_engine),
        harness_case(engine__the_jar_can_be_read_and_filled_while_requests_use_it),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
