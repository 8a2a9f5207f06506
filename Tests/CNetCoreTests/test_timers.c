/// The heap of deadlines, compared with a plain list.
#include "event_loop/timers.h"
#include "harness.h"

#include <string.h>

enum { COUNT = 200 };

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void begin(nc_timers *timers, nc_timer *all, size_t count) {
    *timers = (nc_timers){0};
    memset(all, 0, count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        assert_status(nc_timers_announce(timers), NC_OK);
    }
}

static void end(nc_timers *timers, nc_timer *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        nc_timers_clear(timers, &all[i]);
        nc_timers_withdraw(timers);
    }
    assert_int_equal(timers->count, 0);
    nc_timers_deinit(timers);
}

static void timers__random_operations_agree_with_a_sorted_list(void **state) {
    nc_timer all[COUNT];
    bool is_set[COUNT] = {false};
    nc_timers timers;
    uint32_t seed = 42;
    uint64_t now_ns = 0;
    (void)state;
    begin(&timers, all, COUNT);
    for (int round = 0; round < 100000; round++) {
        size_t which = next_random(&seed) % COUNT;
        uint32_t choice = next_random(&seed) % 4;
        if (choice == 0) {
            nc_timers_clear(&timers, &all[which]);
            is_set[which] = false;
        } else if (choice == 1) {
            now_ns += next_random(&seed) % 50;
            uint64_t last_ns = 0;
            for (nc_timer *due; (due = nc_timers_take_due(&timers, now_ns)) != NULL;) {
                assert_true(due->at_ns <= now_ns && due->at_ns >= last_ns);
                assert_true(is_set[due - all]);
                last_ns = due->at_ns;
                is_set[due - all] = false;
            }
        } else {
            nc_timers_set(&timers, &all[which], now_ns + next_random(&seed) % 1000);
            is_set[which] = true;
        }
        size_t count = 0;
        uint64_t first_ns = UINT64_MAX;
        for (size_t i = 0; i < COUNT; i++) {
            count += is_set[i];
            first_ns = is_set[i] && all[i].at_ns < first_ns ? all[i].at_ns : first_ns;
            assert_int_equal(all[i].heap_index != 0, is_set[i]);
        }
        assert_int_equal(timers.count, count);
        assert_true(count == 0 || timers.heap[0]->at_ns == first_ns);
    }
    end(&timers, all, COUNT);
}

static void timers__the_next_is_the_earliest(void **state) {
    nc_timer both[2];
    nc_timers timers;
    (void)state;
    begin(&timers, both, 2);
    assert_true(nc_timers_next_ns(&timers) == UINT64_MAX);
    nc_timers_set(&timers, &both[0], 10000001);
    nc_timers_set(&timers, &both[1], 7);
    assert_true(nc_timers_next_ns(&timers) == 7);
    nc_timers_set(&timers, &both[1], UINT64_MAX);
    assert_true(nc_timers_next_ns(&timers) == 10000001);
    nc_timers_clear(&timers, &both[0]);
    assert_null(nc_timers_take_due(&timers, UINT64_MAX - 1));
    end(&timers, both, 2);
}

static void announce_many(void *ctx) {
    nc_timer all[100];
    nc_timers timers = {0};
    size_t announced = 0;
    (void)ctx;
    memset(all, 0, sizeof all);
    while (announced < 100 && nc_timers_announce(&timers) == NC_OK) {
        announced++;
    }
    // Every reserved timer can be set without further memory.
    for (size_t i = 0; i < announced; i++) {
        nc_timers_set(&timers, &all[i], 1000 - i);
    }
    for (size_t i = announced; i > 0; i--) {
        assert_ptr_equal(nc_timers_take_due(&timers, 1000), &all[i - 1]);
    }
    for (size_t i = 0; i < announced; i++) {
        nc_timers_withdraw(&timers);
    }
    nc_timers_deinit(&timers);
}

static void timers__setting_a_reserved_timer_never_fails(void **state) {
    (void)state;
    assert_true(each_allocation_failure(announce_many, NULL) > 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(timers__random_operations_agree_with_a_sorted_list),
        harness_case(timers__the_next_is_the_earliest),
        harness_case(timers__setting_a_reserved_timer_never_fails),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
