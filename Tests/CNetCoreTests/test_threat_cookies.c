/// Threat B11: the cookies that a jar accepts from one server and sends to another.
///
/// Rows by RFC 6265 (sections 5.1 to 5.4) and its successor's prefixes: the Set-Cookie fields of a response, and the
/// Cookie field of the next request.
#include "threat.h"

#include <netcore/cookies.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/// One exchange: a response from `from` for `path` has the fields; a request to `to` has the cookies.
typedef struct row {
    const char *fields; // each line without "Set-Cookie: ", separated by '\n'
    const char *from;
    const char *path;
    const char *to;
    const char *next_path;
    const char *cookie; // NULL: none
} row;

#define HERE "a.example.org"
/// At the same host, at the root, and back.
#define PLAIN(fields, cookie)                                                                                          \
    { (fields), HERE, "/", HERE, "/", (cookie) }

static const row rows[] = {
    // 5.2: the name-value pair.
    PLAIN("foo=bar", "foo=bar"),
    PLAIN("foo=bar; path=/", "foo=bar"),
    PLAIN("foo=bar;baz=qux", "foo=bar"),
    PLAIN("  foo =  bar  ; x", "foo=bar"),
    PLAIN("foo=", "foo="),
    PLAIN("foo=a=b", "foo=a=b"),
    PLAIN("foo=\"quoted\"", "foo=\"quoted\""),
    PLAIN("foo=a b", "foo=a b"),
    PLAIN("foo=a,b", "foo=a,b"),
    PLAIN("foo=bar\nfoo=qux", "foo=qux"),
    PLAIN("foo=1\nbar=2", "foo=1; bar=2"),
    PLAIN("=bar", NULL),
    PLAIN("", NULL),
    PLAIN(";", NULL),
    PLAIN("foo=a\x01"
          "b",
          NULL),
    // RFC 6265, sections 5.2.1, 5.2.2 and 5.3, step 3: the lifetime. Max-Age takes precedence over Expires.
    PLAIN("foo=bar; max-age=1000", "foo=bar"),
    PLAIN("foo=bar; MAX-AGE=1000", "foo=bar"),
    PLAIN("foo=bar; max-age=0", NULL),
    PLAIN("foo=bar; max-age=-1", NULL),
    PLAIN("foo=bar; max-age=x", "foo=bar"),
    PLAIN("foo=bar\nfoo=; max-age=0", NULL),
    PLAIN("foo=bar; expires=Mon, 10 Dec 2007 17:02:24 GMT", NULL),
    PLAIN("foo=bar; expires=Thu, 10 Apr 1980 16:33:12 GMT", NULL),
    PLAIN("foo=bar; expires=Fri, 01 Jan 2038 00:00:00 GMT", "foo=bar"),
    PLAIN("foo=bar; expires=Mon, 10-Dec-2035 17:02:24 GMT", "foo=bar"),
    PLAIN("foo=bar; expires=nonsense", "foo=bar"),
    PLAIN("foo=bar; expires=Fri, 01 Jan 2038 00:00:00 GMT; max-age=0", NULL),
    PLAIN("foo=bar; max-age=1000; expires=Mon, 10 Dec 2007 17:02:24 GMT", "foo=bar"),
    PLAIN("foo=bar\nfoo=; expires=Mon, 10 Dec 2007 17:02:24 GMT", NULL),
    // RFC 6265, sections 5.2.3 and 5.3, steps 5 and 6: the domain. No server can set a cookie for another site or a
    // public suffix.
    {"foo=bar", HERE, "/", "b.example.org", "/", NULL},
    {"foo=bar", HERE, "/", "sub.a.example.org", "/", NULL},
    {"foo=bar; domain=example.org", HERE, "/", "b.example.org", "/", "foo=bar"},
    {"foo=bar; domain=.example.org", HERE, "/", "b.example.org", "/", "foo=bar"},
    {"foo=bar; domain=EXAMPLE.ORG", HERE, "/", "b.example.org", "/", "foo=bar"},
    {"foo=bar; domain=a.example.org", HERE, "/", "sub.a.example.org", "/", "foo=bar"},
    {"foo=bar; domain=b.example.org", HERE, "/", "b.example.org", "/", NULL},
    {"foo=bar; domain=sub.a.example.org", HERE, "/", "sub.a.example.org", "/", NULL},
    {"foo=bar; domain=xample.org", HERE, "/", "xample.org", "/", NULL},
    {"foo=bar; domain=org", HERE, "/", "other.org", "/", NULL},
    {"foo=bar; domain=.org", HERE, "/", "other.org", "/", NULL},
    {"foo=bar; domain=co.uk", "a.co.uk", "/", "b.co.uk", "/", NULL},
    {"foo=bar; domain=github.io", "a.github.io", "/", "b.github.io", "/", NULL},
    {"foo=bar; domain=example.org", "evilexample.org", "/", HERE, "/", NULL},
    {"foo=bar; domain=0.0.1", "127.0.0.1", "/", "127.0.0.1", "/", NULL},
    {"foo=bar; domain=127.0.0.1", "127.0.0.1", "/", "127.0.0.1", "/", "foo=bar"},
    {"foo=bar; domain=", HERE, "/", HERE, "/", "foo=bar"},
    // Sections 5.1.4 and 5.4: the path.
    {"foo=bar", HERE, "/dir/page", HERE, "/dir/other", "foo=bar"},
    {"foo=bar", HERE, "/dir/page", HERE, "/other", NULL},
    {"foo=bar; path=/dir", HERE, "/", HERE, "/dir", "foo=bar"},
    {"foo=bar; path=/dir", HERE, "/", HERE, "/dir/x", "foo=bar"},
    {"foo=bar; path=/dir", HERE, "/", HERE, "/directory", NULL},
    {"foo=bar; path=/dir/", HERE, "/", HERE, "/dir/x", "foo=bar"},
    {"foo=bar; path=/Dir", HERE, "/", HERE, "/dir", NULL},
    {"foo=bar; path=dir", HERE, "/x/y", HERE, "/x/z", "foo=bar"},
    {"foo=1; path=/\nfoo=2; path=/dir", HERE, "/", HERE, "/dir", "foo=2; foo=1"},
    // Section 5.4, and RFC 6265bis, section 5.6: secure cookies, and above all prefixes, are never set or sent over
    // http.
    PLAIN("foo=bar; secure", NULL),
    PLAIN("__Secure-foo=bar", NULL),
    PLAIN("__Secure-foo=bar; secure", NULL),
    PLAIN("__Host-foo=bar; path=/", NULL),
    PLAIN("__Host-foo=bar; secure; path=/", NULL),
    PLAIN("foo=bar; httponly", "foo=bar"),
};

