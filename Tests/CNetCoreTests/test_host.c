#include "harness.h"
#include "http/url_text.h"
#include "text/host.h"

#include <curl/curl.h>
#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *host;
    const char *expected; // NULL: rejected
    nc_host_kind kind;
} row;

static const row names[] = {
    {"a.test", "a.test", NC_HOST_NAME},
    {"A.TeSt", "a.test", NC_HOST_NAME},
    {"a.test.", "a.test", NC_HOST_NAME},
    {"localhost", "localhost", NC_HOST_NAME},
    {"a_b-c.test", "a_b-c.test", NC_HOST_NAME},
    {"%61.test", "a.test", NC_HOST_NAME},
    {"%41%2Etest%2e", "a.test", NC_HOST_NAME},
    {"b\u00fccher.example", "xn--bcher-kva.example", NC_HOST_NAME},
    {"B\u00dcCHER.example", "xn--bcher-kva.example", NC_HOST_NAME},
    {"bu\u0308cher.example", "xn--bcher-kva.example", NC_HOST_NAME},
    {"b%C3%BCcher.example", "xn--bcher-kva.example", NC_HOST_NAME},
    {"XN--BCHER-KVA.example", "xn--bcher-kva.example", NC_HOST_NAME},
    {"fa\u00df.de", "xn--fa-hia.de", NC_HOST_NAME},
    {"a\u3002test\uff61", "a.test", NC_HOST_NAME},
    {"\uff41\uff0etest", "a.test", NC_HOST_NAME},
    {"a\u00adb.test", "ab.test", NC_HOST_NAME},
    {"1.2.3.4.5", "1.2.3.4.5", NC_HOST_NAME},
    {"08.1", "08.1", NC_HOST_NAME},
    {"0x", "0x", NC_HOST_NAME},
    {"256.1.1.1", "256.1.1.1", NC_HOST_NAME},
    {"4294967296", "4294967296", NC_HOST_NAME},
    {"1.2.3.256", "1.2.3.256", NC_HOST_NAME},
    {"1a.2", "1a.2", NC_HOST_NAME},
};

static const row addresses[] = {
    {"127.0.0.1", "127.0.0.1", NC_HOST_IPV4},
    {"127.0.0.1.", "127.0.0.1", NC_HOST_IPV4},
    {"0.0.0.0", "0.0.0.0", NC_HOST_IPV4},
    {"255.255.255.255", "255.255.255.255", NC_HOST_IPV4},
    {"10.0.0.010", "10.0.0.8", NC_HOST_IPV4},
    {"10.0.00.1", "10.0.0.1", NC_HOST_IPV4},
    {"1.2.3.", "1.2.0.3", NC_HOST_IPV4},
    {"127.1", "127.0.0.1", NC_HOST_IPV4},
    {"127.0.1", "127.0.0.1", NC_HOST_IPV4},
    {"2130706433", "127.0.0.1", NC_HOST_IPV4},
    {"0x7f000001", "127.0.0.1", NC_HOST_IPV4},
    {"0X7F.1", "127.0.0.1", NC_HOST_IPV4},
    {"0177.0.0.01", "127.0.0.1", NC_HOST_IPV4},
    {"017700000001", "127.0.0.1", NC_HOST_IPV4},
    {"0", "0.0.0.0", NC_HOST_IPV4},
    {"4294967295", "255.255.255.255", NC_HOST_IPV4},
    {"%31%32%37.1", "127.0.0.1", NC_HOST_IPV4},
    {"\uff11\uff12\uff17\u30021", "127.0.0.1", NC_HOST_IPV4},
    {"[::1]", "::1", NC_HOST_IPV6},
    {"::1", "::1", NC_HOST_IPV6},
    {"[0:0:0:0:0:0:0:1]", "::1", NC_HOST_IPV6},
    {"[2001:DB8::0001:0:0]", "2001:db8::1:0:0", NC_HOST_IPV6},
    {"[fe80::1%25eth0]", "fe80::1%25eth0", NC_HOST_IPV6},
    {"[FE80::1%Eth0]", "fe80::1%25Eth0", NC_HOST_IPV6},
    {"[fe80::1%25251]", "fe80::1%25251", NC_HOST_IPV6},
    {"[fe80::1%25]", "fe80::1%2525", NC_HOST_IPV6},
    {"[::ffff:127.0.0.1]", "127.0.0.1", NC_HOST_IPV4},
    {"[::FFFF:7f00:1]", "127.0.0.1", NC_HOST_IPV4},
    {"[::ffff:127.0.0.1%25lo]", "127.0.0.1", NC_HOST_IPV4},
    {"[64:ff9b::7f00:1]", "64:ff9b::7f00:1", NC_HOST_IPV6},
};

