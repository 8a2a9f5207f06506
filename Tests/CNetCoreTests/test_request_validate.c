/// Invalid requests are rejected before anything is sent. All others arrive as exactly one request.
#include "fixture.h"
#include "request/request_copy.h"

#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

/// The position of the tested byte.
typedef enum position { IN_METHOD, IN_NAME, IN_VALUE, IN_PATH, IN_FRAGMENT, POSITIONS } position;

typedef struct probe {
    char method[8];
    char name[8];
    char value[8];
    char url[96];
    nc_header header;
    nc_request request;
} probe;

static const nc_status refusal[POSITIONS] = {NC_ERR_BAD_METHOD, NC_ERR_BAD_HEADER, NC_ERR_BAD_HEADER, NC_ERR_BAD_URL,
                                             NC_ERR_BAD_URL};

/// Creates a request with `byte` at one position, and plain text elsewhere.
static void make_probe(probe *out, position where, uint8_t byte, uint16_t port) {
    memcpy(out->method, "PxST", 5);
    memcpy(out->name, "X-xA", 5);
    memcpy(out->value, "vxv", 4);
    int length = snprintf(out->url, sizeof out->url, "http://127.0.0.1:%u/pxp?q#fxf", port);
    char *places[POSITIONS] = {out->method + 1, out->name + 2, out->value + 1, out->url + length - 8,
                               out->url + length - 2};
    *places[where] = (char)byte;
    out->header = (nc_header){nc_slice_make(out->name, 4), nc_slice_make(out->value, 3)};
    out->request = (nc_request){.method = nc_slice_make(out->method, 4),
                                .url = nc_slice_make(out->url, (size_t)length),
                                .headers = &out->header,
                                .header_count = 1};
}

static bool is_token(int byte) {
    return byte > ' ' && byte < 0x7f && strchr("\"(),/:;<=>?@[\\]{}", byte) == NULL;
}

static bool is_allowed(position where, int byte) {
    if (where == IN_METHOD || where == IN_NAME) {
        return is_token(byte);
    }
    if (where == IN_VALUE) {
        return byte != 0 && byte != '\r' && byte != '\n';
    }
    return byte > ' ' && byte != 0x7f;
}

static int64_t offset_in(position where, const probe *one) {
    int64_t end = (int64_t)one->request.url.length;
    const int64_t offsets[POSITIONS] = {1, 2, 1, end - 8, end - 2};
    return offsets[where];
}

static void request_validate__checks_all_256_bytes_at_every_position(void **state) {
    (void)state;
    for (position where = 0; where < POSITIONS; where++) {
        for (int byte = 0; byte < 256; byte++) {
            probe one;
            nc_error err;
            make_probe(&one, where, (uint8_t)byte, 80);
            nc_status status = nc_request_check(&one.request, &err);
            assert_status(status, is_allowed(where, byte) ? NC_OK : refusal[where]);
            assert_int_equal(err.offset, status == NC_OK ? -1 : offset_in(where, &one));
            assert_int_equal(err.native_code, 0);
        }
    }
}