static bool is_cookie(nc_slice cookie, const char *expected) {
    return expected == NULL ? cookie.data == NULL : nc_slice_is_equal(cookie, nc_slice_of(expected));
}

static void get(fixture *f, const char *host, const char *path) {
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1"), .to_port = nct_server_port(f->server)};
    nc_request request = {
        .url = nc_slice_of(fixture_text(f, "http://%s%s", host, path)), .connect_to = &here, .connect_to_count = 1};
    assert_status(fixture_send(f, &request).error.status, NC_OK);
}

/// Each line becomes a Set-Cookie field.
static void script_fields(fixture *f, const char *fields) {
    char lines[1024] = "";
    size_t length = 0;
    for (const char *line = fields; line != NULL;) {
        const char *end = strchr(line, '\n');
        int count = end != NULL ? (int)(end - line) : (int)strlen(line);
        length += (size_t)snprintf(lines + length, sizeof lines - length, "Set-Cookie: %.*s\r\n", count, line);
        line = end != NULL ? end + 1 : NULL;
    }
    fixture_script(f, "*", (nct_reply){.headers = lines});
}

static void cookies__are_sent_per_rfc_6265(void **state) {
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fixture f;
        threat_request seen;
        fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
        script_fields(&f, rows[i].fields);
        get(&f, rows[i].from, rows[i].path);
        get(&f, rows[i].to, rows[i].next_path);
        nc_buf bytes = threat_received(f.server, 1);
        assert_true(threat_parse(&seen, nc_buf_slice(&bytes)));
        nc_slice cookie = threat_field(&seen, "Cookie");
        if (!is_cookie(cookie, rows[i].cookie)) {
            print_error("row %zu, \"%s\" from %s%s to %s%s: \"%.*s\" instead of \"%s\"\n", i, rows[i].fields,
                        rows[i].from, rows[i].path, rows[i].to, rows[i].next_path, (int)cookie.length,
                        cookie.length > 0 ? (const char *)cookie.data : "",
                        rows[i].cookie != NULL ? rows[i].cookie : "(none)");
            wrong++;
        }
        nc_buf_deinit(&bytes);
        fixture_stop(&f);
    }
    assert_int_equal(wrong, 0);
}