static const row refused[] = {
    {.host = ""},
    {.host = "."},
    {.host = ".."},
    {.host = ".a"},
    {.host = "a..b"},
    {.host = "1..2.3"},
    {.host = ".1.2.3"},
    {.host = "a.test.."},
    {.host = "a b"},
    {.host = "a%20b"},
    {.host = "a%2fb"},
    {.host = "a%00b"},
    {.host = "a%"},
    {.host = "a%zz"},
    {.host = "a%2561"},
    {.host = "a@b"},
    {.host = "a\\b"},
    {.host = "a\tb"},
    {.host = "a\x7f"},
    {.host = "a\u2100.b"},
    {.host = "\xff.test"},
    {.host = "%ff.test"},
    {.host = "a\u200bx\u2028"},
    {.host = "\u00ad"},
    {.host = "[]"},
    {.host = "[::1"},
    {.host = "[127.0.0.1]"},
    {.host = "[::1]x"},
    {.host = "[:::1]"},
    {.host = "[1:2]"},
    {.host = "[::1%25%]"},
    {.host = "[::1%25a/b]"},
    {.host = "[::1%]"},
    {.host = "a:80"},
    {.host = "[::1%25aaaaaaaaaaaaaaaa]"},
    {.host = "[%3A%3A1]"},
};

static void expect(const row *one) {
    nc_buf out = nc_buf_init(4096);
    nc_host_kind kind = NC_HOST_IPV6;
    nc_error err;
    nc_status status = nc_host_canonicalize(&out, &kind, nc_slice_of(one->host), &err);
    if (one->expected == NULL) {
        if (status != NC_ERR_BAD_URL || out.length != 0 || err.message[0] == '\0') {
            fail_msg("\"%s\" is %d: %.*s", one->host, status, (int)out.length, (const char *)out.data);
        }
    } else {
        if (status != NC_OK || !nc_slice_is_equal(nc_buf_slice(&out), nc_slice_of(one->expected))) {
            fail_msg("\"%s\" is %.*s: %s", one->host, (int)out.length, (const char *)out.data, err.message);
        }
        assert_int_equal(kind, one->kind);
        assert_int_equal(nc_host_kind_of(nc_buf_slice(&out)), one->kind);
    }
    nc_buf_deinit(&out);
}

static void each_spelling_of_a_name_is_one_host(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(&names[i]);
    }
}

static void each_spelling_of_an_address_is_one_host(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        expect(&addresses[i]);
    }
}

static void text_that_is_no_host_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        expect(&refused[i]);
    }
}

static void a_canonical_host_stays_as_it_is(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(&(row){names[i].expected, names[i].expected, names[i].kind});
    }
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        expect(&(row){addresses[i].expected, addresses[i].expected, addresses[i].kind});
    }
}

/// Returns the decoded host that libcurl parses from a URL, or NULL.
static char *host_of_libcurl(const char *text) {
    char url[192];
    char *host = NULL;
    CURLU *parts = curl_url();
    (void)snprintf(url, sizeof url, "http://%s/", text);
    if (strpbrk(text, "/@") == NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK) {
        char *zone = NULL;
        if (curl_url_get(parts, CURLUPART_ZONEID, &zone, 0) != CURLUE_OK) { // libcurl removes the zone
            (void)curl_url_get(parts, CURLUPART_HOST, &host, 0);
        }
        curl_free(zone);
    }
    curl_url_cleanup(parts);
    return host;
}

