/// The engine against httpbin: methods, statuses, redirects, forms, codings, ranges, slow responses.
#include "httpbin.h"

#include <string.h>

/* --- asking --- */

static void httpbin__receives_each_method_unchanged(void **state) {
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"};
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        nc_request request = httpbin_request(&f, "/anything/here?a=1&a=2");
        request.method = nc_slice_of(methods[i]);
        answer one = fixture_send(&f, &request);
        assert_int_equal(nc_response_status(one.response), 200);
        const char *method = fixture_text(&f, "\"method\": \"%.*s\"", (int)request.method.length, request.method.data);
        assert_body_has(&f, one, method);
        assert_body_has(&f, one, "/anything/here?a=1&a=2\"");
    }
    nc_request request = httpbin_request(&f, "/get");
    request.method = nc_slice_of("HEAD");
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "");
    request.method = nc_slice_of("OPTIONS");
    one = fixture_send(&f, &request);
    assert_response(one, 200, "");
    nc_slice allowed;
    assert_true(nc_response_find_header(one.response, nc_slice_of("allow"), &allowed));
    fixture_stop(&f);
}

static void httpbin__error_statuses_are_responses(void **state) {
    static const unsigned codes[] = {200, 201, 202, 204, 205, 300, 304, 400, 403, 404, 405,
                                     409, 410, 418, 422, 429, 500, 501, 502, 503, 504};
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        answer one = httpbin_get(&f, fixture_text(&f, "/status/%u", codes[i]));
        assert_ended(one, NC_OK, 0, "");
        assert_int_equal(nc_response_status(one.response), codes[i]);
    }
    fixture_stop(&f);
}

static void httpbin__receives_fields_forms_and_documents(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    nc_header fields[] = {{nc_slice_of("Content-Type"), nc_slice_of("application/json")},
                          {nc_slice_of("X-Twice"), nc_slice_of("one")},
                          {nc_slice_of("X-Twice"), nc_slice_of("two")}};
    nc_request request = httpbin_upload(&f, "POST", "/post", "{\"name\": \"J\\u00fcrg\"}");
    request.headers = fields;
    request.header_count = 3;
    answer one = fixture_send(&f, &request);
    assert_int_equal(nc_response_status(one.response), 200);
    assert_body_has(&f, one, "\"name\": \"J\\u00fcrg\"");
    assert_body_has(&f, one, "\"X-Twice\": \"one,two\"");
    fields[0].value = nc_slice_of("application/x-www-form-urlencoded");
    request = httpbin_upload(&f, "PUT", "/put", "user=ada&text=a%20b%26c");
    request.headers = fields;
    request.header_count = 1;
    one = fixture_send(&f, &request);
    assert_int_equal(nc_response_status(one.response), 200);
    assert_body_has(&f, one, "\"text\": \"a b&c\"");
    assert_body_has(&f, one, "\"user\": \"ada\"");
    fixture_stop(&f);
}

static nc_pull pull_some(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    size_t *left = ctx;
    (void)id;
    *filled = *left < capacity ? *left : capacity;
    memset(bytes, 'u', *filled);
    *left -= *filled;
    return *left == 0 ? NC_PULL_END : NC_PULL_MORE;
}

static void httpbin__accepts_uploads_with_a_length_and_chunked(void **state) {
    enum { BYTES = 200000 };
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        size_t left = BYTES;
        nc_request request = httpbin_request(&f, "/put");
        request.method = nc_slice_of("PUT");
        request.body_source = (nc_body_source){.ctx = &left, .pull = pull_some};
        request.body_length = is_chunked ? NC_LENGTH_UNKNOWN : BYTES;
        answer one = fixture_send(&f, &request);
        assert_int_equal(nc_response_status(one.response), 200);
        assert_body_has(&f, one, is_chunked ? "\"Transfer-Encoding\": \"chunked\"" : "\"Content-Length\": \"200000\"");
        // The document contains the whole body.
        assert_in_range(nc_response_body(one.response).length, BYTES, BYTES + 2000);
    }
    fixture_stop(&f);
}

/* --- redirects --- */

static void httpbin__redirects_are_followed_relative_and_absolute(void **state) {
    static const char *const paths[] = {"/redirect/5", "/relative-redirect/5", "/absolute-redirect/5"};
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        answer one = httpbin_get(&f, paths[i]);
        assert_int_equal(nc_response_status(one.response), 200);
        assert_int_equal(nc_response_hop_count(one.response), 6);
        assert_int_equal(nc_response_hop_at(one.response, 4).status, 302);
    }
    answer one = httpbin_get(&f, "/redirect/21");
    assert_int_equal(one.error.status, NC_ERR_TOO_MANY_REDIRECTS);
    nc_request request = httpbin_request(&f, "/redirect/1");
    request.redirects = NC_REDIRECTS_RETURN;
    one = fixture_send(&f, &request);
    assert_int_equal(nc_response_status(one.response), 302);
    fixture_stop(&f);
}

