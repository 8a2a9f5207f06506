/// Cookies as lines of text: which lines are valid, which cookies they put into a jar, and how a jar is written.
#include "harness.h"

#include "http/cookie_jar.h"

#include <string.h>

enum { NOW_S = 1700000000 };

#define COOKIE(expires) "a.example\tFALSE\t/\tFALSE\t" expires "\tname\tvalue"

/// Reads lines into an empty jar and compares its contents.
static void assert_jar(nc_slice lines, const char *expected) {
    nc_cookie_jar jar;
    nc_cookie_list list;
    nc_buf out = nc_buf_init(1 << 16);
    bool has_changed = false;
    nc_slice line;
    nc_cookie_jar_init(&jar);
    while (nc_cookie_lines_next(&line, &lines)) {
        assert_status(nc_cookie_lines_put(&jar, line, NOW_S, &has_changed), NC_OK);
    }
    assert_status(nc_cookie_jar_list(&jar, NOW_S, &list), NC_OK);
    nc_cookie_list_sort(&list);
    for (size_t i = 0; i < list.count; i++) {
        nc_cookie_lines_append(&out, list.cookies[i]);
    }
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_cookie_list_deinit(&list);
    nc_cookie_jar_deinit(&jar);
    nc_buf_deinit(&out);
}

static void cookie_lines__lines_written_by_a_jar_round_trip_byte_for_byte(void **state) {
    static const char text[] = "b.example\tFALSE\t/\tFALSE\t0\tz\tlast first\n"
                               ".a.example\tTRUE\t/deep\tFALSE\t0\ta\t1\n"
                               ".a.example\tTRUE\t/deep/\tTRUE\t1800000000\tb\t\n"
                               ".a.example\tTRUE\t/deep/\tFALSE\t0\ta\t2\n"
                               "#HttpOnly_a.example\tFALSE\t/\tFALSE\t9223372036854775807\tc\t\xc4\xe3\xba\xc3\n"
                               "#HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\t#HttpOnly_d\t=\"x\", y\n"
                               "127.0.0.1\tFALSE\t/\tFALSE\t0\te\t1\n"
                               "::1\tFALSE\t/\tFALSE\t0\tf\t1\n"
                               "xn--bcher-kva.example\tFALSE\t/\tFALSE\t0\tg\t1\n";
    nc_cookie_fault fault;
    (void)state;
    assert_true(nc_cookie_lines_are_good(nc_slice_of(text), false, &fault));
    assert_jar(nc_slice_of(text), text);
}

static void cookie_lines__lines_of_other_programs_are_read(void **state) {
    static const struct {
        const char *line;
        const char *becomes;
    } cases[] = {
        {"A.Example\ttrue\t/\tfalse\t0\ta\t1", ".a.example\tTRUE\t/\tFALSE\t0\ta\t1\n"},
        {"a.example\tTRUE\t\tFALSE\t0\ta\t1\r\n", ".a.example\tTRUE\t/\tFALSE\t0\ta\t1\n"},
        {"a.example\tFALSE\t/\tFALSE\t0\ta", "a.example\tFALSE\t/\tFALSE\t0\ta\t\n"},
        {"[::1]\tFALSE\t/\tFALSE\t0\ta\t1", "::1\tFALSE\t/\tFALSE\t0\ta\t1\n"},
        {"127.1\tFALSE\t/\tFALSE\t0\ta\t1", "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"},
        {"Set-Cookie: a=1; domain=A.example", ".a.example\tTRUE\t/\tFALSE\t0\ta\t1\n"},
        {"set-cookie:a=1;Domain=.a.example;Path=/x;Secure;HttpOnly", "#HttpOnly_.a.example\tTRUE\t/x\tTRUE\t0\ta\t1\n"},
        {"Set-Cookie: a=1; domain=co.uk", "co.uk\tFALSE\t/\tFALSE\t0\ta\t1\n"},
        {"Set-Cookie: a=1; domain=127.0.0.1", "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_cookie_fault fault;
        assert_true(nc_cookie_lines_are_good(nc_slice_of(cases[i].line), true, &fault));
        assert_jar(nc_slice_of(cases[i].line), cases[i].becomes);
    }
}

static void cookie_lines__cookies_that_no_server_could_set_are_skipped(void **state) {
    static const char *const lines[] = {
        COOKIE("1"),
        COOKIE("-1"),
        COOKIE("-99999999999999999999"),
        COOKIE("1700000000"),
        "a.example\tFALSE\t/\tFALSE\t0\t\tvalue",
        "a.example\tFALSE\t/\tFALSE\t0\ta\t1; b=2",
        "a.example\tFALSE\t/\tFALSE\t0\ta\tb\001",
        "a.example\tFALSE\trelative\tFALSE\t0\ta\t1",
        "a b.example\tFALSE\t/\tFALSE\t0\ta\t1",
        "a.example\tFALSE\t/\tFALSE\t0\t__Secure-a\t1",
        "a.example\tTRUE\t/\tTRUE\t0\t__Host-a\t1",
        "a.example\tFALSE\t/x\tTRUE\t0\t__HOST-a\t1",
        "Set-Cookie: __Host-a=1; Secure; Path=/; Domain=a.example",
        "Set-Cookie: a=1; Max-Age=0; Domain=a.example",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_jar(nc_slice_of(lines[i]), "");
    }
}

static void cookie_lines__an_expired_line_removes_its_cookie(void **state) {
    (void)state;
    assert_jar(nc_slice_of(COOKIE("0") "\n" COOKIE("1")), "");
    assert_jar(nc_slice_of(COOKIE("0") "\nSet-Cookie: name=; Max-Age=0; Domain=a.example"), COOKIE("0") "\n");
    assert_jar(nc_slice_of("Set-Cookie: name=1; Domain=a.example\nSet-Cookie: name=; Max-Age=0; Domain=a.example"), "");
}

/// libcurl before 8.18 writes the default path with a trailing slash.
static void cookie_lines__a_server_replaces_a_line_with_an_old_default_path_regression_4(void **state) {
    nc_cookie_jar jar;
    nc_buf out = nc_buf_init(1 << 12);
    bool has_changed = false;
    const nc_cookie_context context = {nc_slice_of("a.example"), nc_slice_of("/deep/in"), false, NOW_S};
    const nc_cookie_context at_folder = {nc_slice_of("a.example"), nc_slice_of("/deep"), false, NOW_S};
    (void)state;
    nc_cookie_jar_init(&jar);
    assert_status(
        nc_cookie_lines_put(&jar, nc_slice_of("a.example\tFALSE\t/deep/\tFALSE\t0\tsid\told"), NOW_S, &has_changed),
        NC_OK);
    nc_cookie_jar_append_field(&jar, &at_folder, true, &out);
    assert_slice_equals(nc_buf_slice(&out), "sid=old");
    nc_buf_reset(&out);
    assert_status(nc_cookie_jar_store(&jar, &context, nc_slice_of("sid=new"), &has_changed), NC_OK);
    nc_cookie_jar_append_field(&jar, &context, true, &out);
    assert_slice_equals(nc_buf_slice(&out), "sid=new");
    nc_buf_deinit(&out);
    nc_cookie_jar_deinit(&jar);
}

/// An earlier parser overflowed while it read the number, and then rejected the line.
static void cookie_lines__a_huge_expiry_means_no_expiry_regression_1(void **state) {
    static const char *const good[] = {
        COOKIE("9223372036854775807"),  COOKIE("9223372036854775808"),        COOKIE("9999999999999999999"),
        COOKIE("18446744073709551617"), COOKIE("99999999999999999999999999"),
    };
    nc_cookie_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(nc_cookie_lines_are_good(nc_slice_of(good[i]), false, &fault));
        assert_jar(nc_slice_of(good[i]), COOKIE("9223372036854775807") "\n");
    }
    assert_false(nc_cookie_lines_are_good(nc_slice_of(COOKIE("1000000000000000000x")), false, &fault));
    assert_int_equal(fault.line, 1);
    assert_false(nc_cookie_lines_are_good(nc_slice_of(COOKIE("-")), false, &fault));
    assert_false(nc_cookie_lines_are_good(nc_slice_of(COOKIE("")), false, &fault));
}