/// libcurl parses the same host. Parsing the result again changes nothing, and it has no delimiter of a URL.
static void whatever_is_accepted_is_canonical(void **state) {
    static const char *const pieces[] = {
        "a",   "Z",      "0",      "1",      "9",      ".",          "..",     "-",    "_",    "%",    "%2e",
        "%61", "%25",    "%00",    "0x",     "f",      ":",          "::",     "[",    "]",    "ffff", "127",
        "256", "\u00fc", "\u00df", "\u3002", "\uff11", "\u2100",     "\u00ad", "xn--", "\xff", "%ff",  "@",
        "/",   " ",      "|",      "~",      "\u200d", "\U0001f600", "%C3%BC", "eth0", "\x7f",
    };
    uint32_t random = 12345;
    size_t accepted = 0;
    (void)state;
    for (size_t round = 0; round < 60000; round++) {
        char text[128] = "";
        for (size_t i = 0; i < 1 + round % 7; i++) {
            random = random * 1664525u + 1013904223u;
            strcat(text, pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        guarded copy = guarded_copy(nc_slice_of(text));
        nc_canonical_host host;
        nc_canonical_host again;
        if (nc_host_read(&host, copy.slice, NULL) == NC_OK) {
            accepted++;
            char *other = strchr(text, ':') == NULL || text[0] == '[' ? host_of_libcurl(text) : NULL;
            if (other != NULL) {
                assert_status(nc_host_read(&again, nc_slice_of(other), NULL), NC_OK);
                assert_true(nc_slice_is_equal(host.text, again.text));
            }
            curl_free(other);
            assert_status(nc_host_read(&again, host.text, NULL), NC_OK);
            assert_true(nc_slice_is_equal(host.text, again.text) && host.kind == again.kind);
            for (size_t i = 0; i < host.text.length; i++) {
                uint8_t c = host.text.data[i];
                bool is_of_address = host.kind == NC_HOST_IPV6 && (c == ':' || c == '%');
                assert_true(c > ' ' && c < 0x7F && (is_of_address || strchr("/:@?#[]%\\", c) == NULL));
            }
        }
        guarded_deinit(&copy);
    }
    assert_true(accepted > 1000);
}

static void a_name_has_at_most_253_bytes(void **state) {
    (void)state;
    char name[4200];
    memset(name, 'a', sizeof name);
    nc_canonical_host host;
    assert_status(nc_host_read(&host, nc_slice_make(name, 253), NULL), NC_OK);
    assert_ptr_equal(host.text.data, name); // no copy
    assert_status(nc_host_read(&host, nc_slice_make(name, 254), NULL), NC_ERR_BAD_URL);
    assert_status(nc_host_read(&host, nc_slice_make(name, sizeof name), NULL), NC_ERR_BAD_URL);
    memset(name, 'A', sizeof name);
    name[253] = '.';
    assert_status(nc_host_read(&host, nc_slice_make(name, 254), NULL), NC_OK);
    assert_int_equal(host.text.length, 253);
}

static void a_buffer_that_is_full_says_so(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(5);
    nc_buf_append(&out, nc_slice_of("ab"));
    assert_status(nc_url_canonical_host(&out, nc_slice_of("a.test"), NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(out.length, 2);
    nc_buf_deinit(&out);
}

/* --- origins --- */

static void origins_are_written_in_one_form(void **state) {
    (void)state;
    static const struct {
        const char *url;
        const char *origin;
        nc_status status;
    } rows[] = {
        {"http://a.test", "http://a.test", NC_OK},
        {"HTTP://u:p@A.test:080/x?y#z", "http://a.test", NC_OK},
        {"http://a.test:/", "http://a.test", NC_OK},
        {"https://a.test:00443?q", "https://a.test", NC_OK},
        {"https://a.test:80", "https://a.test:80", NC_OK},
        {"http://%61.test:8080", "http://a.test:8080", NC_OK},
        {"http://b\u00fccher.example#f", "http://xn--bcher-kva.example", NC_OK},
        {"http://127.1:80", "http://127.0.0.1", NC_OK},
        {"http://[0::1]:8080/", "http://[::1]:8080", NC_OK},
        {"http://[::ffff:7f00:1]", "http://127.0.0.1", NC_OK},
        {"http://a.test:65536", NULL, NC_ERR_BAD_URL},
        {"http://a.test:8x", NULL, NC_ERR_BAD_URL},
        {"http://::1/", NULL, NC_ERR_BAD_URL},
        {"http:///x", NULL, NC_ERR_BAD_URL},
        {"http://@/x", NULL, NC_ERR_BAD_URL},
        {"http:x", NULL, NC_ERR_BAD_URL},
        {"ftp://a.test", NULL, NC_ERR_BAD_SCHEME},
        {"a.test", NULL, NC_ERR_BAD_SCHEME},
        {"", NULL, NC_ERR_BAD_SCHEME},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_buf out = nc_buf_init(4096);
        assert_status(nc_url_origin(&out, nc_slice_of(rows[i].url), NULL), rows[i].status);
        if (rows[i].origin != NULL) {
            assert_int_equal(out.length, strlen(rows[i].origin));
            assert_memory_equal(out.data, rows[i].origin, out.length);
        }
        nc_buf_deinit(&out);
    }
}

static void the_host_of_a_url_has_no_brackets(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(4096);
    assert_status(nc_url_host(&out, nc_slice_of("https://u@[2001:DB8::1]:1/"), NULL), NC_OK);
    assert_int_equal(out.length, strlen("2001:db8::1"));
    assert_memory_equal(out.data, "2001:db8::1", out.length);
    nc_buf_deinit(&out);
}

static void origins_are_compared_by_scheme_host_and_port(void **state) {
    (void)state;
    nc_slice plain = nc_slice_of("http://xn--bcher-kva.example/");
    assert_true(nc_url_is_same_origin(plain, nc_slice_of("http://B\u00dccher.example.:080/x")));
    assert_false(nc_url_is_same_origin(plain, nc_slice_of("https://xn--bcher-kva.example/")));
    assert_false(nc_url_is_same_origin(plain, nc_slice_of("http://xn--bcher-kva.example:81/")));
    assert_false(nc_url_is_same_origin(plain, nc_slice_of("http://bucher.example/")));
    assert_false(nc_url_is_same_origin(nc_slice_of("http://a..b/"), nc_slice_of("http://a..b/")));
}

/* --- public suffixes --- */

static void the_registrable_domain_is_one_label_more_than_the_suffix(void **state) {
    (void)state;
    static const struct {
        const char *host;
        const char *domain;
        bool is_suffix;
    } rows[] = {
        {"example.com", "example.com", false},
        {"a.b.example.com", "example.com", false},
        {"www.example.co.uk", "example.co.uk", false},
        {"co.uk", "co.uk", true},
        {"com", "com", true},
        {"localhost", "localhost", true},
        {"a.b.test", "b.test", false},
        {"a.b.ck", "a.b.ck", false},
        {"x.www.ck", "www.ck", false},
        {"user.github.io", "user.github.io", false},
        {"deep.user.github.io", "user.github.io", false},
        {"github.io", "github.io", true},
        {"a.xn--55qx5d.cn", "a.xn--55qx5d.cn", false},
        {"xn--55qx5d.cn", "xn--55qx5d.cn", true},
        {"127.0.0.1", "127.0.0.1", false},
        {"::1", "::1", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_slice host = nc_slice_of(rows[i].host);
        nc_slice domain = nc_registrable_domain(host);
        if (!nc_slice_is_equal(domain, nc_slice_of(rows[i].domain)) || nc_is_public_suffix(host) != rows[i].is_suffix) {
            fail_msg("%s: %.*s", rows[i].host, (int)domain.length, (const char *)domain.data);
        }
        assert_true(domain.data >= host.data && domain.data + domain.length == host.data + host.length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_spelling_of_a_name_is_one_host),
        cmocka_unit_test(each_spelling_of_an_address_is_one_host),
        cmocka_unit_test(text_that_is_no_host_is_refused),
        cmocka_unit_test(a_canonical_host_stays_as_it_is),
        cmocka_unit_test(whatever_is_accepted_is_canonical),
        cmocka_unit_test(a_name_has_at_most_253_bytes),
        cmocka_unit_test(a_buffer_that_is_full_says_so),
        cmocka_unit_test(origins_are_written_in_one_form),
        cmocka_unit_test(the_host_of_a_url_has_no_brackets),
        cmocka_unit_test(origins_are_compared_by_scheme_host_and_port),
        cmocka_unit_test(the_registrable_domain_is_one_label_more_than_the_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
