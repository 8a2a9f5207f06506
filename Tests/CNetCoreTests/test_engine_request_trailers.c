/// Trailers of requests: fixed and computed values, every kind of body, redirects, resends, and what is refused.
#include "fixture.h"

#include <netcore/multipart.h>
#include <netcore/transfers.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const nc_header sum = {{(const uint8_t *)"X-Sum", 5}, {(const uint8_t *)"17", 2}};
static const nc_header sum_without_value = {{(const uint8_t *)"X-Sum", 5}, {0}};

/// The callback's state: what it returns, and how often it was called.
typedef struct computed {
    const char *value;
    nc_trailer_result result;
    atomic_uint calls;
    unsigned late_calls; // that return NC_TRAILER_LATER
} computed;

static nc_trailer_result compute(void *ctx, nc_transfer_id id, size_t index, nc_buf *value) {
    computed *one = ctx;
    (void)id;
    (void)index;
    if (one->calls++ < one->late_calls) {
        nc_buf_append(value, nc_slice_of("ignored"));
        return NC_TRAILER_LATER;
    }
    nc_buf_append(value, nc_slice_of(one->value));
    return one->result;
}

static nc_request put(fixture *f, const char *path, const nc_header *fields, size_t count) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of("hello");
    request.trailers = (nc_trailers){.fields = fields, .count = count};
    return request;
}

static nc_request put_computed(fixture *f, const char *path, computed *one) {
    nc_request request = put(f, path, &sum_without_value, 1);
    request.trailers.compute = compute;
    request.trailers.ctx = one;
    return request;
}

static void start(fixture *f) {
    fixture_start(f, NCT_PLAIN);
    fixture_script(f, "/echo", (nct_reply){.is_echo = true});
    fixture_script(f, "/moved", (nct_reply){.status = 307, .location = "/echo"});
}

/// Fails unless the server received request `index` with this end, and the field Trailer.
static void assert_received(fixture *f, size_t index, const char *end) {
    const char *received = fixture_received(f, index);
    const char *body = strstr(received, "\r\n\r\n");
    assert_non_null(strstr(received, "\r\nTransfer-Encoding: chunked\r\n"));
    assert_non_null(strstr(received, "\r\nTrailer: X-Sum\r\n"));
    assert_null(strstr(received, "Content-Length"));
    assert_non_null(body);
    assert_string_equal(body + 4, end);
}

/* --- what is sent --- */

static void request_trailers__follow_a_chunked_body_and_are_announced(void **state) {
    fixture f;
    (void)state;
    start(&f);
    nc_request request = put(&f, "/echo", &sum, 1);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_received(&f, 0, "5\r\nhello\r\n0\r\nX-Sum: 17\r\n\r\n");
    fixture_stop(&f);
}

static void request_trailers__keep_their_order_and_duplicates(void **state) {
    static const nc_header fields[] = {
        {{(const uint8_t *)"b", 1}, {(const uint8_t *)"1, \xff", 4}},
        {{(const uint8_t *)"A", 1}, {0}},
        {{(const uint8_t *)"b", 1}, {(const uint8_t *)"2", 1}},
    };
    fixture f;
    (void)state;
    start(&f);
    nc_request request = put(&f, "/echo", fields, 3);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nTrailer: b, A, b\r\n"));
    assert_non_null(strstr(fixture_received(&f, 0), "\r\n0\r\nb: 1, \xff\r\nA: \r\nb: 2\r\n\r\n"));
    fixture_stop(&f);
}

