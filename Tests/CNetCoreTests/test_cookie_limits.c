/// A cookie jar that servers try to fill: its limits, its eviction order, and the cost of a change in a full jar.
///
/// Work is counted in visited cookies and sites, so no clock is needed.
#include "harness.h"

#include "http/cookie_jar.h"

#include <stdio.h>
#include <string.h>

enum { NOW_S = 1700000000, SITES = 60, PER_SITE = 50 };

static char value[4001];

/// Sets a cookie with a value of `bytes` bytes at https://site-NUMBER.example/.
static void set_at(nc_cookie_jar *jar, int number, const char *name, size_t bytes, const char *attributes) {
    char host[64];
    char field[4200];
    bool has_changed = false;
    (void)snprintf(host, sizeof host, "site-%d.example", number);
    memset(value, 'v', sizeof value - 1);
    (void)snprintf(field, sizeof field, "%s=%.*s; Path=/%s", name, (int)bytes, value, attributes);
    const nc_cookie_context context = {nc_slice_of(host), nc_slice_of("/"), true, NOW_S};
    assert_status(nc_cookie_jar_store(jar, &context, nc_slice_of(field), &has_changed), NC_OK);
}

/// Returns true if a request to https://site-NUMBER.example/ has the cookie. Does not count as a use.
static bool is_sent(nc_cookie_jar *jar, int number, const char *name) {
    char host[64];
    char expected[64];
    nc_buf out = nc_buf_init(1 << 16);
    (void)snprintf(host, sizeof host, "site-%d.example", number);
    (void)snprintf(expected, sizeof expected, "%s=", name);
    const nc_cookie_context context = {nc_slice_of(host), nc_slice_of("/"), true, NOW_S};
    nc_cookie_jar_append_field(jar, &context, false, &out);
    nc_buf_append_byte(&out, 0);
    bool is_there = strstr((const char *)out.data, expected) != NULL;
    nc_buf_deinit(&out);
    return is_there;
}

/// Fills a jar: 60 sites with 50 cookies of 4,000 bytes each.
static void fill(nc_cookie_jar *jar) {
    char name[16];
    for (int site = 0; site < SITES; site++) {
        for (int i = 0; i < PER_SITE; i++) {
            (void)snprintf(name, sizeof name, "c%d", i);
            set_at(jar, site, name, 4000, "; Max-Age=99999");
        }
    }
}

static void cookie_jar__a_change_in_a_full_jar_costs_no_more(void **state) {
    nc_cookie_jar jar;
    char name[16];
    (void)state;
    nc_cookie_jar_init(&jar);
    fill(&jar);
    assert_int_equal(jar.count, NC_JAR_MAX_COOKIES);
    uint64_t before = jar.visits;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "honest%d", i % 10);
        set_at(&jar, 1000, name, 10 + (size_t)i, "");
        assert_true(is_sent(&jar, 1000, name));
    }
    // A change visits the site's own cookies. An eviction also visits one cookie, the first, of each site that has more
    // than its share.
    assert_true((jar.visits - before) / 100 < 150);
    before = jar.visits;
    for (int i = 0; i < 100; i++) {
        set_at(&jar, 2000 + i, "one", 1, "");
    }
    assert_true((jar.visits - before) / 100 < 150);
    assert_true(is_sent(&jar, 1000, "honest0"));
    assert_true(jar.count <= NC_JAR_MAX_COOKIES);
    nc_cookie_jar_deinit(&jar);
}

static void cookie_jar__a_site_that_fills_the_jar_evicts_only_its_own_cookies(void **state) {
    nc_cookie_jar jar;
    (void)state;
    nc_cookie_jar_init(&jar);
    set_at(&jar, 1000, "oldest", 10, "");
    fill(&jar);
    fill(&jar);
    set_at(&jar, 1001, "newest", 10, "");
    assert_true(is_sent(&jar, 1000, "oldest"));
    assert_true(is_sent(&jar, 1001, "newest"));
    assert_true(jar.count <= NC_JAR_MAX_COOKIES && jar.bytes <= NC_JAR_MAX_BYTES);
    nc_cookie_jar_deinit(&jar);
}

static void cookie_jar__subdomains_share_the_limit_of_their_site(void **state) {
    nc_cookie_jar jar;
    char host[64];
    bool has_changed = false;
    (void)state;
    nc_cookie_jar_init(&jar);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(host, sizeof host, "h%d.evil.co.uk", i);
        const nc_cookie_context context = {nc_slice_of(host), nc_slice_of("/"), false, NOW_S};
        assert_status(nc_cookie_jar_store(&jar, &context, nc_slice_of("a=1"), &has_changed), NC_OK);
        const nc_cookie_context other = {nc_slice_of(host), nc_slice_of("/"), false, NOW_S};
        assert_status(nc_cookie_jar_store(&jar, &other, nc_slice_of("b=1; Domain=evil.co.uk"), &has_changed), NC_OK);
    }
    assert_int_equal(jar.count, NC_JAR_MAX_COOKIES_PER_SITE);
    nc_cookie_jar_deinit(&jar);
}

