#include "harness.h"
#include "trust/report.h"

#include <stdio.h>

#define SECOND_NS 1000000000ull

static nc_report_gate gate;
static uint64_t unreported;

static bool opens(const char *host, uint16_t port, uint64_t now_ns) {
    nc_host_name name;
    assert_true(nc_host_name_parse(&name, nc_slice_of(host)));
    unreported = 99;
    return nc_report_gate_opens(&gate, &name, port, now_ns, &unreported);
}

static void reports__a_place_has_one_turn_a_minute(void **state) {
    (void)state;
    gate = (nc_report_gate){0};
    assert_true(opens("a.example", 443, 5));
    assert_int_equal(unreported, 0);
    for (int i = 0; i < 3; i++) {
        assert_false(opens("a.example", 443, 5 + 60 * SECOND_NS - 1));
    }
    assert_true(opens("a.example", 443, 5 + 60 * SECOND_NS));
    assert_int_equal(unreported, 3);
    assert_false(opens("a.example", 443, 5 + 61 * SECOND_NS));
    assert_true(opens("a.example", 443, 5 + 120 * SECOND_NS));
    assert_int_equal(unreported, 1);
    // Another port or another host is another endpoint.
    assert_true(opens("a.example", 444, 5 + 120 * SECOND_NS));
    assert_true(opens("b.example", 443, 5 + 120 * SECOND_NS));
    assert_int_equal(unreported, 0);
}

static void reports__the_place_that_was_told_longest_ago_gives_way(void **state) {
    char host[32];
    (void)state;
    gate = (nc_report_gate){0};
    for (unsigned i = 0; i < NC_REPORT_PLACES; i++) {
        (void)snprintf(host, sizeof host, "h%u.example", i);
        assert_true(opens(host, 443, SECOND_NS + i));
    }
    for (unsigned i = 0; i < NC_REPORT_PLACES; i++) {
        (void)snprintf(host, sizeof host, "h%u.example", i);
        assert_false(opens(host, 443, 2 * SECOND_NS));
    }
    assert_true(opens("new.example", 443, 3 * SECOND_NS)); // replaces h0
    assert_false(opens("h1.example", 443, 3 * SECOND_NS));
    assert_true(opens("h0.example", 443, 4 * SECOND_NS)); // replaces h1
    assert_false(opens("h2.example", 443, 4 * SECOND_NS));
    assert_false(opens("new.example", 443, 4 * SECOND_NS));
    assert_true(opens("h1.example", 443, 5 * SECOND_NS));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(reports__a_place_has_one_turn_a_minute),
        harness_case(reports__the_place_that_was_told_longest_ago_gives_way),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
