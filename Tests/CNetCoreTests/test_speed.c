/// The rate over the last seconds, independent of earlier data.
#include "harness.h"

#include "http/rate_limit.h"

enum { MS = 1000000 };

static void speed__without_bytes_is_unknown(void **state) {
    nc_speed speed = {0};
    (void)state;
    assert_true(nc_speed_left_ms(&speed, 100) == UINT64_MAX);
    nc_speed_record(&speed, 0, 5 * MS);
    nc_speed_record(&speed, 0, 5 * MS);
    assert_true(speed.bytes_per_s == 0);
    assert_true(nc_speed_left_ms(&speed, 0) == UINT64_MAX);
}

static void speed__within_the_first_second_is_the_average_since_the_start(void **state) {
    nc_speed speed = {.since_ns = 1};
    (void)state;
    nc_speed_record(&speed, 1000, 1 + 100 * MS);
    assert_true(speed.bytes_per_s == 10000);
    assert_true(nc_speed_left_ms(&speed, 5000) == 500);
    nc_speed_record(&speed, 1000, 1 + 500 * MS);
    assert_true(speed.bytes_per_s == 2000);
}

static void speed__forgets_a_burst_within_seconds(void **state) {
    nc_speed speed = {.since_ns = 1};
    uint64_t moved = 16000;
    uint64_t now_ns = 1 + MS / 10;
    (void)state;
    nc_speed_record(&speed, moved, now_ns);
    assert_true(speed.bytes_per_s > 100 * 1000 * 1000);
    for (int i = 0; i < 8; i++) {
        nc_speed_record(&speed, moved += 550, now_ns += (uint64_t)1100 * MS);
    }
    assert_in_range(speed.bytes_per_s, 500, 700); // the exact value is 500
}

static void speed__a_restarted_counter_gives_no_negative_speed(void **state) {
    nc_speed speed = {.since_ns = 1};
    (void)state;
    nc_speed_record(&speed, 5000, 1 + 1000 * (uint64_t)MS);
    nc_speed_record(&speed, 10, 1 + 2000 * (uint64_t)MS); // the counter restarts at another hop
    assert_true(speed.bytes_per_s == 2500);
}

static void speed__huge_values_saturate(void **state) {
    nc_speed speed = {.since_ns = 1};
    (void)state;
    nc_speed_record(&speed, 1, 1 + 1000 * (uint64_t)MS);
    assert_true(nc_speed_left_ms(&speed, 9e18) == UINT64_MAX);
    nc_speed fast = {.since_ns = 1};
    nc_speed_record(&fast, UINT64_MAX, 2);
    assert_true(fast.bytes_per_s == UINT64_MAX);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(speed__without_bytes_is_unknown),
        harness_case(speed__within_the_first_second_is_the_average_since_the_start),
        harness_case(speed__forgets_a_burst_within_seconds),
        harness_case(speed__a_restarted_counter_gives_no_negative_speed),
        harness_case(speed__huge_values_saturate),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
