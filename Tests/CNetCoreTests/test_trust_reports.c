#include "harness.h"
#include "trust/handshake.h"

#include <stdio.h>

#define SECOND_NS 1000000000ull

static nc_report_limiter gate;
static uint64_t unreported;

static bool opens(const char *host, uint16_t port, uint64_t now_ns) {
    nc_host_name name;
    assert_true(nc_host_name_parse(&name, nc_slice_of(host)));
    unreported = 99;
    return nc_report_limiter_allows(&gate, &name, port, now_ns, &unreported);
}

static void reports__an_endpoint_is_reported_once_a_minute(void **state) {
    (void)state;
    gate = (nc_report_limiter){0};
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

static void reports__the_least_recently_reported_endpoint_is_evicted(void **state) {
    char host[32];
    (void)state;
    gate = (nc_report_limiter){0};
    for (unsigned i = 0; i < NC_REPORT_MAX_ENDPOINTS; i++) {
        (void)snprintf(host, sizeof host, "h%u.example", i);
        assert_true(opens(host, 443, SECOND_NS + i));
    }
    for (unsigned i = 0; i < NC_REPORT_MAX_ENDPOINTS; i++) {
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
        harness_case(reports__an_endpoint_is_reported_once_a_minute),
        harness_case(reports__the_least_recently_reported_endpoint_is_evicted),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
