/// Requests on the wire: methods, bodies and header fields, byte for byte.
#include "fixture.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static nc_header header(const char *name, const char *value) {
    return (nc_header){nc_slice_of(name), nc_slice_of(value)};
}

/// Fails unless the request arrived as this text, with the server's port for "%u".
static void expect_received(fixture *f, size_t index, const char *format) {
    char expected[1024];
    const char *mark = strstr(format, "%u");
    assert_non_null(mark);
    (void)snprintf(expected, sizeof expected, "%.*s%u%s", (int)(mark - format), format, nct_server_port(f->server),
                   mark + 2);
    assert_string_equal(fixture_received(f, index), expected);
}

/* --- methods --- */

static void engine__plain_get_sends_only_host(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/a", (nct_reply){.body = "hi", .body_length = 2});
    assert_response(fixture_get(&f, "/a?b=c"), 200, "hi");
    expect_received(&f, 0, "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n");
    fixture_stop(&f);
}

/// This program does not call setlocale(), and the library must not depend on it.
static void engine__a_non_ascii_host_is_sent_in_ascii_in_any_locale_regression_1(void **state) {
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    fixture f;
    (void)state;
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_IDN) == 0) {
        return;
    }
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/a", (nct_reply){.body = "ok", .body_length = 2});
    const char *url = fixture_text(&f, "http://b\xc3\xbc\x63her.example:%u/a", nct_server_port(f.server));
    const nc_request request = {.url = nc_slice_of(url), .connect_to = &here, .connect_to_count = 1};
    assert_response(fixture_send(&f, &request), 200, "ok");
    expect_received(&f, 0, "GET /a HTTP/1.1\r\nHost: xn--bcher-kva.example:%u\r\n\r\n");
    fixture_stop(&f);
}

