#include "harness.h"

#include <string.h>

typedef struct row {
    const char *base;
    const char *reference;
    const char *expected;
} row;

/// RFC 3986, sections 5.4.1 and 5.4.2, complete and strict; then further cases.
#define RFC_BASE "http://a/b/c/d;p?q"
static const row rows[] = {
    /* --- 5.4.1, normal --- */
    {RFC_BASE, "g:h", "g:h"},
    {RFC_BASE, "g", "http://a/b/c/g"},
    {RFC_BASE, "./g", "http://a/b/c/g"},
    {RFC_BASE, "g/", "http://a/b/c/g/"},
    {RFC_BASE, "/g", "http://a/g"},
    {RFC_BASE, "//g", "http://g"},
    {RFC_BASE, "?y", "http://a/b/c/d;p?y"},
    {RFC_BASE, "g?y", "http://a/b/c/g?y"},
    {RFC_BASE, "#s", "http://a/b/c/d;p?q#s"},
    {RFC_BASE, "g#s", "http://a/b/c/g#s"},
    {RFC_BASE, "g?y#s", "http://a/b/c/g?y#s"},
    {RFC_BASE, ";x", "http://a/b/c/;x"},
    {RFC_BASE, "g;x", "http://a/b/c/g;x"},
    {RFC_BASE, "g;x?y#s", "http://a/b/c/g;x?y#s"},
    {RFC_BASE, "", "http://a/b/c/d;p?q"},
    {RFC_BASE, ".", "http://a/b/c/"},
    {RFC_BASE, "./", "http://a/b/c/"},
    {RFC_BASE, "..", "http://a/b/"},
    {RFC_BASE, "../", "http://a/b/"},
    {RFC_BASE, "../g", "http://a/b/g"},
    {RFC_BASE, "../..", "http://a/"},
    {RFC_BASE, "../../", "http://a/"},
    {RFC_BASE, "../../g", "http://a/g"},
    /* --- 5.4.2, abnormal --- */
    {RFC_BASE, "../../../g", "http://a/g"},
    {RFC_BASE, "../../../../g", "http://a/g"},
    {RFC_BASE, "/./g", "http://a/g"},
    {RFC_BASE, "/../g", "http://a/g"},
    {RFC_BASE, "g.", "http://a/b/c/g."},
    {RFC_BASE, ".g", "http://a/b/c/.g"},
    {RFC_BASE, "g..", "http://a/b/c/g.."},
    {RFC_BASE, "..g", "http://a/b/c/..g"},
    {RFC_BASE, "./../g", "http://a/b/g"},
    {RFC_BASE, "./g/.", "http://a/b/c/g/"},
    {RFC_BASE, "g/./h", "http://a/b/c/g/h"},
    {RFC_BASE, "g/../h", "http://a/b/c/h"},
    {RFC_BASE, "g;x=1/./y", "http://a/b/c/g;x=1/y"},
    {RFC_BASE, "g;x=1/../y", "http://a/b/c/y"},
    {RFC_BASE, "g?y/./x", "http://a/b/c/g?y/./x"},
    {RFC_BASE, "g?y/../x", "http://a/b/c/g?y/../x"},
    {RFC_BASE, "g#s/./x", "http://a/b/c/g#s/./x"},
    {RFC_BASE, "g#s/../x", "http://a/b/c/g#s/../x"},
    {RFC_BASE, "http:g", "http:g"},
    /* --- merging --- */
    {"http://a", "g", "http://a/g"},
    {"http://a?q", "../g", "http://a/g"},
    {"http://a", "?y", "http://a?y"},
    {"http://a#old", "", "http://a"},
    {"http://a/b#old", "#new", "http://a/b#new"},
    {"http://a/b?q#old", "#", "http://a/b?q#"},
    {"http://a/b?q", "?", "http://a/b?"},
    {"http://a/b/", "c", "http://a/b/c"},
    {"mailto:x", "y", "mailto:y"},
    {"mailto:x@y", "?z", "mailto:x@y?z"},
    /* --- authorities --- */
    {"https://user:pw@h:8443/x", "/y", "https://user:pw@h:8443/y"},
    {"https://[::1]:1/x", "y", "https://[::1]:1/y"},
    {"https://h/x", "//[2001:db8::1]/y", "https://[2001:db8::1]/y"},
    {"https://h/x", "//g?y", "https://g?y"},
    {"https://h/x", "HTTP://g/../y", "HTTP://g/y"},
    {"a+b-1.c:/x", "y", "a+b-1.c:/y"},
    /* --- empty segments stay; an empty one counts as a segment --- */
    {"http://a/b//c", "d", "http://a/b//d"},
    {"http://a/b//c", "../d", "http://a/b/d"},
    {"http://a/b", "c//../d", "http://a/c/d"},
    {"http://a/b", "/..//d", "http://a//d"},
    {"http://a/b", ".../d", "http://a/.../d"},
    {"http://a/b", "%2e%2e/d", "http://a/%2e%2e/d"},
    {"http://a/./b/../c", "", "http://a/c"},
    {"http://a/b/..", "?y", "http://a/?y"},
    /* --- what only looks like a scheme or an authority --- */
    {"http://a/b", "1a:b", "http://a/1a:b"},
    {"http://a/b", ":b", "http://a/:b"},
    {"http://a/b", "./g:h", "http://a/g:h"},
    {"http://a/b", "g/h:i", "http://a/g/h:i"},
    {"http://a/b", "g?h:i", "http://a/g?h:i"},
    {"a:/x/y", "..//evil/z", "a:/.//evil/z"},
    {"a:x", "/.//evil", "a:/.//evil"},
    {"a:x", "../y", "a:y"},
    {"http://a/b", "\xC3\xA4", "http://a/\xC3\xA4"},
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void url__resolves_each_reference(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        guarded base = guarded_copy(nc_slice_of(rows[i].base));
        guarded reference = guarded_copy(nc_slice_of(rows[i].reference));
        nc_buf out = nc_buf_init(1000);
        nc_error err;
        assert_status(nc_url_resolve(&out, base.slice, reference.slice, &err), NC_OK);
        assert_status(err.status, NC_OK);
        assert_slice_equals(nc_buf_slice(&out), rows[i].expected);
        nc_buf_deinit(&out);
        guarded_deinit(&base);
        guarded_deinit(&reference);
    }
}