static void httpbin__the_status_decides_whether_a_redirect_preserves_the_method(void **state) {
    static const struct {
        unsigned status;
        const char *method;
        bool keeps_body;
    } cases[] = {
        {301, "GET", false}, {302, "GET", false}, {303, "GET", false}, {307, "POST", true}, {308, "POST", true}};
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_request request = httpbin_upload(
            &f, "POST", fixture_text(&f, "/redirect-to?url=%%2Fanything&status_code=%u", cases[i].status), "kept");
        answer one = fixture_send(&f, &request);
        assert_int_equal(nc_response_status(one.response), 200);
        assert_body_has(&f, one, fixture_text(&f, "\"method\": \"%s\"", cases[i].method));
        assert_body_has(&f, one, cases[i].keeps_body ? "\"data\": \"kept\"" : "\"data\": \"\"");
    }
    fixture_stop(&f);
}

/* --- responses --- */

static void httpbin__codings_are_decoded(void **state) {
    static const struct {
        const char *path;
        const char *coding;
        const char *word;
    } cases[] = {{"/gzip", "gzip", "\"gzipped\": true"},
                 {"/deflate", "deflate", "\"deflated\": true"},
                 {"/brotli", "br", "\"brotli\": true"}};
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].coding, "br") == 0 && !nc_capabilities_query().has_brotli) {
            continue;
        }
        nc_request request = httpbin_request(&f, cases[i].path);
        request.accepts_codings = true;
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_OK, 0, "");
        assert_field(one, "content-encoding", cases[i].coding);
        assert_body_has(&f, one, cases[i].word);
    }
    answer one = httpbin_get(&f, "/encoding/utf8");
    assert_body_has(&f, one, "∮ E⋅da = Q,  n → ∞");
    fixture_stop(&f);
}

static void httpbin__repeated_fields_stay_separate_and_in_order(void **state) {
    fixture f;
    char seen[32] = "";
    (void)state;
    ask_start(&f, NULL);
    answer one = httpbin_get(&f, "/response-headers?X-Many=one&X-Many=two&X-Many=three");
    for (size_t i = 0; i < nc_response_header_count(one.response); i++) {
        nc_header field = nc_response_header_at(one.response, i);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("x-many"))) {
            strncat(seen, (const char *)field.value.data, field.value.length);
            strcat(seen, ";");
        }
    }
    assert_string_equal(seen, "one;two;three;");
    fixture_stop(&f);
}

static void httpbin__ranges_get_a_206_or_416(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    nc_header range = {nc_slice_of("Range"), nc_slice_of("bytes=26-51")};
    nc_request request = httpbin_request(&f, "/range/1024");
    request.headers = &range;
    request.header_count = 1;
    answer one = fixture_send(&f, &request);
    assert_response(one, 206, "abcdefghijklmnopqrstuvwxyz");
    assert_field(one, "content-range", "bytes 26-51/1024");
    range.value = nc_slice_of("bytes=5000-");
    assert_response(fixture_send(&f, &request), 416, "");
    fixture_stop(&f);
}

static void httpbin__streams_are_complete(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    answer one = httpbin_get(&f, "/stream/20");
    const char *text = ask_body(&f, one);
    unsigned lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    assert_int_equal(lines, 20);
    one = httpbin_get(&f, "/stream-bytes/100000?seed=1&chunk_size=777");
    assert_int_equal(nc_response_body(one.response).length, 100000);
    assert_false(nc_response_is_close_delimited(one.response));
    fixture_stop(&f);
}

static void httpbin__drip_and_delay_obey_the_timeouts(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    answer one = httpbin_get(&f, "/drip?duration=0.2&numbytes=20&code=203");
    assert_response(one, 203, "********************");
    nc_request request = httpbin_request(&f, "/delay/10");
    request.limits.first_byte_ms = 200;
    assert_int_equal(fixture_send(&f, &request).error.status, NC_ERR_FIRST_BYTE_TIMED_OUT);
    request = httpbin_request(&f, "/drip?duration=20&numbytes=4");
    request.limits.idle_ms = 200;
    assert_int_equal(fixture_send(&f, &request).error.status, NC_ERR_IDLE_TIMED_OUT);
    request = httpbin_request(&f, "/drip?duration=20&numbytes=400");
    request.limits.total_ms = 300;
    one = fixture_send(&f, &request);
    assert_int_equal(one.error.status, NC_ERR_TOTAL_TIMED_OUT);
    assert_int_equal(nc_response_status(one.response), 200);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    if (!server_is_installed(INTEROP_PYTHON)) {
        return server_missing("httpbin (build/venv)");
    }
    const struct CMUnitTest cases[] = {
        harness_case(httpbin__receives_each_method_unchanged),
        harness_case(httpbin__error_statuses_are_responses),
        harness_case(httpbin__receives_fields_forms_and_documents),
        harness_case(httpbin__accepts_uploads_with_a_length_and_chunked),
        harness_case(httpbin__redirects_are_followed_relative_and_absolute),
        harness_case(httpbin__the_status_decides_whether_a_redirect_preserves_the_method),
        harness_case(httpbin__codings_are_decoded),
        harness_case(httpbin__repeated_fields_stay_separate_and_in_order),
        harness_case(httpbin__ranges_get_a_206_or_416),
        harness_case(httpbin__streams_are_complete),
        harness_case(httpbin__drip_and_delay_obey_the_timeouts),
    };
    return cmocka_run_group_tests(cases, httpbin_start, httpbin_stop);
}