static void request_trailers__follow_every_kind_of_body(void **state) {
    char path[] = "/tmp/netcore-test.XXXXXX";
    int fd = mkstemp(path);
    nc_multipart *form;
    nc_error err;
    fixture f;
    (void)state;
    start(&f);
    assert_int_equal(write(fd, "from a file", 11), 11);
    assert_int_equal(close(fd), 0);
    nc_request file = put(&f, "/echo", &sum, 1);
    file.body = nc_slice_of("");
    nc_request empty = file;
    nc_request form_request = file;
    file.body_file = nc_slice_of(path);
    assert_response(fixture_send(&f, &file), 200, "from a file");
    assert_received(&f, 0, "b\r\nfrom a file\r\n0\r\nX-Sum: 17\r\n\r\n");
    empty.has_body = true;
    assert_response(fixture_send(&f, &empty), 200, "");
    assert_received(&f, 1, "0\r\nX-Sum: 17\r\n\r\n");
    assert_int_equal(nc_multipart_new(&form, NULL, &err), NC_OK);
    assert_int_equal(nc_multipart_add(form, &(nc_part){.name = nc_slice_of("a"), .bytes = nc_slice_of("b")}, &err),
                     NC_OK);
    form_request.multipart = form;
    answer one = fixture_send(&f, &form_request);
    assert_int_equal(nc_response_status(one.response), 200);
    assert_non_null(strstr(fixture_received(&f, 2), "--\r\n\r\n0\r\nX-Sum: 17\r\n\r\n"));
    nc_multipart_release(form);
    assert_int_equal(unlink(path), 0);
    fixture_stop(&f);
}

/* --- computed values --- */

static void request_trailers__are_computed_after_the_body(void **state) {
    fixture f;
    computed one = {.value = "abc"};
    (void)state;
    start(&f);
    nc_request request = put_computed(&f, "/echo", &one);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_received(&f, 0, "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n");
    assert_int_equal(one.calls, 1);
    one.result = NC_TRAILER_OMIT;
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_received(&f, 1, "5\r\nhello\r\n0\r\n\r\n");
    fixture_stop(&f);
}

static void request_trailers__may_be_computed_later(void **state) {
    fixture f;
    computed one = {.value = "abc", .late_calls = 3};
    answer got = {0};
    nc_status status;
    (void)state;
    start(&f);
    nc_request request = put_computed(&f, "/echo", &one);
    nc_transfer_id id = fixture_submit(&f, &request);
    do {
        nc_engine_resume(f.engine, id);
        status = nc_engine_wait(f.engine, id, 5, &got.response, &got.error);
    } while (status == NC_ERR_WAIT_TIMED_OUT);
    assert_response(got, 200, "hello");
    assert_int_equal(one.calls, 4);
    assert_received(&f, 0, "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n");
    nc_response_release(got.response);
    fixture_stop(&f);
}

static void request_trailers__are_not_awaited_after_a_complete_response(void **state) {
    static const char raw[] = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nenough";
    fixture f;
    computed one = {.late_calls = UINT32_MAX};
    (void)state;
    start(&f);
    fixture_script(&f, "/early",
                   (nct_reply){.is_raw = true, .early = NCT_EARLY_DISCARD, .body = raw, .body_length = sizeof raw - 2});
    nc_request request = put_computed(&f, "/early", &one);
    answer got = fixture_send(&f, &request);
    assert_response(got, 413, "enoug");
    fixture_stop(&f);
}

static void request_trailers__end_the_transfer_if_a_value_cannot_be_sent(void **state) {
    char *large = malloc(NC_MAX_TRAILER_BYTES + 2);
    fixture f;
    (void)state;
    assert_non_null(large);
    memset(large, 'x', NC_MAX_TRAILER_BYTES + 1);
    large[NC_MAX_TRAILER_BYTES + 1] = '\0';
    const struct {
        computed one;
        nc_status status;
        const char *part;
    } rows[] = {
        {{.value = "a\nb"}, NC_ERR_BAD_HEADER, "forbidden byte 0x0a in the value of header X-Sum"},
        {{.value = "a "}, NC_ERR_BAD_HEADER, "white space around the value of header X-Sum"},
        {{.value = large}, NC_ERR_TOO_LARGE, "the value of the trailer X-Sum"},
        {{.value = "", .result = NC_TRAILER_FAIL}, NC_ERR_BODY_SOURCE, "the callback for the trailer X-Sum failed"},
        {{.value = "", .result = (nc_trailer_result)9}, NC_ERR_BODY_SOURCE, "returned an invalid result"},
    };
    start(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        computed one = rows[i].one;
        nc_request request = put_computed(&f, "/echo", &one);
        assert_ended(fixture_send(&f, &request), rows[i].status, 0, rows[i].part);
    }
    assert_int_equal(nct_server_request_count(f.server), 0);
    large[NC_MAX_TRAILER_BYTES - 10] = '\0';
    computed one = {.value = large};
    nc_request request = put_computed(&f, "/echo", &one);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_non_null(strstr(fixture_received(&f, 0), large));
    free(large);
    fixture_stop(&f);
}

