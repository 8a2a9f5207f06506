/// Ids are unique, are found while they live, and are unknown after that.
#include "harness.h"
#include "state/registry.h"

#include <stdlib.h>
#include <string.h>

enum { LIVE = 300, ROUNDS = 50000 };

static int compare_ids(const void *a, const void *b) {
    nc_transfer_id x = *(const nc_transfer_id *)a;
    nc_transfer_id y = *(const nc_transfer_id *)b;
    return x < y ? -1 : x > y;
}

static void registry__never_reuses_an_id(void **state) {
    static nc_transfer transfers[LIVE];
    static nc_transfer_id given[ROUNDS];
    nc_registry registry = {0};
    uint32_t seed = 7;
    size_t count = 0;
    (void)state;
    memset(transfers, 0, sizeof transfers);
    while (count < ROUNDS) {
        seed = seed * 1664525u + 1013904223u;
        nc_transfer *one = &transfers[(seed >> 8) % LIVE];
        if (one->id != 0) {
            nc_transfer_id removed = one->id;
            assert_ptr_equal(nc_registry_find(&registry, removed), one);
            nc_registry_remove(&registry, removed);
            nc_registry_remove(&registry, removed);
            assert_null(nc_registry_find(&registry, removed));
            one->id = 0;
        } else {
            assert_status(nc_registry_add(&registry, one), NC_OK);
            assert_true(one->id != 0);
            assert_ptr_equal(nc_registry_find(&registry, one->id), one);
            given[count++] = one->id;
        }
    }
    assert_true(registry.count <= LIVE);
    qsort(given, ROUNDS, sizeof *given, compare_ids);
    for (size_t i = 1; i < ROUNDS; i++) {
        assert_true(given[i] != given[i - 1]);
    }
    for (size_t i = 0; i < LIVE; i++) {
        assert_true(transfers[i].id == 0 || nc_registry_find(&registry, transfers[i].id) == &transfers[i]);
    }
    nc_registry_deinit(&registry);
}

static void registry__does_not_find_foreign_ids(void **state) {
    nc_transfer one = {0};
    nc_registry registry = {0};
    (void)state;
    assert_null(nc_registry_find(&registry, 0));
    nc_registry_remove(&registry, 1);
    assert_status(nc_registry_add(&registry, &one), NC_OK);
    for (unsigned bit = 0; bit < 64; bit++) {
        assert_null(nc_registry_find(&registry, one.id ^ UINT64_C(1) << bit));
        nc_registry_remove(&registry, one.id ^ UINT64_C(1) << bit);
    }
    assert_null(nc_registry_find(&registry, 0));
    assert_null(nc_registry_find(&registry, UINT64_MAX));
    assert_ptr_equal(nc_registry_find(&registry, one.id), &one);
    nc_registry_deinit(&registry);
}

static void registry__ids_of_two_registries_differ(void **state) {
    nc_registry registries[] = {nc_registry_init(), nc_registry_init()};
    nc_transfer transfers[2][3] = {0};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_status(nc_registry_add(&registries[i / 3], &transfers[i / 3][i % 3]), NC_OK);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_null(nc_registry_find(&registries[0], transfers[1][i].id));
        assert_null(nc_registry_find(&registries[1], transfers[0][i].id));
        assert_ptr_equal(nc_registry_find(&registries[1], transfers[1][i].id), &transfers[1][i]);
    }
    nc_registry_deinit(&registries[0]);
    nc_registry_deinit(&registries[1]);
}

static void add_many(void *ctx) {
    static nc_transfer transfers[500];
    nc_registry registry = {0};
    (void)ctx;
    for (size_t i = 0; i < 500; i++) {
        transfers[i].id = 0;
        nc_status status = nc_registry_add(&registry, &transfers[i]);
        assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    }
    for (size_t i = 0; i < 500; i++) {
        assert_true(transfers[i].id == 0 || nc_registry_find(&registry, transfers[i].id) == &transfers[i]);
    }
    nc_registry_deinit(&registry);
}

static void registry__an_allocation_failure_loses_no_entry(void **state) {
    (void)state;
    assert_true(each_allocation_failure(add_many, NULL) > 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(registry__never_reuses_an_id),
        harness_case(registry__does_not_find_foreign_ids),
        harness_case(registry__ids_of_two_registries_differ),
        harness_case(registry__an_allocation_failure_loses_no_entry),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