static void url__result_resolves_to_itself(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        nc_buf out = nc_buf_init(1000);
        assert_status(nc_url_resolve(&out, nc_slice_of(rows[i].base), nc_slice_of(rows[i].expected), NULL), NC_OK);
        assert_slice_equals(nc_buf_slice(&out), rows[i].expected);
        nc_buf_deinit(&out);
    }
}

static void url__is_appended(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(100);
    nc_buf_append(&out, nc_slice_of("Location: "));
    assert_status(nc_url_resolve(&out, nc_slice_of("http://a/b/c"), nc_slice_of("../../../d"), NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "Location: http://a/d");
    nc_buf_deinit(&out);
}

static void url__rejects_a_base_without_a_scheme(void **state) {
    (void)state;
    static const char *const bases[] = {"", "a", "/a/b", "//a/b", ":b", "1a:b", "?a:b", "h\xC3\xA4:b", "a/b:c"};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        nc_buf out = nc_buf_init(100);
        nc_error err;
        assert_status(nc_url_resolve(&out, nc_slice_of(bases[i]), nc_slice_of("http://a/"), &err), NC_ERR_BAD_URL);
        assert_status(err.status, NC_ERR_BAD_URL);
        assert_int_equal(out.length, 0);
        nc_buf_deinit(&out);
    }
}