/* --- redirects and further sends --- */

static void request_trailers__are_sent_again_after_a_redirect_with_the_body(void **state) {
    fixture f;
    computed one = {.value = "abc"};
    (void)state;
    start(&f);
    nc_request request = put_computed(&f, "/moved", &one);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_int_equal(one.calls, 2);
    assert_received(&f, 0, "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n");
    assert_received(&f, 1, "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n");
    fixture_stop(&f);
}

static void request_trailers__are_dropped_with_the_body(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script(&f, "/seen", (nct_reply){.status = 303, .location = "/echo"});
    nc_request request = put(&f, "/seen", &sum, 1);
    assert_response(fixture_send(&f, &request), 200, "");
    assert_null(strstr(fixture_received(&f, 1), "Trailer"));
    assert_null(strstr(fixture_received(&f, 1), "chunked"));
    fixture_stop(&f);
}

static void request_trailers__are_not_sent_to_another_origin(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script(&f, "/away", (nct_reply){.status = 307, .location = fixture_url_at(&f, "localhost", "/echo")});
    nc_request request = put(&f, "/away", &sum, 1);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_null(strstr(fixture_received(&f, 1), "Trailer"));
    assert_null(strstr(fixture_received(&f, 1), "X-Sum"));
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nContent-Length: 5\r\n"));
    fixture_stop(&f);
}

static nc_credentials user(uint32_t schemes) {
    return (nc_credentials){.schemes = schemes, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
}

static void request_trailers__are_sent_again_after_a_challenge(void **state) {
    static const char challenge[] = "WWW-Authenticate: Basic realm=\"b\"\r\n"
                                    "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";
    static const uint32_t schemes[] = {NC_AUTH_DIGEST | NC_AUTH_BASIC, NC_AUTH_DIGEST, NC_AUTH_BASIC};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        fixture f;
        const nct_reply replies[] = {{.status = 401, .headers = challenge}, {.is_echo = true}};
        start(&f);
        assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, schemes[i] == NC_AUTH_BASIC ? 1 : 2), 0);
        nc_request request = put(&f, "/d", &sum, 1);
        request.credentials = user(schemes[i]);
        answer got = fixture_send(&f, &request);
        size_t last = nct_server_request_count(f.server) - 1;
        assert_int_equal(last, schemes[i] == NC_AUTH_BASIC ? 0 : 1);
        assert_response(got, last == 0 ? 401 : 200, last == 0 ? "" : "hello");
        assert_received(&f, last, "5\r\nhello\r\n0\r\nX-Sum: 17\r\n\r\n");
        fixture_stop(&f);
    }
}

static void request_trailers__are_sent_again_after_a_stale_nonce(void **state) {
    static const nct_reply replies[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"},
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"m\", qop=\"auth\", stale=true\r\n"},
        {.is_echo = true}};
    fixture f;
    (void)state;
    start(&f);
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 3), 0);
    nc_request request = put(&f, "/d", &sum, 1);
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_int_equal(nct_server_request_count(f.server), 3);
    assert_received(&f, 1, "5\r\nhello\r\n0\r\nX-Sum: 17\r\n\r\n");
    assert_received(&f, 2, "5\r\nhello\r\n0\r\nX-Sum: 17\r\n\r\n");
    assert_non_null(strstr(fixture_received(&f, 2), "nonce=\"m\""));
    fixture_stop(&f);
}

static void request_trailers__are_sent_again_on_a_new_connection(void **state) {
    static const nct_reply replies[] = {
        {.body = "kept", .body_length = 4}, {.is_cut = true, .ending = NCT_CLOSE}, {.is_echo = true}};
    fixture f;
    computed one = {.value = "abc"};
    (void)state;
    start(&f);
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 3), 0);
    assert_response(fixture_get(&f, "/d"), 200, "kept");
    nc_request request = put_computed(&f, "/d", &one);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_received(&f, 2, "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n");
    fixture_stop(&f);
}