static void request_validate__names_the_error_and_its_offset(void **state) {
    static const struct {
        const char *url;
        nc_status status;
        const char *message;
    } cases[] = {
        {"http://a b/", NC_ERR_BAD_URL, "forbidden byte 0x20 in the URL at byte 8"},
        {"", NC_ERR_BAD_URL, "the URL is empty"},
        {"ftp://a/", NC_ERR_BAD_SCHEME, "the scheme 'ftp' is not http or https"},
        {"file:///etc/passwd", NC_ERR_BAD_SCHEME, "the scheme 'file' is not http or https"},
        {"//a/b", NC_ERR_BAD_URL,
         "the URL does not begin with http:// or https:// (a relative URL requires a base URL)"},
        {"/a", NC_ERR_BAD_URL, "the URL does not begin with http:// or https:// (a relative URL requires a base URL)"},
        {"a.example", NC_ERR_BAD_URL,
         "the URL does not begin with http:// or https:// (a relative URL requires a base URL)"},
        {"http:/a", NC_ERR_BAD_URL,
         "the URL does not begin with http:// or https:// (a relative URL requires a base URL)"},
        {"http://", NC_ERR_BAD_URL, "the URL has no host"},
        {"https:///path", NC_ERR_BAD_URL, "the URL has no host"},
        {"http://u:p@/path", NC_ERR_BAD_URL, "the URL has no host"},
        {"HTTPS://A/", NC_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_error err;
        nc_request request = {.url = nc_slice_of(cases[i].url)};
        assert_status(nc_request_check(&request, &err), cases[i].status);
        assert_string_equal(err.message, cases[i].message);
        assert_status(nc_request_check(&request, NULL), cases[i].status);
    }
}

static void request_validate__rejects_hosts_with_invalid_bytes(void **state) {
    static const char *const refused[] = {
        "http://a;4./",  "http://a|b/",   "http://a<b>/",      "http://a^b/",   "http://a,b:80/",     "http://a%3bb/",
        "http://a%00b/", "http://a%2fb/", "http://a%25b/",     "http://a%zzb/", "https://u:p@a*b/",   "https://a{b}/?q",
        "http://a`b#f",  "http://a\"b/",  "http://a'b:8080/x", "http://(a)/",   "http://a=b/",        "http://a$b/",
        "http://a+b&c/", "http://!a/",    "http://a]/",        "http://a\\b/",  "http://\xc3\xa4;b/",
    };
    static const char *const taken[] = {
        "http://a_b-c.example./", "http://[::1]:8080/;",  "http://u;v:p,q@a/",    "http://a/;,|?;#;",
        "http://\xc3\xa4.de:80/", "http://%61.example/;", "http://127.0.0.1:1/*", "http://[fe80::1%25eth0]/",
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        nc_request request = {.url = nc_slice_of(refused[i])};
        assert_int_equal(nc_request_check(&request, NULL), NC_ERR_BAD_URL);
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        nc_request request = {.url = nc_slice_of(taken[i])};
        assert_int_equal(nc_request_check(&request, NULL), NC_OK);
    }
}

static nc_status check_field(const char *name, const char *value, const char *body) {
    const nc_header header = {nc_slice_of(name), nc_slice_of(value)};
    nc_request request = {
        .url = nc_slice_of("http://a/"), .body = nc_slice_of(body), .headers = &header, .header_count = 1};
    return nc_request_check(&request, NULL);
}

static void request_validate__rejects_framing_fields_of_the_caller(void **state) {
    (void)state;
    assert_status(check_field("transfer-ENCODING", "chunked", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("Transfer-Encoding", "", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("Content-Length", "4", "body"), NC_OK);
    assert_status(check_field("Content-Length", "0", ""), NC_OK);
    assert_status(check_field("content-length", "5", "body"), NC_ERR_BAD_HEADER);
    assert_status(check_field("Content-Length", "", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("Content-Length", "+4", "body"), NC_ERR_BAD_HEADER);
    assert_status(check_field("Content-Length", "4 ", "body"), NC_ERR_BAD_HEADER);
    assert_status(check_field("Content-Length", "4,4", "body"), NC_ERR_BAD_HEADER);
    assert_status(check_field("Content-Length", "18446744073709551620", "body"), NC_ERR_BAD_HEADER);
    assert_status(check_field("", "value", ""), NC_ERR_BAD_HEADER);
}

static void request_validate__rejects_values_surrounded_by_white_space(void **state) {
    (void)state;
    assert_status(check_field("X-A", " ", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("X-A", "\t", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("X-A", " a", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("X-A", "a\t", ""), NC_ERR_BAD_HEADER);
    assert_status(check_field("X-A", "a b\tc", ""), NC_OK);
    assert_status(check_field("X-A", "", ""), NC_OK);
}

static void request_validate__allows_framing_and_host_fields_only_once(void **state) {
    static const char *const names[] = {"Host", "Content-Length"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const nc_header headers[] = {{nc_slice_of(names[i]), nc_slice_of("0")},
                                     {nc_slice_of("X-Between"), nc_slice_of("0")},
                                     {nc_slice_of(i == 0 ? "hOST" : "content-length"), nc_slice_of("0")}};
        nc_request request = {.url = nc_slice_of("http://a/"), .headers = headers, .header_count = 2};
        assert_status(nc_request_check(&request, NULL), NC_OK);
        request.header_count = 3;
        assert_status(nc_request_check(&request, NULL), NC_ERR_BAD_HEADER);
    }
}

static void request_validate__bounds_everything_that_can_grow(void **state) {
    static char text[2 * 1024 * 1024];
    static nc_header headers[1001];
    static nc_connect_to overrides[101];
    nc_error err;
    (void)state;
    memset(text, 'a', sizeof text);
    memcpy(text, "http://", 7);
    nc_request request = {.url = nc_slice_make(text, NC_URL_MAX_BYTES)};
    assert_status(nc_request_check(&request, &err), NC_OK);
    request.url.length++;
    assert_status(nc_request_check(&request, &err), NC_ERR_BAD_URL);
    assert_int_equal(err.offset, NC_URL_MAX_BYTES);
    // Each non-ASCII byte becomes three.
    text[8] = '?';
    memset(text + 9, 0xC3, NC_URL_MAX_BYTES / 3 - 2);
    request.url.length = 9 + NC_URL_MAX_BYTES / 3 - 4;
    assert_status(nc_request_check(&request, &err), NC_OK);
    request.url.length += 2;
    assert_status(nc_request_check(&request, &err), NC_ERR_BAD_URL);
    memset(text + 8, 'a', NC_URL_MAX_BYTES);
    request = (nc_request){.url = nc_slice_of("http://a/"), .method = nc_slice_make(text + 8, 64)};
    assert_status(nc_request_check(&request, &err), NC_OK);
    request.method.length++;
    assert_status(nc_request_check(&request, &err), NC_ERR_BAD_METHOD);
    request = (nc_request){.url = nc_slice_of("http://a/"), .headers = headers, .header_count = 1000};
    for (size_t i = 0; i < 1001; i++) {
        headers[i] = (nc_header){nc_slice_make(text + 8, 1), nc_slice_make(NULL, 0)};
    }
    assert_status(nc_request_check(&request, &err), NC_OK);
    request.header_count = 1001;
    assert_status(nc_request_check(&request, &err), NC_ERR_TOO_LARGE);
    request.header_count = 1;
    headers[0].value = nc_slice_make(text + 8, 1008 * 1024 - request.url.length - 1 - 4);
    assert_status(nc_request_check(&request, &err), NC_OK);
    headers[0].value.length++;
    assert_status(nc_request_check(&request, &err), NC_ERR_TOO_LARGE);
    request.http = NC_HTTP_2_PRIOR_KNOWLEDGE; // 12 bytes are a field's (nghttp2's limit)
    headers[0].value.length = 48 * 1024 - request.url.length - 1 - 12;
    assert_status(nc_request_check(&request, &err), NC_OK);
    headers[0].value.length++;
    assert_status(nc_request_check(&request, &err), NC_ERR_TOO_LARGE);
    request = (nc_request){.url = nc_slice_of("http://a/"), .connect_to = overrides, .connect_to_count = 100};
    assert_status(nc_request_check(&request, &err), NC_OK);
    request.connect_to_count = 101;
    assert_status(nc_request_check(&request, &err), NC_ERR_TOO_LARGE);
}

static void request_validate__rejects_contradictory_options(void **state) {
    static const char *const hosts[] = {"a b",  "a\r\nb", "a/b", "u@a", "\x7f",    "a:b",      "a]b",  "[::1",
                                        "::1]", "[a.b]",  "[",   "]",   "a%b:c]d", "[::1]:80", "a:80", "::1%lo]"};
    nc_error err;
    (void)state;
    nc_request request = {.url = nc_slice_of("http://a/"), .header_count = 1};
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request = (nc_request){.url = nc_slice_of("http://a/"), .connect_to_count = 1};
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request = (nc_request){.url = nc_slice_of("http://a/"), .body = nc_slice_make(NULL, 1)};
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request = (nc_request){.url = nc_slice_of("http://a/"), .http = (nc_http_choice)7};
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request = (nc_request){.url = nc_slice_of("http://a/"), .redirects = (nc_redirect_choice)7};
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request = (nc_request){.url = nc_slice_of("http://a/"), .method = nc_slice_of("CONNECT")};
    assert_status(nc_request_check(&request, &err), NC_ERR_UNSUPPORTED);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        nc_connect_to override = {.to_host = nc_slice_of(hosts[i])};
        request = (nc_request){.url = nc_slice_of("http://a/"), .connect_to = &override, .connect_to_count = 1};
        assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
        override = (nc_connect_to){.host = nc_slice_of(hosts[i])};
        assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    }
}

/* --- on the wire --- */

static void engine__a_rejected_request_never_reaches_the_server(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (position where = 0; where < POSITIONS; where++) {
        for (int byte = 0; byte < 256; byte++) {
            probe one;
            nc_error err;
            nc_transfer_id id = 77;
            make_probe(&one, where, (uint8_t)byte, nct_server_port(f.server));
            if (!is_allowed(where, byte)) {
                assert_status(nc_engine_submit(f.engine, &one.request, NULL, &id, &err), refusal[where]);
                assert_status(err.status, refusal[where]);
                assert_int_equal(id, 77);
            }
        }
    }
    // A later request shows that nothing else was sent.
    assert_response(fixture_get(&f, "/"), 404, "");
    assert_int_equal(nct_server_connection_count(f.server), 1);
    assert_int_equal(nct_server_request_count(f.server), 1);
    fixture_stop(&f);
}

/// The bytes that stand for the one under test in the first line.
static void expect_line(fixture *f, const probe *one, position where, int byte, const char *received) {
    const char *target = "/pxp?q";
    if (where == IN_PATH && byte == '#') {
        target = "/p";
    } else if (where == IN_PATH) {
        target = fixture_text(f, byte < 0x80 ? "/p%cp?q" : "/p%%%02Xp?q", byte);
    }
    const char *head = fixture_text(f, "%.4s %s HTTP/1.1\r\n", one->method, target);
    if (strncmp(received, head, strlen(head)) != 0) {
        print_error("byte 0x%02x: %s", (unsigned)byte, received);
        fail();
    }
    assert_non_null(strstr(received, fixture_text(f, "\r\n%.4s: %.3s\r\n", one->name, one->value)));
    assert_string_equal(strstr(received, "\r\n\r\n"), "\r\n\r\n");
}

static void engine__an_accepted_request_arrives_as_exactly_one_request(void **state) {
    fixture f;
    size_t count = 0;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    for (position where = 0; where < POSITIONS; where++) {
        for (int byte = 0; byte < 256; byte++) {
            probe one;
            make_probe(&one, where, (uint8_t)byte, nct_server_port(f.server));
            if (is_allowed(where, byte)) {
                assert_response(fixture_send(&f, &one.request), 200, "");
                expect_line(&f, &one, where, byte, fixture_received(&f, count));
                count++;
                assert_int_equal(nct_server_request_count(f.server), count);
            }
        }
    }
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(request_validate__checks_all_256_bytes_at_every_position),
        harness_case(request_validate__names_the_error_and_its_offset),
        harness_case(request_validate__rejects_hosts_with_invalid_bytes),
        harness_case(request_validate__rejects_framing_fields_of_the_caller),
        harness_case(request_validate__rejects_values_surrounded_by_white_space),
        harness_case(request_validate__allows_framing_and_host_fields_only_once),
        harness_case(request_validate__bounds_everything_that_can_grow),
        harness_case(request_validate__rejects_contradictory_options),
        harness_case(engine__a_rejected_request_never_reaches_the_server),
        harness_case(engine__an_accepted_request_arrives_as_exactly_one_request),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
