/// The cookie jar without a network: accepted fields, matching requests, and their order.
#include "harness.h"

#include "http/cookie_jar.h"

#include <string.h>

enum { NOW_S = 1700000000, DAY_S = 86400 };

/// A jar and the URL of its requests.
typedef struct jar_fixture {
    nc_cookie_jar jar;
    nc_cookie_context context;
    nc_buf sent;
} jar_fixture;

static void begin(jar_fixture *one) {
    nc_cookie_jar_init(&one->jar);
    one->context = (nc_cookie_context){nc_slice_of("www.a.example"), nc_slice_of("/x/y"), true, NOW_S};
    one->sent = nc_buf_init(1 << 16);
}

static void end(jar_fixture *one) {
    nc_cookie_jar_deinit(&one->jar);
    nc_buf_deinit(&one->sent);
}

static bool store(jar_fixture *one, const char *field) {
    bool has_changed = false;
    assert_status(nc_cookie_jar_store(&one->jar, &one->context, nc_slice_of(field), &has_changed), NC_OK);
    return has_changed;
}

/// Returns the cookies of a request from the fixture's site to `host` and `path`.
static const char *sent_to(jar_fixture *one, const char *host, const char *path) {
    nc_cookie_context context = one->context;
    context.host = nc_slice_of(host);
    context.path = nc_slice_of(path);
    nc_buf_reset(&one->sent);
    nc_cookie_jar_append_field(&one->jar, &context, true, &one->sent);
    nc_buf_append_byte(&one->sent, 0);
    assert_status(nc_buf_status(&one->sent), NC_OK);
    return (const char *)one->sent.data;
}

static const char *sent(jar_fixture *one) {
    return sent_to(one, "www.a.example", "/x/y");
}

static const struct {
    const char *field;
    int64_t lives_s; // 0: not stored; -1: a session cookie
} lifetimes[] = {
    {"a=1", -1},
    {"a=1; Max-Age=60", 60},
    {"a=1; Max-Age=0", 0},
    {"a=1; Max-Age=-5", 0},
    {"a=1; Max-Age=-0", 0},
    {"a=1; Max-Age=", -1},
    {"a=1; Max-Age", -1},
    {"a=1; Max-Age=-", -1},
    {"a=1; Max-Age=abc", -1},
    {"a=1; Max-Age=1h", -1},
    {"a=1; Max-Age=1.5", -1},
    {"a=1; Max-Age=+5", -1},
    {"a=1; Max-Age=\"60\"", -1},
    {"a=1; Max-Age= 60 ", 60},
    {"a=1; Max-Age=60; Max-Age=x", 60},
    {"a=1; Max-Age=60; Max-Age=30", 30},
    {"a=1; Max-Age=99999999999999999999999", 400 * DAY_S},
    {"a=1; Max-Age=-99999999999999999999999", 0},
    {"a=1; Max-Age=34560001", 400 * DAY_S},
    {"a=1; Expires=Tue, 14 Nov 2023 22:14:20 GMT", 60},
    {"a=1; Expires=Tue, 14 Nov 2023 22:13:20 GMT", 0},
    {"a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT", 0},
    {"a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * DAY_S},
    {"a=1; Expires=soon", -1},
    {"a=1; Expires=", -1},
    {"a=1; Max-Age=60; Expires=Thu, 01-Jan-70 00:00:01 GMT", 60},
    {"a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT; Max-Age=60", 60},
    {"a=1; Max-Age=1h; Expires=Thu, 01-Jan-70 00:00:01 GMT", 0},
    {"a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT; Expires=Tue, 14 Nov 2023 22:14:20 GMT", 60},
};

static void cookie_jar__lifetimes_follow_rfc_6265(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lifetimes / sizeof *lifetimes; i++) {
        jar_fixture one;
        begin(&one);
        (void)store(&one, lifetimes[i].field);
        bool lives = strcmp(sent(&one), "a=1") == 0;
        one.context.now_s = lifetimes[i].lives_s > 0 ? NOW_S + lifetimes[i].lives_s - 1 : NOW_S + 800 * (int64_t)DAY_S;
        bool lives_on = strcmp(sent(&one), "a=1") == 0;
        one.context.now_s += 1;
        bool lives_longer = strcmp(sent(&one), "a=1") == 0;
        if (lives != (lifetimes[i].lives_s != 0) || lives_on != (lifetimes[i].lives_s != 0) ||
            lives_longer != (lifetimes[i].lives_s == -1)) {
            fail_msg("'%s' does not live for %lld s", lifetimes[i].field, (long long)lifetimes[i].lives_s);
        }
        end(&one);
    }
}