/// A reused libcurl handle sends its new request's URL, not that of an earlier request.
static void engine__each_request_sends_its_own_url(void **state) {
    static const struct {
        const char *path;
        const char *line; // NULL: rejected
    } rows[] = {
        {"/a?b", "GET /a?b HTTP/1.1\r\n"},
        {"/a?b", "GET /a?b HTTP/1.1\r\n"},
        {"/a?c", "GET /a?c HTTP/1.1\r\n"},
        {"/a?b", "GET /a?b HTTP/1.1\r\n"},
        {"/a?b#c", "GET /a?b HTTP/1.1\r\n"},
        {"/a?b", "GET /a?b HTTP/1.1\r\n"},
        {"/x/../y", "GET /y HTTP/1.1\r\n"},
        {"/%7e/%2F", "GET /%7e/%2F HTTP/1.1\r\n"},
        {"/\xc3\xa9?\xc3\xa9=\xe2\x98\x83#\xc3\xa9", "GET /%C3%A9?%C3%A9=%E2%98%83 HTTP/1.1\r\n"},
        {"?\xff", "GET /?%FF HTTP/1.1\r\n"},
        {"/a?\"<>'{}", "GET /a?\"<>'{} HTTP/1.1\r\n"},
        {"?q", "GET /?q HTTP/1.1\r\n"},
        {"", "GET / HTTP/1.1\r\n"},
        {"x/a?b", NULL}, // after an empty port
        {"/a?b", "GET /a?b HTTP/1.1\r\n"},
        {"/to?b", "GET /to?b HTTP/1.1\r\n"},
        {"/to?b", "GET /to?b HTTP/1.1\r\n"},
    };
    fixture f;
    size_t sent = 0;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    fixture_script(&f, "/to", (nct_reply){.location = "/a?b"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answer one = fixture_get(&f, rows[i].path);
        if (rows[i].line == NULL) {
            assert_ended(one, NC_ERR_BAD_URL, CURLE_URL_MALFORMAT, "");
            continue;
        }
        assert_response(one, 200, "ok");
        assert_memory_equal(fixture_received(&f, sent++), rows[i].line, strlen(rows[i].line));
        if (nc_response_hop_count(one.response) == 2) {
            assert_memory_equal(fixture_received(&f, sent++), "GET /a?b HTTP/1.1\r\n", 19);
        }
    }
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

/// Without its zone, a link-local address is invalid for the system (no specific status). With the zone, the connection
/// fails because there is no route or no listener.
static void engine__the_zone_of_an_address_reaches_the_system(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (int i = 0; i < 2; i++) {
        const char *url = fixture_text(&f, "http://[fe80::1%%25lo]:%u/", nct_server_port(f.server));
        const nc_request request = {.url = nc_slice_of(url), .limits = {.connect_ms = 200}};
        answer one = fixture_send(&f, &request);
        assert_int_not_equal(one.error.status, NC_OK);
        assert_int_not_equal(one.error.status, NC_ERR_CONNECT);
    }
    fixture_stop(&f);
}

static void engine__every_method_arrives_as_it_is_spelled(void **state) {
    static const char *const methods[] = {"GET",  "POST", "PUT",      "DELETE",   "PATCH",          "OPTIONS",
                                          "HEAD", "get",  "PROPFIND", "M-SEARCH", "!#$%&'*+-.^_`|~"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        nc_request request = fixture_request(&f, "/m");
        request.method = nc_slice_of(methods[i]);
        assert_response(fixture_send(&f, &request), 200, strcmp(methods[i], "HEAD") == 0 ? "" : "ok");
        bool has_length = i >= 1 && i <= 4 && i != 3; // RFC 9110, 8.6
        const char *expected = fixture_text(&f, "%s /m HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n", methods[i],
                                            nct_server_port(f.server), has_length ? "Content-Length: 0\r\n" : "");
        assert_string_equal(fixture_received(&f, i), expected);
    }
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

static void engine__a_body_is_sent_with_any_method_and_adds_only_its_length(void **state) {
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GET", "SEARCH"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        nc_request request = fixture_request(&f, "/b");
        request.method = nc_slice_of(methods[i]);
        request.body = nc_slice_of("a=1&b=2");
        assert_response(fixture_send(&f, &request), 200, "a=1&b=2");
        const char *expected = fixture_text(&f,
                                            "%s /b HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                                            "Content-Length: 7\r\n\r\na=1&b=2",
                                            methods[i], nct_server_port(f.server));
        assert_string_equal(fixture_received(&f, i), expected);
    }
    fixture_stop(&f);
}

static void engine__an_empty_body_is_sent_on_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.is_echo = true});
    nc_request request = fixture_request(&f, "/e");
    request.method = nc_slice_of("POST");
    request.has_body = true;
    assert_response(fixture_send(&f, &request), 200, "");
    expect_received(&f, 0, "POST /e HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: 0\r\n\r\n");
    request.has_body = false;
    request.omits_zero_length = true;
    assert_response(fixture_send(&f, &request), 200, "");
    expect_received(&f, 1, "POST /e HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n");
    fixture_stop(&f);
}

static void engine__head_with_a_body_sends_it_and_expects_none(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/h", (nct_reply){.headers = "X-Seen: yes\r\n", .body = "ignored", .body_length = 7});
    nc_request request = fixture_request(&f, "/h");
    request.method = nc_slice_of("HEAD");
    request.body = nc_slice_of("question");
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "");
    assert_field(one, "x-seen", "yes");
    expect_received(&f, 0, "HEAD /h HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: 8\r\n\r\nquestion");
    assert_response(fixture_get(&f, "/h"), 200, "ignored");
    fixture_stop(&f);
}

static void engine__bodies_of_every_byte_and_many_lengths_arrive_exactly(void **state) {
    static const size_t lengths[] = {1, 2, 255, 4096, 16383, 16384, 16385, 65536, 1000000};
    static uint8_t bytes[1000000];
    fixture f;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 167 + (i >> 8));
    }
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        nc_request request = fixture_request(&f, "/echo");
        request.method = nc_slice_of("PUT");
        request.body = nc_slice_make(bytes, lengths[i]);
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_OK, 0, "");
        assert_true(nc_slice_is_equal(nc_response_body(one.response), request.body));
        assert_true(nc_response_hop_at(one.response, 0).sent_bytes > lengths[i]);
    }
    fixture_stop(&f);
}

