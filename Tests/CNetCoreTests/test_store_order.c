/// Eviction removes the least recently used entry, also after other stores have read the directory.
#include "faulty.h"

#include <stdio.h>

enum { ENTRIES = 200, UNUSED = 50, MORE = 40, KEY_BYTES = 16 };

/// Shared by most cases: a full store with a stopped clock.
typedef struct store_fixture {
    temp_directory at;
    nc_clock clock;
    int64_t now_ns;
    nc_store_options options;
    nc_store *store;
    nc_buf room;
} store_fixture;

static int64_t stopped_clock_ns(void *ctx) {
    return ((store_fixture *)ctx)->now_ns;
}

static void put_one(nc_store *store, const char *kind, int number) {
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "%s%d", kind, number);
    nc_store_draft draft = {.key = nc_slice_of(key)};
    assert_status(nc_store_put(store, &draft, nc_slice_of("body"), NULL), NC_OK);
}

static bool has_one(store_fixture *on, int number) {
    char key[KEY_BYTES];
    nc_store_entry entry;
    snprintf(key, sizeof key, "k%d", number);
    assert_status(nc_store_get(&entry, on->store, nc_slice_of(key), &on->room, NULL), NC_OK);
    return entry.found == NC_STORE_HIT;
}

static void begin(store_fixture *on) {
    *on = (store_fixture){
        .at = temp_directory_make(), .now_ns = INT64_C(1800000000) * 1000000000, .room = nc_buf_init(1 << 16)};
    on->clock = nc_clock_system();
    on->clock.ctx = on;
    on->clock.realtime_ns = stopped_clock_ns;
    on->options = (nc_store_options)NC_STORE_OPTIONS_INIT;
    on->options.directory = on->at.store;
    on->options.clock = &on->clock;
    on->options.max_entries = ENTRIES;
    assert_status(nc_store_new(&on->store, &on->options, NULL), NC_OK);
    for (int i = 0; i < ENTRIES; i++) {
        put_one(on->store, "k", i);
    }
}

static void end(store_fixture *on) {
    nc_store_free(on->store);
    nc_buf_deinit(&on->room);
    temp_directory_remove(&on->at);
}

/// Uses more entries at one time than the store records in files. The clock has advanced, so the files' times show
/// which uses were recorded.
static void use_all_but_the_first(store_fixture *on) {
    on->now_ns += INT64_C(120) * 1000000000;
    for (int i = ENTRIES - 1; i >= UNUSED; i--) {
        assert_true(has_one(on, i));
    }
}

static void put_more(store_fixture *on) {
    for (int i = 0; i < MORE; i++) {
        put_one(on->store, "new", i);
    }
    assert_int_equal(nc_store_figures(on->store).evictions, MORE);
}

static void store__used_entries_stay_after_the_directory_is_read(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    use_all_but_the_first(&on);
    uint64_t scans = nc_store_figures(on.store).scans;
    for (int round = 0; round < 2; round++) {
        assert_status(nc_store_remove_tag(NULL, on.store, nc_slice_of("none"), NULL), NC_OK);
    }
    assert_int_equal(nc_store_figures(on.store).scans, scans + 2);
    put_more(&on);
    for (int i = 0; i < ENTRIES; i++) {
        assert_int_equal(has_one(&on, i), i >= MORE);
    }
    end(&on);
}

static void store__reading_the_directory_preserves_the_order_of_use(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    use_all_but_the_first(&on);
    assert_status(nc_store_remove_tag(NULL, on.store, nc_slice_of("none"), NULL), NC_OK);
    for (int i = 0; i < UNUSED; i++) {
        put_one(on.store, "new", i);
    }
    // The used entries are evicted now, in the order of their use.
    for (int i = ENTRIES - 1; i >= ENTRIES - MORE; i--) {
        put_one(on.store, "newer", i);
    }
    for (int i = 0; i < ENTRIES; i++) {
        assert_int_equal(has_one(&on, i), i >= UNUSED && i < ENTRIES - MORE);
    }
    end(&on);
}

static void store__uses_by_another_store_count_after_the_directory_is_read(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    use_all_but_the_first(&on);
    nc_store *mine = on.store;
    on.now_ns += INT64_C(120) * 1000000000;
    assert_status(nc_store_new(&on.store, &on.options, NULL), NC_OK);
    for (int i = 0; i < MORE; i++) {
        assert_true(has_one(&on, i));
    }
    nc_store_free(on.store);
    on.store = mine;
    assert_status(nc_store_remove_tag(NULL, on.store, nc_slice_of("none"), NULL), NC_OK);
    for (int i = MORE; i < UNUSED; i++) {
        put_one(on.store, "new", i);
    }
    for (int i = 0; i < ENTRIES; i++) {
        assert_int_equal(has_one(&on, i), i < MORE || i >= UNUSED);
    }
    end(&on);
}

/// Entries that were used while the clock was years ahead must not stay for years while new entries are evicted.
static void store__entries_from_a_future_clock_are_evicted_before_new_ones(void **state) {
    static const int64_t ten_years_ns = INT64_C(315360000) * 1000000000;
    (void)state;
    store_fixture on;
    begin(&on);
    on.now_ns += ten_years_ns;
    for (int i = 0; i < ENTRIES; i++) {
        on.now_ns += INT64_C(1000000000); // Slowly enough that each use is recorded in its file.
        assert_true(has_one(&on, i));
    }
    on.now_ns -= ten_years_ns;
    for (int round = 0; round < MORE; round++) {
        nc_store_free(on.store);
        assert_status(nc_store_new(&on.store, &on.options, NULL), NC_OK);
        put_one(on.store, "new", round);
    }
    char key[KEY_BYTES];
    nc_store_entry entry;
    for (int round = 0; round < MORE; round++) {
        snprintf(key, sizeof key, "new%d", round);
        assert_status(nc_store_get(&entry, on.store, nc_slice_of(key), &on.room, NULL), NC_OK);
        assert_int_equal(entry.found, NC_STORE_HIT);
    }
    end(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(store__used_entries_stay_after_the_directory_is_read),
        harness_case(store__reading_the_directory_preserves_the_order_of_use),
        harness_case(store__uses_by_another_store_count_after_the_directory_is_read),
        harness_case(store__entries_from_a_future_clock_are_evicted_before_new_ones),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
