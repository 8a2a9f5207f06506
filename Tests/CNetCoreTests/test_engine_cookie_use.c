/// Requests that only send or only store cookies.
#include "fixture.h"

#include <netcore/cookies.h>
#include <stdio.h>
#include <string.h>

static void start(fixture *f) {
    fixture_start_with(f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
}

static void script_cookie(fixture *f, const char *path, const char *cookie) {
    fixture_script(f, path, (nct_reply){.headers = fixture_text(f, "Set-Cookie: %s\r\n", cookie)});
}

/// Returns the jar's cookies as "a=1; b=2" in its order.
static const char *jar(fixture *f) {
    nc_buf text = nc_buf_init(1 << 20);
    nc_buf out = nc_buf_init(1 << 20);
    assert_status(nc_engine_copy_cookies(f->engine, &text, NULL), NC_OK);
    nc_buf_append_byte(&text, 0);
    for (char *line = strtok((char *)text.data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *value = strrchr(line, '\t');
        *value = '\0';
        nc_buf_append(&out, nc_slice_of(fixture_text(f, "%s%s=%s", out.length > 0 ? "; " : "", strrchr(line, '\t') + 1,
                                                     value + 1)));
    }
    nc_buf_append_byte(&out, 0);
    const char *stored = fixture_text(f, "%s", (const char *)out.data);
    nc_buf_deinit(&out);
    nc_buf_deinit(&text);
    return stored;
}

/// Returns the Cookie field of the last request, or "".
static const char *sent(fixture *f) {
    const char *field = strstr(fixture_received(f, nct_server_request_count(f->server) - 1), "\r\nCookie: ");
    return field == NULL ? "" : fixture_text(f, "%.*s", (int)strcspn(field + 10, "\r"), field + 10);
}

static answer get(fixture *f, const char *path, nc_cookie_use use) {
    nc_request request = fixture_request(f, path);
    request.cookie_use = (uint8_t)use;
    return fixture_send(f, &request);
}

static void engine__each_cookie_use_sends_and_stores_as_documented(void **state) {
    static const struct {
        nc_cookie_use use;
        const char *sent;
        const char *stored;
    } cases[] = {
        {NC_COOKIES_SEND_AND_STORE, "old=1", "new=2"},
        {NC_COOKIES_IGNORE, "", "old=1"},
        {NC_COOKIES_SEND_ONLY, "old=1", "old=1"},
        {NC_COOKIES_STORE_ONLY, "", "new=2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        start(&f);
        script_cookie(&f, "/old", "old=1; Path=/");
        fixture_script(&f, "/new",
                       (nct_reply){.headers = "Set-Cookie: old=; Path=/; Max-Age=0\r\nSet-Cookie: new=2; Path=/\r\n"});
        (void)fixture_get(&f, "/old");
        assert_response(get(&f, "/new", cases[i].use), 200, "");
        assert_string_equal(sent(&f), cases[i].sent);
        assert_string_equal(jar(&f), cases[i].stored); // storing also applies to the removal of a cookie
        (void)fixture_get(&f, "/");                    // and the next request uses the jar
        assert_string_equal(sent(&f), cases[i].stored);
        fixture_stop(&f);
    }
}

static void engine__without_a_jar_no_cookie_use_stores_or_sends_cookies(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script_cookie(&f, "/", "a=1");
    for (int use = NC_COOKIES_SEND_AND_STORE; use <= NC_COOKIES_STORE_ONLY; use++) {
        (void)get(&f, "/", (nc_cookie_use)use);
        assert_response(get(&f, "/", (nc_cookie_use)use), 200, "");
        assert_string_equal(sent(&f), "");
    }
    fixture_stop(&f);
}

static void engine__send_only_or_store_only_applies_to_every_hop(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script(&f, "/hop", (nct_reply){.location = "/there", .headers = "Set-Cookie: hop=1; Path=/\r\n"});
    script_cookie(&f, "/there", "there=2; Path=/");
    (void)get(&f, "/hop", NC_COOKIES_SEND_ONLY);
    assert_string_equal(sent(&f), ""); // a cookie of the first hop is not sent on the second
    assert_string_equal(jar(&f), "");
    (void)get(&f, "/hop", NC_COOKIES_STORE_ONLY);
    assert_string_equal(sent(&f), "");
    assert_non_null(strstr(jar(&f), "hop=1"));
    assert_non_null(strstr(jar(&f), "there=2"));
    fixture_stop(&f);
}

static void engine__send_only_or_store_only_applies_when_libcurl_resends(void **state) {
    const nct_reply replies[] = {
        {.status = 401,
         .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nSet-Cookie: c=401; Path=/\r\n"},
        {.status = 200}};
    static const struct {
        nc_cookie_use use;
        const char *sent, *stored;
    } cases[] = {{NC_COOKIES_SEND_ONLY, "old=1", "old=1"}, {NC_COOKIES_STORE_ONLY, "", "c=401"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        start(&f);
        script_cookie(&f, "/old", "old=1; Path=/");
        (void)fixture_get(&f, "/old");
        assert_int_equal(nct_server_script_sequence(f.server, "/asked", replies, 2), 0);
        nc_request request = fixture_request(&f, "/asked");
        request.cookie_use = (uint8_t)cases[i].use;
        request.credentials =
            (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
        assert_response(fixture_send(&f, &request), 200, "");
        assert_int_equal(nct_server_request_count(f.server), 3);
        assert_string_equal(sent(&f), cases[i].sent);
        assert_non_null(strstr(jar(&f), cases[i].stored));
        fixture_stop(&f);
    }
}

static void engine__the_callers_cookie_field_is_sent_with_every_cookie_use(void **state) {
    const nc_header own = {nc_slice_of("Cookie"), nc_slice_of("mine=3")};
    fixture f;
    (void)state;
    start(&f);
    script_cookie(&f, "/", "jar=1");
    (void)fixture_get(&f, "/");
    for (int use = NC_COOKIES_IGNORE; use <= NC_COOKIES_STORE_ONLY; use++) {
        nc_request request = fixture_request(&f, "/");
        request.headers = &own;
        request.header_count = 1;
        request.cookie_use = (uint8_t)use;
        (void)fixture_send(&f, &request);
        assert_string_equal(sent(&f), use == NC_COOKIES_SEND_ONLY ? "jar=1; mine=3" : "mine=3");
        const char *field = strstr(fixture_received(&f, nct_server_request_count(f.server) - 1), "Cookie:");
        assert_null(strstr(field + 1, "Cookie:"));
    }
    fixture_stop(&f);
}

/* --- requests that name another host than their URL --- */

static answer get_as(fixture *f, const char *url, const char *host, nc_cookie_use use) {
    const nc_header named = {nc_slice_of("Host"), nc_slice_of(host)};
    const nc_request request = {.url = nc_slice_of(url),
                                .headers = &named,
                                .header_count = host[0] != '\0' ? 1 : 0,
                                .cookie_use = (uint8_t)use};
    return fixture_send(f, &request);
}

/// libcurl keeps a handle's cookie host from a Host field, and uses it for later requests.
static void engine__cookies_of_a_named_host_stay_with_its_requests_regression_1(void **state) {
    fixture f;
    (void)state;
    start(&f);
    script_cookie(&f, "/bank", "sid=secret; Path=/");
    script_cookie(&f, "/evil", "evil=1; Path=/");
    fixture_script(&f, "/away", (nct_reply){.location = fixture_url_at(&f, "localhost", "/evil")});
    const char *plain = fixture_url_at(&f, "localhost", "/evil");
    for (int use = NC_COOKIES_SEND_AND_STORE; use <= NC_COOKIES_STORE_ONLY; use++) {
        (void)get_as(&f, fixture_url(&f, "/bank"), "bank.example", NC_COOKIES_SEND_AND_STORE);
        (void)get_as(&f, fixture_url(&f, "/bank"), "bank.example", (nc_cookie_use)use);
        for (int then = NC_COOKIES_SEND_AND_STORE; then <= NC_COOKIES_STORE_ONLY; then++) {
            assert_status(get_as(&f, plain, "", (nc_cookie_use)then).error.status, NC_OK);
            assert_null(strstr(sent(&f), "sid"));
        }
        assert_status(get_as(&f, fixture_url(&f, "/away"), "bank.example", (nc_cookie_use)use).error.status, NC_OK);
        assert_null(strstr(sent(&f), "sid"));
        (void)get_as(&f, fixture_url(&f, "/"), "bank.example", NC_COOKIES_SEND_ONLY);
        assert_string_equal(sent(&f), "sid=secret"); // no cookie was stored for the other host
        assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), NULL), NC_OK);
    }
    fixture_stop(&f);
}

static void engine__concurrent_stores_lose_no_cookie(void **state) {
    enum { COUNT = 40 };
    fixture f;
    nc_transfer_id ids[COUNT];
    (void)state;
    start(&f);
    for (size_t i = 0; i < COUNT; i++) {
        const char *path = fixture_text(&f, "/%zu", i);
        // In small pieces, so that many heads are in flight concurrently.
        fixture_script(&f, path,
                       (nct_reply){.headers = fixture_text(&f, "Set-Cookie: n%zu=v; Path=/\r\nX-Rest: 1\r\n", i),
                                   .drip_bytes = 23,
                                   .pattern_length = 50});
        nc_request request = fixture_request(&f, path);
        request.cookie_use = i % 2 == 0 ? NC_COOKIES_STORE_ONLY : NC_COOKIES_SEND_AND_STORE;
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_status(fixture_wait(&f, ids[i]).error.status, NC_OK);
    }
    const char *stored = jar(&f);
    for (size_t i = 0; i < COUNT; i++) {
        assert_non_null(strstr(stored, fixture_text(&f, "n%zu=v", i)));
    }
    fixture_stop(&f);
}

/// Starts a request that only stores, stalls its response within the head, and returns its id.
static nc_transfer_id begin_storing(fixture *f, const char *fields) {
    static const char begin[] = "HTTP/1.1 200 OK\r\nX-Rest: 1\r\n";
    const char *reply = fixture_text(f, "%s%sContent-Length: 0\r\n\r\n", begin, fields);
    fixture_script(f, "/slow",
                   (nct_reply){.is_raw = true,
                               .body = reply,
                               .body_length = strlen(reply),
                               .is_cut = true,
                               .cut_after = sizeof begin - 1,
                               .ending = NCT_STALL});
    nc_request request = fixture_request(f, "/slow");
    request.cookie_use = NC_COOKIES_STORE_ONLY;
    nc_transfer_id id = fixture_submit(f, &request);
    assert_true(nct_server_wait_for_stalled(f->server, 1, FIXTURE_LIMIT_MS));
    (void)get(f, "/nothing", NC_COOKIES_IGNORE); // when this response arrives, the loop has read the earlier bytes
    return id;
}

static void end_storing(fixture *f, nc_transfer_id id) {
    nct_server_release_stalled(f->server);
    assert_response(fixture_wait(f, id), 200, "");
}

static void engine__changes_during_a_store_persist_regression_2(void **state) {
    fixture f;
    (void)state;
    start(&f);
    script_cookie(&f, "/old", "sid=old; Path=/");
    script_cookie(&f, "/new", "sid=new; Path=/");
    (void)fixture_get(&f, "/old");
    nc_transfer_id id = begin_storing(&f, "Set-Cookie: other=1; Path=/\r\n");
    (void)fixture_get(&f, "/new");
    end_storing(&f, id);
    assert_non_null(strstr(jar(&f), "sid=new"));
    assert_non_null(strstr(jar(&f), "other=1"));
    script_cookie(&f, "/empty", "empty=1; Path=");
    (void)fixture_get(&f, "/empty");
    id = begin_storing(&f, "Set-Cookie: last=1; Path=/\r\n");
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), NULL), NC_OK); // for example a logout
    assert_string_equal(jar(&f), "");
    end_storing(&f, id);
    assert_string_equal(jar(&f), "last=1");
    fixture_stop(&f);
}