static void url__reports_the_offset_of_control_characters_and_space(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool is_refused = c <= 0x20 || c == 0x7F;
        char text[] = "http://a/xyz";
        text[10] = (char)c;
        nc_slice odd = nc_slice_make(text, 12);
        nc_slice plain = nc_slice_of("http://a/b");
        nc_error err;
        nc_buf out = nc_buf_init(100);
        assert_status(nc_url_resolve(&out, odd, plain, &err), is_refused ? NC_ERR_BAD_URL : NC_OK);
        assert_int_equal(err.offset, is_refused ? 10 : -1);
        nc_buf_reset(&out);
        assert_status(nc_url_resolve(&out, plain, odd, &err), is_refused ? NC_ERR_BAD_URL : NC_OK);
        assert_int_equal(err.offset, is_refused ? 10 : -1);
        nc_buf_deinit(&out);
    }
}

static void url__rejects_missing_arguments(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(100);
    nc_slice missing = {NULL, 3};
    assert_status(nc_url_resolve(&out, missing, nc_slice_of("a"), NULL), NC_ERR_USAGE);
    assert_status(nc_url_resolve(&out, nc_slice_of("a:b"), missing, NULL), NC_ERR_USAGE);
    nc_buf_deinit(&out);
}

static void url__a_full_buffer_is_unchanged(void **state) {
    (void)state;
    nc_slice base = nc_slice_of("http://a/b/c/d;p?q");
    nc_slice reference = nc_slice_of("../../../g?y#s");
    // The merged path must fit with its dot segments: "http://a" and "/b/c/../../../g" are 23 bytes.
    for (size_t max_bytes = 4; max_bytes < 60; max_bytes++) {
        nc_buf out = nc_buf_init(max_bytes);
        nc_buf_append(&out, nc_slice_of("kept"));
        nc_status status = nc_url_resolve(&out, base, reference, NULL);
        assert_slice_equals(nc_buf_slice(&out), status == NC_OK ? "kepthttp://a/g?y#s" : "kept");
        assert_status(status, max_bytes < 4 + 23 ? NC_ERR_TOO_LARGE : NC_OK);
        nc_buf_deinit(&out);
    }
}

