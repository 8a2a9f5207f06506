/// Cookie dates (RFC 6265, section 5.1.1): the spellings that servers use, and invalid dates.
#include "harness.h"

#include "http/set_cookie.h"

/// 2015-10-21 07:28:00
#define OCTOBER 1445412480

static void cookie_date__all_spellings_of_a_time_give_the_same_value(void **state) {
    static const char *const spellings[] = {
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "Wednesday, 21-Oct-15 07:28:00 GMT",
        "Wed Oct 21 07:28:00 2015",
        "21 oct 2015 7:28:0",
        "2015 21 Oct 07:28:00",
        "07:28:00 21 OCTOBER 2015",
        "21-Oct-2015 07:28:00 UTC+0000",
        "Mon, 21 Oct 2015 07:28:00 -0700", // the weekday and the zone are ignored
        "21/Oct/2015;07:28:00",
        "  21\tOct\t2015\t07:28:00  ",
        "21 Oct 2015 07:28:00.123",
        "21th Oct 2015 07:28:00",
        "21 Oct 15 07:28:00x",
        "x21 21 Oct 2015 07:28:00",
    };
    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        int64_t seconds = 0;
        if (!nc_cookie_date_read(nc_slice_of(spellings[i]), &seconds) || seconds != OCTOBER) {
            fail_msg("'%s' is read as %lld", spellings[i], (long long)seconds);
        }
    }
}

static void cookie_date__two_digit_years_are_1970_to_2069(void **state) {
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"Thu, 01-Jan-70 00:00:01 GMT", 1},         {"Thu, 01-Jan-70 00:00:00 GMT", 0},
        {"Fri, 01-Jan-71 00:00:00 GMT", 31536000},  {"Fri, 31-Dec-99 23:59:59 GMT", 946684799},
        {"Sat, 01-Jan-00 00:00:00 GMT", 946684800}, {"Tue, 31-Dec-69 23:59:59 GMT", 3155759999},
        {"01 Jan 1601 00:00:00", -11644473600},     {"01 Jan 1969 00:00:00", -31536000},
        {"29 Feb 2000 00:00:00", 951782400},        {"31 Dec 9999 23:59:59", 253402300799},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t seconds = -1;
        if (!nc_cookie_date_read(nc_slice_of(cases[i].text), &seconds) || seconds != cases[i].seconds) {
            fail_msg("'%s' is read as %lld", cases[i].text, (long long)seconds);
        }
    }
}

static void cookie_date__an_invalid_date_is_rejected(void **state) {
    static const char *const bad[] = {
        "",
        "0",
        "nonsense",
        "21 Oct 2015",
        "Oct 2015 07:28:00",
        "21 2015 07:28:00",
        "21 Oct 07:28:00",
        "00 Oct 2015 07:28:00",
        "32 Oct 2015 07:28:00",
        "31 Apr 2015 07:28:00",
        "29 Feb 2015 07:28:00",
        "29 Feb 1900 07:28:00",
        "21 Oct 1600 07:28:00",
        "21 Oct 20155 07:28:00",
        "21 Oct 5 07:28:00",
        "21 Oct 2015 24:00:00",
        "21 Oct 2015 07:60:00",
        "21 Oct 2015 07:28:60",
        "21 Oct 2015 07:28",
        "21 Oct 2015 007:28:00",
        "21 Oc 2015 07:28:00",
        "Wed, 21 Oct 2015T07:28:00",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t seconds = 0;
        if (nc_cookie_date_read(nc_slice_of(bad[i]), &seconds)) {
            fail_msg("'%s' is read as %lld", bad[i], (long long)seconds);
        }
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cookie_date__all_spellings_of_a_time_give_the_same_value),
        harness_case(cookie_date__two_digit_years_are_1970_to_2069),
        harness_case(cookie_date__an_invalid_date_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
