/// The engine against httpbin: credentials, cookies and conditional requests.
#include "httpbin.h"

#include <netcore/cookies.h>
#include <string.h>

static nc_credentials credentials_of(uint32_t schemes, const char *password) {
    return (nc_credentials){.schemes = schemes, .user = nc_slice_of("me"), .password = nc_slice_of(password)};
}

static answer ask_as(fixture *f, const char *path, uint32_t schemes, const char *password) {
    nc_request request = httpbin_request(f, path);
    request.credentials = credentials_of(schemes, password);
    return fixture_send(f, &request);
}

/* --- credentials --- */

static void httpbin__basic_credentials_authenticate(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    assert_int_equal(nc_response_status(httpbin_get(&f, "/basic-auth/me/s%20e:c").response), 401);
    answer one = ask_as(&f, "/basic-auth/me/s%20e:c", NC_AUTH_BASIC, "s e:c");
    assert_int_equal(nc_response_status(one.response), 200);
    assert_body_has(&f, one, "\"user\": \"me\"");
    assert_int_equal(nc_response_status(ask_as(&f, "/basic-auth/me/pw", NC_AUTH_BASIC, "wrong").response), 401);
    // This path responds with 404 and no challenge, so the name must be sent preemptively.
    assert_int_equal(nc_response_status(ask_as(&f, "/hidden-basic-auth/me/pw", NC_AUTH_BASIC, "pw").response), 200);
    assert_int_equal(nc_response_status(httpbin_get(&f, "/hidden-basic-auth/me/pw").response), 404);
    fixture_stop(&f);
}

static void httpbin__digest_challenges_are_answered(void **state) {
    static const char *const paths[] = {"/digest-auth/auth/me/pw", "/digest-auth/auth/me/pw/MD5",
                                        "/digest-auth/auth/me/pw/SHA-256"};
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(nc_response_status(ask_as(&f, paths[i], NC_AUTH_DIGEST, "pw").response), 200);
        assert_int_equal(nc_response_status(ask_as(&f, paths[i], NC_AUTH_DIGEST, "wrong").response), 401);
        // The stronger of two schemes is used, and the password is not sent in plain text before the challenge.
        assert_int_equal(nc_response_status(ask_as(&f, paths[i], NC_AUTH_BASIC | NC_AUTH_DIGEST, "pw").response), 200);
    }
    fixture_stop(&f);
}

static void httpbin__a_bearer_token_is_sent(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    assert_int_equal(nc_response_status(httpbin_get(&f, "/bearer").response), 401);
    nc_request request = httpbin_request(&f, "/bearer");
    request.credentials = (nc_credentials){.schemes = NC_AUTH_BEARER, .token = nc_slice_of("a.b-c")};
    answer one = fixture_send(&f, &request);
    assert_int_equal(nc_response_status(one.response), 200);
    assert_body_has(&f, one, "\"token\": \"a.b-c\"");
    fixture_stop(&f);
}

/* --- cookies --- */

static void httpbin__cookies_are_set_stored_and_deleted(void **state) {
    fixture f;
    nc_buf jar = nc_buf_init(4096);
    (void)state;
    ask_start(&f, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    // Set by a redirect, so the next hop of the same transfer already sends them.
    answer one = httpbin_get(&f, "/cookies/set?a=1&b=two");
    assert_int_equal(nc_response_hop_count(one.response), 2);
    assert_body_has(&f, one, "\"a\": \"1\"");
    assert_body_has(&f, one, "\"b\": \"two\"");
    one = httpbin_get(&f, "/cookies/delete?a");
    assert_null(strstr(ask_body(&f, one), "\"a\""));
    assert_body_has(&f, one, "\"b\": \"two\"");
    assert_status(nc_engine_copy_cookies(f.engine, &jar, NULL), NC_OK);
    nc_buf_append_byte(&jar, 0);
    assert_non_null(strstr((const char *)jar.data, "\tb\ttwo"));
    nc_buf_deinit(&jar);
    nc_request request = httpbin_request(&f, "/cookies");
    request.cookie_use = NC_COOKIES_IGNORE;
    one = fixture_send(&f, &request);
    assert_null(strstr(ask_body(&f, one), "two"));
    fixture_stop(&f);
}

static void httpbin__cookies_are_not_stored_without_a_jar(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    answer one = httpbin_get(&f, "/cookies/set?a=1");
    assert_body_has(&f, one, "\"cookies\": {}");
    nc_header own = {nc_slice_of("Cookie"), nc_slice_of("own=3")};
    nc_request request = httpbin_request(&f, "/cookies");
    request.headers = &own;
    request.header_count = 1;
    assert_body_has(&f, fixture_send(&f, &request), "\"own\": \"3\"");
    fixture_stop(&f);
}

/* --- conditions --- */

static answer ask_with(fixture *f, const char *path, const char *name, const char *value) {
    nc_header field = {nc_slice_of(name), nc_slice_of(value)};
    nc_request request = httpbin_request(f, path);
    request.headers = &field;
    request.header_count = 1;
    return fixture_send(f, &request);
}

static void httpbin__conditional_requests_get_304_and_412(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    answer one = httpbin_get(&f, "/etag/v1");
    assert_int_equal(nc_response_status(one.response), 200);
    assert_field(one, "etag", "v1");
    assert_response(ask_with(&f, "/etag/v1", "If-None-Match", "v1"), 304, "");
    assert_int_equal(nc_response_status(ask_with(&f, "/etag/v1", "If-None-Match", "v0").response), 200);
    assert_int_equal(nc_response_status(ask_with(&f, "/etag/v1", "If-Match", "v0").response), 412);
    assert_int_equal(nc_response_status(httpbin_get(&f, "/cache").response), 200);
    assert_response(ask_with(&f, "/cache", "If-Modified-Since", "Thu, 01 Jan 2026 00:00:00 GMT"), 304, "");
    assert_field(httpbin_get(&f, "/cache/60"), "cache-control", "public, max-age=60");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    if (!server_is_installed(INTEROP_PYTHON)) {
        return server_missing("httpbin (build/venv)");
    }
    const struct CMUnitTest cases[] = {
        harness_case(httpbin__basic_credentials_authenticate),
        harness_case(httpbin__digest_challenges_are_answered),
        harness_case(httpbin__a_bearer_token_is_sent),
        harness_case(httpbin__cookies_are_set_stored_and_deleted),
        harness_case(httpbin__cookies_are_not_stored_without_a_jar),
        harness_case(httpbin__conditional_requests_get_304_and_412),
    };
    return cmocka_run_group_tests(cases, httpbin_start, httpbin_stop);
}