static const struct {
    const char *field;
    const char *sent;
} fields[] = {
    {"\ta\t=\t1\t;x", "a=1"},
    {"a = b c ", "a=b c"},
    {"a=\"1;2\"", "a=\"1"},
    {"a==", "a=="},
    {"a=\xc4\xe3\xba\xc3", "a=\xc4\xe3\xba\xc3"},
    {"\xe9=\xff; Path=/", "\xe9=\xff"},
    {"a", ""},
    {"=1", ""},
    {"= ; Path=/", ""},
    {"=__Host-a=1; Path=/", ""},
    {"__Secure-a", ""},
    {"a=1\x7f", ""},
    {"a=1; Path=/\x01", ""},
    {"a=1; junk=\x1f", ""},
    {"a=b\tc", ""},
    {"a\tb=c", ""},
    {"a=1; Path=/x\t/y", ""},
    {"a=1; Domain=www.a.example", "a=1"},
    {"a=1; Domain=..a.example", ""},
    {"a=1; Domain=a.example.", ""},
    {"a=1; Domain=example", ""},
    {"a=1; Domain=.", "a=1"},
    {"a=1; Domain=b.example; Domain=a.example", "a=1"},
    {"a=1; Domain=a.example; Domain=b.example", ""},
    {"a=1; Domain=a.example; Domain=", "a=1"},
    {"a=1; Domain=\xc3\xa4.example", ""},
    {"a=1; Path=/x; Path=/z", ""},
    {"a=1; Path=/z; Path=", "a=1"},
    {"a=1; Path=x", "a=1"},
    {"a=1; secure", "a=1"},
    {"__Secure-a=1", ""},
    {"__sEcUrE-a=1", ""},
    {"__SECURE-a=1; Secure=no", "__SECURE-a=1"},
    {"__Host-a=1; Secure; Path=/", "__Host-a=1"},
    {"__host-a=1; Path=/", ""},
    {"__host-a=1; Secure", ""},
    {"__HOST-a=1; Secure; Path=/x", ""},
    {"__Host-a=1; Secure; Path=/; Domain=www.a.example", ""},
    {"__Host-a=1; Secure; Path=/; Domain=", "__Host-a=1"},
    {"__Hosta=1", "__Hosta=1"},
};

static void cookie_jar__fields_are_accepted_or_ignored_per_rfc_6265(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        jar_fixture one;
        begin(&one);
        (void)store(&one, fields[i].field);
        if (strcmp(sent(&one), fields[i].sent) != 0) {
            fail_msg("'%s' is sent as '%s'", fields[i].field, (const char *)one.sent.data);
        }
        end(&one);
    }
}

static void cookie_jar__long_pairs_are_ignored_and_long_attributes_skipped(void **state) {
    enum { MAX = NC_COOKIE_MAX_PAIR_BYTES };
    char field[MAX + 64] = "n=";
    jar_fixture one;
    (void)state;
    begin(&one);
    memset(field + 2, 'v', MAX - 1);
    field[MAX + 1] = '\0';
    assert_true(store(&one, field)); // name and value have 4096 bytes
    assert_int_equal(strlen(sent(&one)), MAX + 1);
    field[MAX + 1] = 'v';
    field[MAX + 2] = '\0';
    assert_false(store(&one, field));
    char path[2000] = "p=1; Path=/";
    memset(path + 11, 'x', 1024);
    path[11 + 1024] = '\0';
    assert_true(store(&one, path)); // ignored, so the default path applies
    assert_non_null(strstr(sent_to(&one, "www.a.example", "/x"), "p=1"));
    path[11 + 1023] = '\0';
    assert_true(store(&one, path));
    assert_int_equal(one.jar.count, 3);
    end(&one);
}