static void url__rejects_urls_beyond_the_maximum_length(void **state) {
    (void)state;
    static char text[NC_URL_MAX_BYTES + 1];
    memset(text, 'a', sizeof text);
    memcpy(text, "http://a/", 9);
    nc_buf out = nc_buf_init(1 << 20);
    nc_slice longest = nc_slice_make(text, NC_URL_MAX_BYTES);
    assert_status(nc_url_resolve(&out, longest, nc_slice_of(""), NULL), NC_OK);
    assert_int_equal(out.length, NC_URL_MAX_BYTES);
    assert_status(nc_url_resolve(&out, nc_slice_of("http://a/"), longest, NULL), NC_OK);
    nc_slice longer = nc_slice_make(text, NC_URL_MAX_BYTES + 1);
    assert_status(nc_url_resolve(&out, longer, nc_slice_of("b"), NULL), NC_ERR_TOO_LARGE);
    assert_status(nc_url_resolve(&out, nc_slice_of("http://a/"), longer, NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(out.length, 2 * NC_URL_MAX_BYTES);
    assert_status(nc_url_resolve(&out, longest, nc_slice_of("#x"), NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(out.length, 2 * NC_URL_MAX_BYTES);
    nc_buf_deinit(&out);
}

static void url__resolves_many_dot_segments_in_linear_time(void **state) {
    (void)state;
    static char text[60000];
    for (size_t i = 0; i < sizeof text; i += 3) {
        memcpy(text + i, i < sizeof text / 2 ? "a/b" : "/..", 3);
    }
    nc_buf out = nc_buf_init(1 << 20);
    assert_status(nc_url_resolve(&out, nc_slice_of("http://h/"), nc_slice_make(text, sizeof text), NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "http://h/a/");
    nc_buf_deinit(&out);
}

static void resolve_one(void *ctx) {
    (void)ctx;
    nc_buf out = nc_buf_init(100000);
    nc_slice reference = nc_slice_of("../a/rather/long/reference/that/needs/more/than/one/block/of/memory?with=query");
    nc_error err;
    nc_status status = nc_url_resolve(&out, nc_slice_of("http://host.example/b/c"), reference, &err);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    assert_status(err.status, status);
    assert_true(status == NC_OK || out.length == 0);
    nc_buf_deinit(&out);
}

static void url__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(resolve_one, NULL) >= 1);
}

/// Appends one of the paths of up to three segments, each of them empty, ".", ".." or a name.
static void append_numbered_path(nc_buf *out, unsigned number) {
    static const char *const segments[] = {"", ".", "..", "a"};
    for (unsigned left = number; left > 0; left /= 5) {
        if (left % 5 > 0) {
            nc_buf_append(out, nc_slice_of(segments[left % 5 - 1]));
        }
        nc_buf_append_byte(out, '/');
    }
}

static void url__preserved_dot_segments_resolve_to_the_same_target(void **state) {
    enum { PATHS = 5 * 5 * 5 };
    (void)state;
    for (unsigned i = 0; i < PATHS * PATHS * 2; i++) {
        nc_buf base = nc_buf_init(100);
        nc_buf reference = nc_buf_init(100);
        nc_buf as_is = nc_buf_init(100);
        nc_buf expected = nc_buf_init(100);
        nc_buf actual = nc_buf_init(100);
        nc_buf_append(&base, nc_slice_of("http://h/"));
        append_numbered_path(&base, i % PATHS);
        nc_buf_append(&base, nc_slice_of("b?q"));
        append_numbered_path(&reference, i / PATHS % PATHS);
        nc_buf_append(&reference, nc_slice_of(i % 2 == 0 ? ".." : "b/../c?x=/../y#/./z"));
        assert_status(nc_url_resolve_as_is(&as_is, nc_buf_slice(&base), nc_buf_slice(&reference), NULL), NC_OK);
        assert_status(nc_url_resolve(&actual, nc_buf_slice(&base), nc_buf_slice(&as_is), NULL), NC_OK);
        assert_status(nc_url_resolve(&expected, nc_buf_slice(&base), nc_buf_slice(&reference), NULL), NC_OK);
        assert_true(nc_slice_is_equal(nc_buf_slice(&actual), nc_buf_slice(&expected)));
        nc_buf *const all[] = {&base, &reference, &as_is, &expected, &actual};
        for (size_t b = 0; b < sizeof all / sizeof *all; b++) {
            nc_buf_deinit(all[b]);
        }
    }
}

/* --- parts --- */

/// "-" is an absent part, "" an empty one. Scheme and path have no such difference.
typedef struct split_row {
    const char *url, *scheme, *userinfo, *host, *port, *path, *query, *fragment;
} split_row;

static const split_row split_rows[] = {
    {"http://h", "http", "-", "h", "-", "", "-", "-"},
    {"HTTPS://H:8443/a/b?c#d", "HTTPS", "-", "H", "8443", "/a/b", "c", "d"},
    {"http://u:p@h:1/", "http", "u:p", "h", "1", "/", "-", "-"},
    {"http://u@p@h/", "http", "u@p", "h", "-", "/", "-", "-"},
    {"http://@h:/?#", "http", "", "h", "", "/", "", ""},
    {"http://u:p@[::1]:80/x", "http", "u:p", "[::1]", "80", "/x", "-", "-"},
    {"http://[fe80::1%25eth0]/", "http", "-", "[fe80::1%25eth0]", "-", "/", "-", "-"},
    {"http://[::1]x:80/", "http", "-", "[::1]x:80", "-", "/", "-", "-"},
    {"http://[::1:80/", "http", "-", "[::1:80", "-", "/", "-", "-"},
    {"http://h:8a/", "http", "-", "h", "8a", "/", "-", "-"},
    {"http://h:1:2/", "http", "-", "h", "1:2", "/", "-", "-"},
    {"http://h?u@v", "http", "-", "h", "-", "", "u@v", "-"},
    {"http://h#u@v?w", "http", "-", "h", "-", "", "-", "u@v?w"},
    {"http://h/a@b:c", "http", "-", "h", "-", "/a@b:c", "-", "-"},
    {"http://b\xc3\xbc.example./", "http", "-", "b\xc3\xbc.example.", "-", "/", "-", "-"},
    {"http://%41.example/", "http", "-", "%41.example", "-", "/", "-", "-"},
    {"//u:p@h/x", "", "u:p", "h", "-", "/x", "-", "-"},
    {"///x", "", "-", "", "-", "/x", "-", "-"},
    {"a:b://c", "a", "-", "-", "-", "b://c", "-", "-"},
    {"x/y?z", "", "-", "-", "-", "x/y", "z", "-"},
    {"", "", "-", "-", "-", "", "-", "-"},
};

static void assert_part(const char *url, nc_slice part, bool is_present, const char *expected) {
    bool is_expected = strcmp(expected, "-") != 0;
    if (is_present != is_expected || !nc_slice_is_equal(part, nc_slice_of(is_expected ? expected : ""))) {
        fail_msg("'%s': '%.*s', not '%s'", url, (int)part.length, (const char *)part.data, expected);
    }
}

static void url__splits_each_text_into_its_parts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof split_rows / sizeof *split_rows; i++) {
        const split_row *one = &split_rows[i];
        guarded text = guarded_copy(nc_slice_of(one->url));
        nc_url_parts parts = nc_url_split(text.slice);
        assert_part(one->url, parts.scheme, true, one->scheme);
        assert_part(one->url, parts.userinfo, parts.has_userinfo, one->userinfo);
        assert_part(one->url, parts.host, parts.has_authority, one->host);
        assert_part(one->url, parts.port, parts.has_port, one->port);
        assert_part(one->url, parts.path, true, one->path);
        assert_part(one->url, parts.query, parts.has_query, one->query);
        assert_part(one->url, parts.fragment, parts.has_fragment, one->fragment);
        guarded_deinit(&text);
    }
}

static void url__finds_credentials_in_malformed_urls_too(void **state) {
    static const struct {
        const char *url;
        size_t at, length;
    } cases[] = {
        {"http://u:p@h/", 7, 4},  {"http://u@p@h", 7, 4},   {"http://@h", 7, 1}, {"ht tp://u:p@h/", 8, 4},
        {"http://h/u:p@h", 0, 0}, {"http://h?u:p@h", 0, 0}, {"u:p@h", 0, 0},     {"", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t at = 99;
        size_t length = 99;
        guarded text = guarded_copy(nc_slice_of(cases[i].url));
        nc_url_find_credentials(text.slice, &at, &length);
        assert_int_equal(length, cases[i].length);
        assert_int_equal(at, cases[i].at);
        guarded_deinit(&text);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(url__resolves_each_reference),
        harness_case(url__result_resolves_to_itself),
        harness_case(url__is_appended),
        harness_case(url__rejects_a_base_without_a_scheme),
        harness_case(url__reports_the_offset_of_control_characters_and_space),
        harness_case(url__rejects_missing_arguments),
        harness_case(url__a_full_buffer_is_unchanged),
        harness_case(url__rejects_urls_beyond_the_maximum_length),
        harness_case(url__resolves_many_dot_segments_in_linear_time),
        harness_case(url__survives_each_allocation_failure),
        harness_case(url__preserved_dot_segments_resolve_to_the_same_target),
        harness_case(url__splits_each_text_into_its_parts),
        harness_case(url__finds_credentials_in_malformed_urls_too),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