/* --- header fields --- */

static void engine__request_fields_preserve_order_spelling_and_repetition(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    const nc_header headers[] = {
        header("x-b", "1"),      header("X-A", "two words"),   header("x-B", "2"),
        header("X-Empty", ""),   header("X-Colon", "a: b; c"), header("X-B", "\xc3\xa9\x80\x01"),
        header("Accept", "a/b"), header("User-Agent", "me"),
    };
    nc_request request = fixture_request(&f, "/f");
    request.headers = headers;
    request.header_count = sizeof headers / sizeof *headers;
    assert_response(fixture_send(&f, &request), 200, "");
    expect_received(&f, 0,
                    "GET /f HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nx-b: 1\r\nX-A: two words\r\nx-B: 2\r\nX-Empty:\r\n"
                    "X-Colon: a: b; c\r\nX-B: \xc3\xa9\x80\x01\r\nAccept: a/b\r\nUser-Agent: me\r\n\r\n");
    fixture_stop(&f);
}

static void engine__fields_that_the_caller_sets_are_sent_once(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.is_echo = true});
    const nc_header headers[] = {header("Host", "other.example"),  header("Content-Type", "text/plain"),
                                 header("Content-Length", "4"),    header("Expect", "100-continue"),
                                 header("Accept-Encoding", "br"),  header("Cookie", "a=b"),
                                 header("Connection", "x-custom"), header("Authorization", "Basic eDp5")};
    nc_request request = fixture_request(&f, "/f");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("body");
    request.headers = headers;
    request.header_count = sizeof headers / sizeof *headers;
    assert_response(fixture_send(&f, &request), 200, "body");
    const char *received = fixture_received(&f, 0);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const char *line =
            fixture_text(&f, "\r\n%.*s: %.*s\r\n", (int)headers[i].name.length, (const char *)headers[i].name.data,
                         (int)headers[i].value.length, (const char *)headers[i].value.data);
        const char *name =
            fixture_text(&f, "\r\n%.*s:", (int)headers[i].name.length, (const char *)headers[i].name.data);
        const char *at = strstr(received, line);
        if (at == NULL) {
            print_error("%s not in\n%s", line + 2, received);
        }
        assert_non_null(at);
        assert_null(strstr(at + 2, name));
        assert_ptr_equal(strstr(received, name), at);
    }
    fixture_stop(&f);
}

static void engine__the_largest_allowed_head_is_sent(void **state) {
    static char text[1008 << 10];
    fixture f;
    (void)state;
    memset(text, 'x', sizeof text);
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    nc_request request = fixture_request(&f, "/f");
    nc_header field = header("A", "");
    field.value = nc_slice_make(text, sizeof text - request.url.length - 1 - 4);
    request.headers = &field;
    request.header_count = 1;
    assert_response(fixture_send(&f, &request), 200, "");
    fixture_stop(&f);
}

static void engine__credentials_in_the_url_become_a_field_and_leave_the_url(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "user:p%40ss@127.0.0.1", "/c"))};
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "");
    assert_slice_equals(nc_response_url(one.response), fixture_url(&f, "/c"));
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nAuthorization: Basic dXNlcjpwQHNz\r\n"));
    assert_response(fixture_get(&f, "/c"), 200, "");
    assert_null(strstr(fixture_received(&f, 1), "uthorization"));
    fixture_stop(&f);
}

/* --- reuse of a handle --- */