static void cookie_jar__cookies_are_sent_to_matching_hosts_and_paths(void **state) {
    static const struct {
        const char *host, *path, *sent;
    } cases[] = {
        {"www.a.example", "/x/y", "deep=3; host=1; all=2"},
        {"www.a.example", "/x", "deep=3; host=1; all=2"},
        {"www.a.example", "/xy", "host=1; all=2"},
        {"www.a.example", "/X", "host=1; all=2"},
        {"www.a.example", "", "host=1; all=2"},
        {"a.example", "/x", "all=2"},
        {"sub.www.a.example", "/", "all=2"},
        {"xa.example", "/", ""},
        {"example", "/", ""},
        {"a.example.org", "/", ""},
        {"127.0.0.1", "/", ""},
    };
    jar_fixture one;
    (void)state;
    begin(&one);
    (void)store(&one, "host=1; Path=/");
    (void)store(&one, "all=2; Domain=A.Example; Path=/");
    (void)store(&one, "deep=3");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(sent_to(&one, cases[i].host, cases[i].path), cases[i].sent);
    }
    one.context.host = nc_slice_of("127.0.0.1");
    assert_false(store(&one, "ip=1; Domain=0.0.1"));
    assert_true(store(&one, "ip=1; Domain=127.0.0.1; Path=/"));
    assert_string_equal(sent_to(&one, "127.0.0.1", "/"), "ip=1");
    one.context.host = nc_slice_of("::1");
    assert_true(store(&one, "v6=1; Domain=[::1]; Path=/"));
    assert_string_equal(sent_to(&one, "::1", "/"), "v6=1");
    one.context.host = nc_slice_of("co.uk");
    assert_true(store(&one, "suffix=1; Domain=co.uk; Path=/"));
    assert_string_equal(sent_to(&one, "co.uk", "/"), "suffix=1"); // only for this host
    assert_string_equal(sent_to(&one, "shop.co.uk", "/"), "");
    end(&one);
}

static void cookie_jar__longer_paths_come_first_then_older_cookies(void **state) {
    jar_fixture one;
    (void)state;
    begin(&one);
    (void)store(&one, "first=1; Path=/");
    (void)store(&one, "second=1; Path=/; Domain=a.example");
    (void)store(&one, "long=1; Path=/x/y");
    (void)store(&one, "third=1; Path=/");
    (void)store(&one, "first=2; Path=/"); // keeps its creation time
    assert_string_equal(sent(&one), "long=1; first=2; second=1; third=1");
    (void)store(&one, "first=; Path=/; Max-Age=0");
    (void)store(&one, "first=3; Path=/");
    assert_string_equal(sent(&one), "long=1; second=1; third=1; first=3");
    end(&one);
}

static void cookie_jar__name_domain_and_path_identify_a_cookie(void **state) {
    jar_fixture one;
    (void)state;
    begin(&one);
    assert_true(store(&one, "a=1; Path=/"));
    assert_true(store(&one, "a=2; Path=/; Domain=www.a.example")); // also for subdomains: another cookie
    assert_true(store(&one, "A=3; Path=/"));
    assert_true(store(&one, "a=4; Path=/x"));
    assert_true(store(&one, "a=5; Path=/x/"));
    assert_string_equal(sent(&one), "a=5; a=4; a=1; a=2; A=3");
    assert_false(store(&one, "a=1; Path=/")); // an equal cookie is no change, so nothing is saved
    assert_true(store(&one, "a=1; Path=/; HttpOnly"));
    assert_true(store(&one, "a=1; Path=/; Max-Age=5"));
    assert_int_equal(one.jar.count, 5);
    end(&one);
}