static void cookie_jar__the_bytes_of_a_site_are_limited(void **state) {
    nc_cookie_jar jar;
    char name[16];
    (void)state;
    nc_cookie_jar_init(&jar);
    for (int i = 0; i < NC_JAR_MAX_COOKIES_PER_SITE; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        set_at(&jar, 1, name, 4000, "");
        assert_true(jar.bytes <= NC_JAR_MAX_BYTES_PER_SITE);
    }
    assert_true(jar.count > 50 && jar.count < NC_JAR_MAX_COOKIES_PER_SITE);
    nc_cookie_jar_deinit(&jar);
}

static void cookie_jar__expired_cookies_are_evicted_first_and_secure_ones_last(void **state) {
    nc_cookie_jar jar;
    char name[16];
    (void)state;
    nc_cookie_jar_init(&jar);
    set_at(&jar, 1, "secure", 1, "; Secure");
    set_at(&jar, 1, "used", 1, "");
    for (int i = 0; i < NC_JAR_MAX_COOKIES_PER_SITE - 2; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        set_at(&jar, 1, name, 1, i == 5 ? "; Max-Age=10" : "");
    }
    assert_int_equal(jar.count, NC_JAR_MAX_COOKIES_PER_SITE);
    set_at(&jar, 1, "used", 1, ""); // counts as a use
    set_at(&jar, 1, "new", 1, "");
    assert_false(is_sent(&jar, 1, "c0")); // the least recently used one without Secure
    assert_true(is_sent(&jar, 1, "used"));
    assert_true(is_sent(&jar, 1, "secure"));
    bool has_changed = false;
    const nc_cookie_context later = {nc_slice_of("site-1.example"), nc_slice_of("/"), true, NOW_S + 10};
    assert_status(nc_cookie_jar_store(&jar, &later, nc_slice_of("newer=1; Path=/"), &has_changed), NC_OK);
    assert_true(is_sent(&jar, 1, "c1")); // c5 was evicted
    assert_int_equal(jar.count, NC_JAR_MAX_COOKIES_PER_SITE);
    nc_cookie_jar_deinit(&jar);
}

static void cookie_jar__expired_cookies_are_searched_once_a_second(void **state) {
    nc_cookie_jar jar;
    char attributes[32];
    (void)state;
    nc_cookie_jar_init(&jar);
    for (int site = 0; site < 1000; site++) {
        (void)snprintf(attributes, sizeof attributes, "; Max-Age=%d", site + 1);
        set_at(&jar, site, "a", 1, attributes);
    }
    uint64_t before = jar.visits;
    for (int i = 0; i < 100; i++) {
        (void)is_sent(&jar, 999, "a");
    }
    assert_true(jar.visits - before < 2000);
    nc_cookie_jar_deinit(&jar);
}

static void cookie_jar__number_and_size_of_a_requests_cookies_are_limited(void **state) {
    nc_cookie_jar jar;
    char name[16];
    nc_buf out = nc_buf_init(1 << 16);
    const nc_cookie_context context = {nc_slice_of("site-1.example"), nc_slice_of("/"), true, NOW_S};
    (void)state;
    nc_cookie_jar_init(&jar);
    for (int i = 0; i < NC_JAR_MAX_COOKIES_PER_SITE; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        set_at(&jar, 1, name, 1, "");
    }
    nc_cookie_jar_append_field(&jar, &context, true, &out);
    size_t count = 1;
    for (size_t i = 0; i < out.length; i++) {
        count += out.data[i] == ';' ? 1 : 0;
    }
    assert_int_equal(count, NC_JAR_MAX_SENT_COOKIES);
    nc_cookie_jar_clear(&jar);
    set_at(&jar, 1, "a", 4000, "");
    set_at(&jar, 1, "b", 4000, "");
    set_at(&jar, 1, "c", 4000, "");
    set_at(&jar, 1, "sid", 10, "");
    nc_buf_reset(&out);
    nc_cookie_jar_append_field(&jar, &context, true, &out);
    assert_true(out.length <= NC_JAR_MAX_SENT_BYTES);
    assert_slice_equals(nc_slice_make(out.data + out.length - 14, 14), "sid=vvvvvvvvvv"); // the third cookie is omitted
    nc_buf_deinit(&out);
    nc_cookie_jar_deinit(&jar);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cookie_jar__a_change_in_a_full_jar_costs_no_more),
        harness_case(cookie_jar__a_site_that_fills_the_jar_evicts_only_its_own_cookies),
        harness_case(cookie_jar__subdomains_share_the_limit_of_their_site),
        harness_case(cookie_jar__the_bytes_of_a_site_are_limited),
        harness_case(cookie_jar__expired_cookies_are_evicted_first_and_secure_ones_last),
        harness_case(cookie_jar__expired_cookies_are_searched_once_a_second),
        harness_case(cookie_jar__number_and_size_of_a_requests_cookies_are_limited),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