/// Many cookies, and cookies too large for any server: the jar stays bounded.
static void cookies__of_a_flood_are_bounded(void **state) {
    enum { FLOOD = 250, LARGE = 6000 };
    static char lines[FLOOD * 40];
    static char large[LARGE + 64];
    fixture f;
    threat_request seen;
    size_t length = 0;
    (void)state;
    for (int i = 0; i < FLOOD; i++) {
        length += (size_t)snprintf(lines + length, sizeof lines - length, "Set-Cookie: c%d=%d\r\n", i, i);
    }
    (void)snprintf(large, sizeof large, "Set-Cookie: large=");
    memset(large + 18, 'x', LARGE);
    memcpy(large + 18 + LARGE, "\r\n", 3);
    fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    fixture_script(&f, "/flood", (nct_reply){.headers = lines});
    fixture_script(&f, "/large", (nct_reply){.headers = large});
    get(&f, "flood.example", "/flood");
    get(&f, "large.example", "/large");
    get(&f, "flood.example", "/none");
    get(&f, "large.example", "/none");
    nc_buf flood = threat_received(f.server, 2);
    assert_true(threat_parse(&seen, nc_buf_slice(&flood)));
    assert_true(threat_field(&seen, "Cookie").length > 0 && threat_field(&seen, "Cookie").length <= 8192);
    nc_buf none = threat_received(f.server, 3);
    assert_true(threat_parse(&seen, nc_buf_slice(&none)));
    assert_null(threat_field(&seen, "Cookie").data);
    nc_buf_deinit(&flood);
    nc_buf_deinit(&none);
    fixture_stop(&f);
}

/// A rejected response may belong to another request, or to an attacker.
static void cookies__of_a_rejected_response_are_not_stored(void **state) {
    static const char *const faults[] = {"Content-Length: 0\r\nContent-Length: 1\r\n",
                                         "Content-Length: 0\r\nX: a\rb\r\n",
                                         "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        threat_request seen;
        fixture_script_raw(&f, "/refused",
                           fixture_text(&f, "HTTP/1.1 200 OK\r\nSet-Cookie: evil=1\r\n%s\r\n", faults[i]));
        assert_status(fixture_get(&f, "/refused").error.status, NC_ERR_BAD_RESPONSE);
        (void)fixture_get(&f, "/next");
        nc_buf next = threat_received(f.server, 2 * i + 1);
        assert_true(threat_parse(&seen, nc_buf_slice(&next)));
        if (threat_field(&seen, "Cookie").data != NULL) {
            fail_msg("row %zu: a cookie was kept", i);
        }
        nc_buf_deinit(&next);
    }
    nc_buf left = nc_buf_init(1 << 12);
    nc_error err;
    assert_status(nc_engine_copy_cookies(f.engine, &left, &err), NC_OK);
    assert_int_equal(left.length, 0);
    nc_buf_deinit(&left);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cookies__are_sent_per_rfc_6265),
        harness_case(cookies__of_a_flood_are_bounded),
        harness_case(cookies__of_a_rejected_response_are_not_stored),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