static void cookie_jar__a_response_without_tls_cannot_overwrite_secure_cookies(void **state) {
    static const struct {
        const char *field;
        bool is_taken;
    } cases[] = {
        {"sid=evil; Path=/", false},        {"sid=evil", false},      {"sid=evil; Domain=a.example", false},
        {"sid=; Path=/; Max-Age=0", false}, {"SID=1; Path=/", true},  {"other=1", true},
        {"new=1; Secure", false},           {"deep=1; Path=/", true}, // its path is not below the other's
        {"deep=1; Path=/deep/er", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jar_fixture one;
        begin(&one);
        assert_true(store(&one, "sid=good; Path=/; Secure; Domain=a.example"));
        assert_true(store(&one, "deep=good; Path=/deep; Secure"));
        one.context.is_secure = false;
        assert_string_equal(sent_to(&one, "www.a.example", "/deep"), "");
        if (store(&one, cases[i].field) != cases[i].is_taken) {
            fail_msg("'%s' is %staken", cases[i].field, cases[i].is_taken ? "not " : "");
        }
        one.context.is_secure = true;
        assert_non_null(strstr(sent_to(&one, "www.a.example", "/deep"), "sid=good"));
        assert_true(store(&one, "sid=; Path=/; Domain=a.example; Max-Age=0")); // over TLS every cookie is accepted
        end(&one);
    }
}

static void store_twice(void *ctx) {
    jar_fixture one;
    bool has_changed = false;
    (void)ctx;
    begin(&one);
    nc_status first = nc_cookie_jar_store(&one.jar, &one.context, nc_slice_of("a=1"), &has_changed);
    nc_status second = nc_cookie_jar_store(&one.jar, &one.context, nc_slice_of("a=2"), &has_changed);
    assert_true(first == NC_OK || first == NC_ERR_NO_MEMORY);
    nc_cookie_list list = {0};
    nc_status listed = nc_cookie_jar_list(&one.jar, NOW_S, &list);
    assert_int_equal(one.jar.count, first == NC_OK || second == NC_OK ? 1 : 0);
    assert_true(listed == NC_ERR_NO_MEMORY || list.count == one.jar.count);
    if (second == NC_OK && list.count == 1) {
        assert_slice_equals(list.cookies[0]->value, "2");
    } else if (list.count == 1) {
        assert_slice_equals(list.cookies[0]->value, "1"); // unchanged
    }
    nc_cookie_list_deinit(&list);
    end(&one);
}

static void cookie_jar__an_allocation_failure_leaves_the_jar_unchanged(void **state) {
    (void)state;
    assert_true(each_allocation_failure(store_twice, NULL) >= 4);
}

static void cookie_jar__a_list_outlives_the_jar(void **state) {
    jar_fixture one;
    nc_cookie_list list;
    (void)state;
    begin(&one);
    (void)store(&one, "b=1");
    (void)store(&one, "a=2");
    assert_status(nc_cookie_jar_list(&one.jar, NOW_S, &list), NC_OK);
    end(&one);
    nc_cookie_list_sort(&list);
    assert_int_equal(list.count, 2);
    assert_slice_equals(list.cookies[0]->name, "b");
    assert_slice_equals(list.cookies[1]->name, "a");
    nc_cookie_list_deinit(&list);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cookie_jar__lifetimes_follow_rfc_6265),
        harness_case(cookie_jar__fields_are_accepted_or_ignored_per_rfc_6265),
        harness_case(cookie_jar__long_pairs_are_ignored_and_long_attributes_skipped),
        harness_case(cookie_jar__cookies_are_sent_to_matching_hosts_and_paths),
        harness_case(cookie_jar__longer_paths_come_first_then_older_cookies),
        harness_case(cookie_jar__name_domain_and_path_identify_a_cookie),
        harness_case(cookie_jar__a_response_without_tls_cannot_overwrite_secure_cookies),
        harness_case(cookie_jar__an_allocation_failure_leaves_the_jar_unchanged),
        harness_case(cookie_jar__a_list_outlives_the_jar),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