static void request_trailers__leave_the_handle_without_a_trace(void **state) {
    fixture f;
    (void)state;
    start(&f);
    nc_request request = put(&f, "/echo", &sum, 1);
    assert_response(fixture_send(&f, &request), 200, "hello");
    request.trailers = (nc_trailers){0};
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nContent-Length: 5\r\n"));
    assert_null(strstr(fixture_received(&f, 1), "X-Sum"));
    fixture_stop(&f);
}

/* --- protocols --- */

static void request_trailers__make_a_request_use_http_1_1(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = put(&f, "/echo", &sum, 1);
    assert_response(fixture_send(&f, &request), 200, "hello");
    assert_received(&f, 0, "5\r\nhello\r\n0\r\nX-Sum: 17\r\n\r\n");
    fixture_stop(&f);
}

static void request_trailers__are_refused_by_the_other_versions(void **state) {
    static const struct {
        nc_http_choice http;
        const char *part;
    } rows[] = {
        {NC_HTTP_1_0, "trailers need HTTP/1.1, because HTTP/1.0 has no trailers"},
        {NC_HTTP_2_PRIOR_KNOWLEDGE, "trailers need HTTP/1.1, because libcurl sends none over HTTP/2"},
        {NC_HTTP_3_ONLY, "trailers need HTTP/1.1, because libcurl sends none over HTTP/3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_request request = {.url = nc_slice_of("https://a.example/"), .has_body = true, .http = rows[i].http};
        nc_error err;
        request.trailers = (nc_trailers){.fields = &sum, .count = 1};
        assert_status(nc_request_check(&request, &err), NC_ERR_UNSUPPORTED);
        assert_string_equal(err.message, rows[i].part);
    }
}

/* --- what is refused --- */

static nc_status check(const nc_header *fields, size_t count, nc_error *err) {
    nc_request request = {.url = nc_slice_of("http://a.example/"), .has_body = true};
    request.trailers = (nc_trailers){.fields = fields, .count = count};
    return nc_request_check(&request, err);
}

static void request_trailers__may_not_be_fields_that_are_needed_before_the_body(void **state) {
    static const char *const refused[] = {"Content-Length",
                                          "transfer-encoding",
                                          "HOST",
                                          "Authorization",
                                          "Proxy-Authorization",
                                          "Cookie",
                                          "Set-Cookie",
                                          "Content-Type",
                                          "Trailer",
                                          "Content-Encoding",
                                          "Content-Range",
                                          "TE",
                                          "Connection",
                                          "Upgrade",
                                          "Expect",
                                          "Range",
                                          "If-None-Match",
                                          "Accept",
                                          "Accept-Encoding",
                                          "Cache-Control",
                                          "Keep-Alive",
                                          "Max-Forwards",
                                          "WWW-Authenticate",
                                          "Via",
                                          "X-Forwarded-For",
                                          "Forwarded",
                                          "Date",
                                          "Location",
                                          "If-Range",
                                          "Pragma",
                                          "Proxy-Authenticate",
                                          "Set-Cookie2",
                                          "Vary",
                                          "Retry-After",
                                          "Proxy-Connection",
                                          "Origin",
                                          "X-HTTP-Method-Override"};
    static const char *const accepted[] = {"Content-Digest", "Repr-Digest",   "X-Amz-Checksum-SHA256",
                                           "grpc-status",    "Server-Timing", "ETag",
                                           "Digest",         "Host-Sum"};
    nc_error err;
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        nc_header field = {nc_slice_of(refused[i]), nc_slice_of("1")};
        assert_status(check(&field, 1, &err), NC_ERR_BAD_HEADER);
        assert_non_null(strstr(err.message, "cannot be a trailer"));
        assert_ptr_equal(strstr(err.message, refused[i]), err.message);
    }
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        nc_header field = {nc_slice_of(accepted[i]), nc_slice_of("1")};
        assert_status(check(&field, 1, &err), NC_OK);
    }
}