static void cookie_lines__a_domain_of_dots_is_rejected_regression_3(void **state) {
    static const char *const bad[] = {
        ".\tFALSE\t/\tFALSE\t0\ta\tb",        "..\tTRUE\t/\tFALSE\t0\ta\tb", "#HttpOnly_.\tFALSE\t/\tFALSE\t0\ta\tb",
        "Set-Cookie: a=b; domain=.",          "Set-Cookie: a=b; domain=. ;", "Set-Cookie: a=b; domain=..; path=/",
        "Set-Cookie: a=b; domain=\t; path=/",
    };
    nc_cookie_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(nc_cookie_lines_are_good(nc_slice_of(bad[i]), true, &fault));
    }
    assert_true(nc_cookie_lines_are_good(nc_slice_of(".a.test\tTRUE\t/\tFALSE\t0\ta\tb"), false, &fault));
    assert_true(nc_cookie_lines_are_good(nc_slice_of("Set-Cookie: a=b; domain=.a.test"), true, &fault));
}

static void cookie_lines__the_last_domain_attribute_counts(void **state) {
    static const char *const bad[] = {
        "Set-Cookie: a=b; domain=a.test; domain=.",
        "Set-Cookie: a=b; domain=a.test; domain =.",
        "Set-Cookie: a=b; domain=a.test;\tdomain=.",
        "Set-Cookie: a=b; domain=a.test; domain=; domain=.; path=/",
    };
    static const char *const good[] = {
        "Set-Cookie: a=b; domain=.; domain=a.test",
        "Set-Cookie: a=b; domain=a.test; domain=; path=/",
        "Set-Cookie: a=b; domain=a.test; domain",
        "Set-Cookie: a=b; domain=a.test; domains=.",
    };
    nc_cookie_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(nc_cookie_lines_are_good(nc_slice_of(bad[i]), true, &fault));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(nc_cookie_lines_are_good(nc_slice_of(good[i]), true, &fault));
        assert_jar(nc_slice_of(good[i]), ".a.test\tTRUE\t/\tFALSE\t0\ta\tb\n");
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cookie_lines__lines_written_by_a_jar_round_trip_byte_for_byte),
        harness_case(cookie_lines__lines_of_other_programs_are_read),
        harness_case(cookie_lines__cookies_that_no_server_could_set_are_skipped),
        harness_case(cookie_lines__an_expired_line_removes_its_cookie),
        harness_case(cookie_lines__a_server_replaces_a_line_with_an_old_default_path_regression_4),
        harness_case(cookie_lines__a_huge_expiry_means_no_expiry_regression_1),
        harness_case(cookie_lines__a_domain_of_dots_is_rejected_regression_3),
        harness_case(cookie_lines__the_last_domain_attribute_counts),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