static void engine__options_of_one_request_do_not_leak_into_the_next(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    nc_request plain = fixture_request(&f, "/p");
    nc_request requests[8];
    for (size_t i = 0; i < 8; i++) {
        requests[i] = plain;
    }
    const nc_header headers[] = {header("X-Left", "over"), header("Content-Type", "a/b")};
    const nc_connect_to override = {.host = nc_slice_of("elsewhere.invalid"),
                                    .to_host = nc_slice_of("127.0.0.1"),
                                    .to_port = nct_server_port(f.server)};
    requests[0].method = nc_slice_of("POST");
    requests[0].body = nc_slice_of("left over");
    requests[1].method = nc_slice_of("HEAD");
    requests[2].method = nc_slice_of("HEAD");
    requests[2].body = nc_slice_of("left over");
    requests[3].method = nc_slice_of("DELETE");
    requests[4].accepts_codings = true;
    requests[5].headers = headers;
    requests[5].header_count = 2;
    requests[6].url = nc_slice_of("http://elsewhere.invalid/x");
    requests[6].connect_to = &override;
    requests[6].connect_to_count = 1;
    requests[7].http = NC_HTTP_1_1;
    const char *expected = fixture_text(&f, "GET /p HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", nct_server_port(f.server));
    for (size_t i = 0; i < 64; i++) {
        bool is_head = i % 8 == 1 || i % 8 == 2;
        assert_response(fixture_send(&f, &requests[i % 8]), 200, is_head ? "" : "ok");
        assert_response(fixture_send(&f, &plain), 200, "ok");
        assert_string_equal(fixture_received(&f, i * 2 + 1), expected);
    }
    nc_request other = {.url = nc_slice_of("http://elsewhere.invalid/x")};
    assert_ended(fixture_send(&f, &other), NC_ERR_RESOLVE, 6, "elsewhere.invalid");
    fixture_stop(&f);
}

static void engine__connect_to_changes_the_address_and_nothing_else(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    uint16_t port = nct_server_port(f.server);
    const nc_connect_to overrides[] = {
        {.host = nc_slice_of("never.invalid"), .to_host = nc_slice_of("127.0.0.9"), .to_port = 1},
        {.host = nc_slice_of("api.invalid"), .port = 8080, .to_host = nc_slice_of("127.0.0.1"), .to_port = port},
        {.to_port = port},
    };
    nc_request request = {.url = nc_slice_of("http://api.invalid:8080/x"),
                          .connect_to = overrides,
                          .connect_to_count = sizeof overrides / sizeof *overrides};
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "ok");
    assert_slice_equals(nc_response_url(one.response), "http://api.invalid:8080/x");
    assert_int_equal(nc_response_hop_at(one.response, 0).remote_port, port);
    assert_non_null(strstr(fixture_received(&f, 0), "Host: api.invalid:8080\r\n"));
    request.url = nc_slice_of("http://127.0.0.1:1/y");
    assert_response(fixture_send(&f, &request), 200, "ok");
    assert_non_null(strstr(fixture_received(&f, 1), "Host: 127.0.0.1:1\r\n"));
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__plain_get_sends_only_host),
        harness_case(engine__a_non_ascii_host_is_sent_in_ascii_in_any_locale_regression_1),
        harness_case(engine__each_request_sends_its_own_url),
        harness_case(engine__the_zone_of_an_address_reaches_the_system),
        harness_case(engine__every_method_arrives_as_it_is_spelled),
        harness_case(engine__a_body_is_sent_with_any_method_and_adds_only_its_length),
        harness_case(engine__an_empty_body_is_sent_on_request),
        harness_case(engine__head_with_a_body_sends_it_and_expects_none),
        harness_case(engine__bodies_of_every_byte_and_many_lengths_arrive_exactly),
        harness_case(engine__request_fields_preserve_order_spelling_and_repetition),
        harness_case(engine__fields_that_the_caller_sets_are_sent_once),
        harness_case(engine__the_largest_allowed_head_is_sent),
        harness_case(engine__credentials_in_the_url_become_a_field_and_leave_the_url),
        harness_case(engine__options_of_one_request_do_not_leak_into_the_next),
        harness_case(engine__connect_to_changes_the_address_and_nothing_else),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