static void request_trailers__are_checked_like_header_fields(void **state) {
    static const struct {
        const char *name;
        const char *value;
        const char *part;
    } rows[] = {
        {"", "1", "a header has no name"},
        {"a b", "1", "forbidden byte 0x20 in a header name"},
        {":path", "1", "forbidden byte 0x3a in a header name"},
        {"X-Sum", "1\r\nHost: x", "forbidden byte 0x0d in the value"},
        {"X-Sum", " 1", "white space around the value"},
    };
    nc_header many[NC_MAX_TRAILERS + 1];
    nc_error err;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_header field = {nc_slice_of(rows[i].name), nc_slice_of(rows[i].value)};
        assert_status(check(&field, 1, &err), NC_ERR_BAD_HEADER);
        assert_non_null(strstr(err.message, rows[i].part));
    }
    for (size_t i = 0; i < NC_MAX_TRAILERS + 1; i++) {
        many[i] = sum;
    }
    assert_status(check(many, NC_MAX_TRAILERS, &err), NC_OK);
    assert_status(check(many, NC_MAX_TRAILERS + 1, &err), NC_ERR_TOO_LARGE);
    nc_header endless = {nc_slice_of("a"), {(const uint8_t *)"", SIZE_MAX}};
    endless.value.length = 0;
    endless.name = nc_slice_of("a");
    assert_status(check(&endless, 1, &err), NC_OK);
    assert_status(check(NULL, 1, &err), NC_ERR_USAGE);
}

static void request_trailers__need_a_body_and_framing_by_the_library(void **state) {
    nc_request request = {.url = nc_slice_of("http://a.example/"), .method = nc_slice_of("POST")};
    nc_header length = {nc_slice_of("Content-Length"), nc_slice_of("2")};
    nc_header announced = {nc_slice_of("trailer"), nc_slice_of("X-Sum")};
    nc_error err;
    (void)state;
    request.trailers = (nc_trailers){.fields = &sum, .count = 1};
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    assert_string_equal(err.message, "trailers require a request body");
    request.body = nc_slice_of("hi");
    assert_status(nc_request_check(&request, &err), NC_OK);
    request.header_count = 1;
    request.headers = &length;
    assert_status(nc_request_check(&request, &err), NC_ERR_BAD_HEADER);
    request.headers = &announced;
    assert_status(nc_request_check(&request, &err), NC_ERR_BAD_HEADER);
    assert_non_null(strstr(err.message, "Trailer of a request with trailers is set by the library"));
    request.header_count = 0;
    request.trailers.compute = compute;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    assert_non_null(strstr(err.message, "has both a value and a callback"));
    request.trailers.count = 0;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
}

int main(void) {
    const struct CMUnitTest cases[] = {
        harness_case(request_trailers__follow_a_chunked_body_and_are_announced),
        harness_case(request_trailers__keep_their_order_and_duplicates),
        harness_case(request_trailers__follow_every_kind_of_body),
        harness_case(request_trailers__are_computed_after_the_body),
        harness_case(request_trailers__may_be_computed_later),
        harness_case(request_trailers__are_not_awaited_after_a_complete_response),
        harness_case(request_trailers__end_the_transfer_if_a_value_cannot_be_sent),
        harness_case(request_trailers__are_sent_again_after_a_redirect_with_the_body),
        harness_case(request_trailers__are_dropped_with_the_body),
        harness_case(request_trailers__are_not_sent_to_another_origin),
        harness_case(request_trailers__are_sent_again_after_a_challenge),
        harness_case(request_trailers__are_sent_again_after_a_stale_nonce),
        harness_case(request_trailers__are_sent_again_on_a_new_connection),
        harness_case(request_trailers__leave_the_handle_without_a_trace),
        harness_case(request_trailers__make_a_request_use_http_1_1),
        harness_case(request_trailers__are_refused_by_the_other_versions),
        harness_case(request_trailers__may_not_be_fields_that_are_needed_before_the_body),
        harness_case(request_trailers__are_checked_like_header_fields),
        harness_case(request_trailers__need_a_body_and_framing_by_the_library),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
