/// A jar as text: what is accepted, and what its bounds leave of it.
#include "harness.h"

#include "net/cookie_lines.h"

#define COOKIE(expires) "a.example\tFALSE\t/\tFALSE\t" expires "\tname\tvalue"

/// The number overflowed before it was found too long, and later such lines were no cookies: libcurl writes 19 digits
/// for what a server sets with a long Max-Age, and the file was then none to read.
static void lines__with_a_long_number_are_cookies_without_an_end_regression_1(void **state) {
    static const char *const good[] = {
        COOKIE("999999999999999999"),   COOKIE("1000000000000000000"),        COOKIE("9223372036854775807"),
        COOKIE("9223372036854775808"),  COOKIE("9999999999999999999"),        COOKIE("18446744073709551617"),
        COOKIE("92233720368547758070"), COOKIE("99999999999999999999999999"), COOKIE("00000000000000000000000000"),
    };
    nc_cookie_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        nc_buf text = nc_buf_init(4096);
        bool is_shorter = true;
        assert_true(nc_cookie_lines_are_good(nc_slice_of(good[i]), false, &fault));
        nc_buf_append(&text, nc_slice_of(good[i]));
        assert_status(nc_cookie_lines_bound(&text, INT64_MAX - 1, &is_shorter), NC_OK);
        assert_int_equal(text.length > 0, i >= 2); // the first two end before that
        nc_buf_deinit(&text);
    }
    assert_false(nc_cookie_lines_are_good(nc_slice_of(COOKIE("1000000000000000000x")), false, &fault));
    assert_int_equal(fault.line, 1);
}

/// libcurl keeps such a cookie, and writes it without a domain.
static void lines__with_a_domain_of_dots_alone_are_refused_regression_3(void **state) {
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

/// Of several domains libcurl takes the last, and writes a cookie that the jar's own file may not hold.
static void lines__have_the_last_of_several_domains(void **state) {
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
    }
}

/// The end that the last line got was written behind the text.
static void bound__ends_a_last_line_without_an_end_regression_2(void **state) {
    nc_buf text = nc_buf_init(4096);
    bool is_shorter = true;
    (void)state;
    assert_status(nc_buf_reserve(&text, 1), NC_OK);
    nc_buf_append(&text, nc_slice_of(COOKIE("0")));
    while (text.length < text.capacity) {
        nc_buf_append_byte(&text, 'x');
    }
    size_t length = text.length;
    assert_status(nc_cookie_lines_bound(&text, 100, &is_shorter), NC_OK);
    assert_int_equal(text.length, length + 1);
    assert_true(text.capacity > length);
    assert_int_equal(text.data[length], '\n');
    assert_false(is_shorter);
    nc_buf_deinit(&text);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(lines__with_a_long_number_are_cookies_without_an_end_regression_1),
        harness_case(lines__with_a_domain_of_dots_alone_are_refused_regression_3),
        harness_case(lines__have_the_last_of_several_domains),
        harness_case(bound__ends_a_last_line_without_an_end_regression_2),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