static void engine__a_removed_cookie_stays_removed_despite_concurrent_changes(void **state) {
    fixture f;
    (void)state;
    start(&f);
    script_cookie(&f, "/old", "sid=old; Path=/");
    script_cookie(&f, "/two", "two=2; Path=/");
    script_cookie(&f, "/new", "sid=new; Path=/");
    (void)fixture_get(&f, "/old");
    nc_transfer_id id = begin_storing(&f, "Set-Cookie: sid=; Path=/; Max-Age=0\r\n");
    (void)fixture_get(&f, "/two");
    end_storing(&f, id);
    assert_string_equal(jar(&f), "two=2");
    (void)fixture_get(&f, "/old");
    id = begin_storing(&f, "Set-Cookie: sid=; Path=/; Max-Age=0\r\nSet-Cookie: two=3; Path=/\r\n");
    (void)fixture_get(&f, "/new");
    end_storing(&f, id);
    assert_string_equal(jar(&f), "two=3");
    fixture_stop(&f);
}

static void engine__a_rejected_response_stores_no_cookies(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script_raw(&f, "/",
                       "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi");
    assert_status(get(&f, "/", NC_COOKIES_STORE_ONLY).error.status, NC_ERR_BAD_RESPONSE);
    assert_string_equal(jar(&f), "");
    fixture_script_raw(&f, "/cut", "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX-");
    assert_status(get(&f, "/cut", NC_COOKIES_STORE_ONLY).error.status, NC_ERR_CUT_SHORT);
    assert_string_equal(jar(&f), "");
    fixture_stop(&f);
}

static void engine__an_unknown_cookie_use_is_rejected(void **state) {
    fixture f;
    nc_transfer_id id;
    nc_error err;
    (void)state;
    start(&f);
    nc_request request = fixture_request(&f, "/");
    request.cookie_use = NC_COOKIES_STORE_ONLY + 1;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_USAGE);
    request.cookie_use = 255;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_USAGE);
    assert_non_null(strstr(err.message, "255"));
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__each_cookie_use_sends_and_stores_as_documented),
        harness_case(engine__without_a_jar_no_cookie_use_stores_or_sends_cookies),
        harness_case(engine__send_only_or_store_only_applies_to_every_hop),
        harness_case(engine__send_only_or_store_only_applies_when_libcurl_resends),
        harness_case(engine__the_callers_cookie_field_is_sent_with_every_cookie_use),
        harness_case(engine__cookies_of_a_named_host_stay_with_its_requests_regression_1),
        harness_case(engine__concurrent_stores_lose_no_cookie),
        harness_case(engine__changes_during_a_store_persist_regression_2),
        harness_case(engine__a_removed_cookie_stays_removed_despite_concurrent_changes),
        harness_case(engine__a_rejected_response_stores_no_cookies),
        harness_case(engine__an_unknown_cookie_use_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
