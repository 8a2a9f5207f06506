#include "faulty.h"

#include <netcore/digest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// Shared by most cases.
typedef struct store_fixture {
    temp_directory at;
    faulty_files files;
    nc_clock clock;
    int64_t now_ns;
    nc_store_options options;
    nc_store *store;
    nc_buf room;
} store_fixture;

static int64_t stopped_clock_ns(void *ctx) {
    return ((store_fixture *)ctx)->now_ns;
}

static void open_store(store_fixture *on) {
    nc_error err;
    assert_status(nc_store_new(&on->store, &on->options, &err), NC_OK);
}

static void begin(store_fixture *on) {
    *on = (store_fixture){
        .at = temp_directory_make(), .now_ns = INT64_C(1800000000) * 1000000000, .room = nc_buf_init(1 << 24)};
    faulty_init(&on->files);
    on->clock = nc_clock_system();
    on->clock.ctx = on;
    on->clock.realtime_ns = stopped_clock_ns;
    on->options = (nc_store_options)NC_STORE_OPTIONS_INIT;
    on->options.directory = on->at.store;
    on->options.file_ops = &on->files.ops;
    on->options.clock = &on->clock;
}

static void end(store_fixture *on) {
    nc_store_free(on->store);
    nc_buf_deinit(&on->room);
    temp_directory_remove(&on->at);
}

static void reopen(store_fixture *on) {
    nc_store_free(on->store);
    on->store = NULL;
    open_store(on);
}

static void put(store_fixture *on, const char *key, const char *body) {
    nc_store_draft draft = {.key = nc_slice_of(key)};
    assert_status(nc_store_put(on->store, &draft, nc_slice_of(body), NULL), NC_OK);
}

static nc_store_entry get(store_fixture *on, nc_slice key) {
    nc_store_entry entry;
    nc_error err;
    assert_status(nc_store_get(&entry, on->store, key, &on->room, &err), NC_OK);
    return entry;
}

static void assert_holds(store_fixture *on, const char *key, const char *body) {
    nc_store_entry entry = get(on, nc_slice_of(key));
    assert_int_equal(entry.found, NC_STORE_HIT);
    assert_slice_equals(entry.body, body);
}

static void assert_lacks(store_fixture *on, const char *key) {
    nc_store_entry entry = get(on, nc_slice_of(key));
    assert_int_equal(entry.found, NC_STORE_MISS);
    assert_int_equal(entry.body.length, 0);
}

/* --- putting and getting --- */

static void store__returns_everything_that_was_put(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    nc_store_draft draft = {
        .key = nc_slice_make("key\0with a NUL", 14),
        .metadata = nc_slice_of("status=200"),
        .host = nc_slice_of("example.com"),
        .tags = nc_slice_make("a\0user:7", 8),
        .lifetime_ms = 5000,
    };
    assert_status(nc_store_put(on.store, &draft, nc_slice_of("body"), NULL), NC_OK);
    for (int round = 0; round < 2; round++) {
        nc_store_entry entry = get(&on, draft.key);
        assert_int_equal(entry.found, NC_STORE_HIT);
        assert_true(nc_slice_is_equal(entry.key, draft.key));
        assert_true(nc_slice_is_equal(entry.tags, draft.tags));
        assert_slice_equals(entry.metadata, "status=200");
        assert_slice_equals(entry.host, "example.com");
        assert_slice_equals(entry.body, "body");
        assert_int_equal(entry.body_bytes, 4);
        assert_int_equal(entry.created_at_ms, INT64_C(1800000000000));
        assert_int_equal(entry.lifetime_ms, 5000);
        struct stat info;
        assert_int_equal(stat(temp_directory_entry(on.at.store), &info), 0);
        assert_int_equal(info.st_size, (int64_t)entry.file_bytes);
        reopen(&on);
    }
    end(&on);
}

static void store__stores_bodies_of_every_length_around_its_block_sizes(void **state) {
    (void)state;
    static const size_t lengths[] = {0,     1,     31,    32,    33,    3900,  3967,   3968,   3969,  4096,
                                     32767, 32768, 32769, 65535, 65536, 65537, 131072, 131073, 500000};
    store_fixture on;
    begin(&on);
    open_store(&on);
    uint8_t *bytes = malloc(500000);
    for (size_t i = 0; i < 500000; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        nc_slice body = nc_slice_make(bytes, lengths[i]);
        assert_status(nc_store_put(on.store, &(nc_store_draft){.key = nc_slice_of("k")}, body, NULL), NC_OK);
        assert_true(nc_slice_is_equal(get(&on, nc_slice_of("k")).body, body));
        nc_store *other = NULL; // without a known length
        assert_status(nc_store_new(&other, &on.options, NULL), NC_OK);
        nc_store_entry entry;
        assert_status(nc_store_put(on.store, &(nc_store_draft){.key = nc_slice_of("late")}, body, NULL), NC_OK);
        assert_status(nc_store_get(&entry, other, nc_slice_of("late"), &on.room, NULL), NC_OK);
        assert_true(entry.found == NC_STORE_HIT && nc_slice_is_equal(entry.body, body));
        nc_store_free(other);
    }
    free(bytes);
    end(&on);
}

static void store__replacing_an_entry_leaves_one_file(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    put(&on, "k", "first");
    put(&on, "k", "second");
    assert_holds(&on, "k", "second");
    assert_int_equal(nc_store_figures(on.store).entries, 1);
    assert_int_equal(temp_directory_count(on.at.store), 3); // the entry, the lock and the cache tag
    end(&on);
}

static void store__a_miss_is_not_an_error(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    assert_lacks(&on, "nobody");
    put(&on, "k", "v");
    assert_lacks(&on, "K");
    nc_store_stats stats = nc_store_figures(on.store);
    assert_int_equal(stats.misses, 2);
    assert_int_equal(stats.hits, 0);
    end(&on);
}

static void decode(nc_buf *out, const char *hex) {
    *out = nc_buf_init(1024);
    assert_status(nc_hex_decode(out, nc_slice_of(hex), NULL), NC_OK);
}

static void store__keys_with_the_same_md5_have_separate_entries(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    nc_buf one;
    nc_buf two;
    // Two keys with the same MD5: X. Wang and H. Yu, "How to Break MD5 and Other Hash Functions" (2005).
    decode(&one, "d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a"
                 "085125e8f7cdc99fd91dbdf280373c5bd8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0"
                 "e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70");
    decode(&two, "d131dd02c5e6eec4693d9a0698aff95c2fcab50712467eab4004583eb8fb7f8955ad340609f4b30283e4888325f1415a"
                 "085125e8f7cdc99fd91dbd7280373c5bd8823e3156348f5bae6dacd436c919c6dd53e23487da03fd02396306d248cda0"
                 "e99f33420f577ee8ce54b67080280d1ec69821bcb6a8839396f965ab6ff72a70");
    nc_slice a = nc_buf_slice(&one);
    nc_slice b = nc_buf_slice(&two);
    open_store(&on);
    for (int round = 0; round < 3; round++) {
        assert_status(nc_store_put(on.store, &(nc_store_draft){.key = a}, nc_slice_of("A"), NULL), NC_OK);
        assert_status(nc_store_put(on.store, &(nc_store_draft){.key = b}, nc_slice_of("B"), NULL), NC_OK);
        assert_slice_equals(get(&on, a).body, "A");
        assert_slice_equals(get(&on, b).body, "B");
        assert_int_equal(nc_store_figures(on.store).entries, 2);
        reopen(&on);
    }
    // When the first is removed, the second stays in its own slot. Writing it again does not use the first's slot.
    uint64_t removed = 0;
    assert_status(nc_store_remove(&removed, on.store, a, NULL), NC_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(get(&on, a).found, NC_STORE_MISS);
    assert_slice_equals(get(&on, b).body, "B");
    assert_status(nc_store_put(on.store, &(nc_store_draft){.key = b}, nc_slice_of("B2"), NULL), NC_OK);
    assert_int_equal(nc_store_figures(on.store).entries, 1);
    assert_slice_equals(get(&on, b).body, "B2");
    nc_buf_deinit(&one);
    nc_buf_deinit(&two);
    end(&on);
}

static void store__rejects_invalid_arguments(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    nc_store *none = NULL;
    nc_store_entry entry;
    nc_error err;
    nc_store_options wrong = NC_STORE_OPTIONS_INIT;
    assert_status(nc_store_new(&none, &wrong, &err), NC_ERR_USAGE);
    wrong = on.options;
    wrong.directory = "";
    assert_status(nc_store_new(&none, &wrong, NULL), NC_ERR_USAGE);
    wrong = on.options;
    wrong.max_share = 101;
    assert_status(nc_store_new(&none, &wrong, NULL), NC_ERR_USAGE);
    wrong = on.options;
    wrong.durability = (nc_store_durability)3;
    assert_status(nc_store_new(&none, &wrong, NULL), NC_ERR_USAGE);
    assert_null(none);
    open_store(&on);
    nc_slice empty = nc_slice_of("");
    assert_status(nc_store_get(&entry, on.store, empty, &on.room, NULL), NC_ERR_USAGE);
    assert_status(nc_store_put(on.store, &(nc_store_draft){.key = empty}, empty, NULL), NC_ERR_USAGE);
    assert_status(nc_store_remove(NULL, on.store, empty, NULL), NC_ERR_USAGE);
    assert_status(nc_store_remove_tag(NULL, on.store, empty, NULL), NC_ERR_USAGE);
    assert_status(nc_store_remove_host(NULL, on.store, empty, NULL), NC_ERR_USAGE);
    nc_slice long_key = nc_slice_make(&on, NC_STORE_MAX_KEY_BYTES + 1);
    assert_status(nc_store_put(on.store, &(nc_store_draft){.key = long_key}, empty, NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(temp_directory_count(on.at.store), 2);
    end(&on);
}

static void store__a_callers_buffer_that_is_too_small_is_an_error(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    put(&on, "k", "a body that needs room");
    nc_store_entry entry;
    for (size_t max = 0; max < 151; max++) {
        nc_buf small = nc_buf_init(max);
        assert_status(nc_store_get(&entry, on.store, nc_slice_of("k"), &small, NULL), NC_ERR_TOO_LARGE);
        nc_buf_deinit(&small);
    }
    nc_buf just = nc_buf_init(151); // 128 of header, 1 of key, 22 of body.
    assert_status(nc_store_get(&entry, on.store, nc_slice_of("k"), &just, NULL), NC_OK);
    assert_slice_equals(entry.body, "a body that needs room");
    nc_buf_deinit(&just);
    end(&on);
}

/* --- lifetimes --- */

static void store__expired_entries_are_not_found(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    nc_store_draft draft = {.key = nc_slice_of("k"), .lifetime_ms = 1000};
    assert_status(nc_store_put(on.store, &draft, nc_slice_of("v"), NULL), NC_OK);
    on.now_ns += INT64_C(999) * 1000000;
    assert_holds(&on, "k", "v");
    on.now_ns += 1000000;
    assert_int_equal(get(&on, draft.key).found, NC_STORE_EXPIRED);
    assert_null(temp_directory_entry(on.at.store));
    assert_int_equal(get(&on, draft.key).found, NC_STORE_MISS);
    assert_int_equal(nc_store_figures(on.store).expired, 1);
    end(&on);
}

static void store__an_entry_from_the_future_is_expired(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    nc_store_draft mortal = {.key = nc_slice_of("mortal"), .lifetime_ms = 1000000};
    nc_store_draft immortal = {.key = nc_slice_of("immortal"), .lifetime_ms = NC_STORE_FOREVER};
    assert_status(nc_store_put(on.store, &mortal, nc_slice_of("v"), NULL), NC_OK);
    assert_status(nc_store_put(on.store, &immortal, nc_slice_of("v"), NULL), NC_OK);
    on.now_ns -= 1000000;
    assert_int_equal(get(&on, mortal.key).found, NC_STORE_EXPIRED);
    assert_int_equal(get(&on, immortal.key).found, NC_STORE_HIT);
    on.now_ns = INT64_MIN;
    assert_int_equal(get(&on, immortal.key).found, NC_STORE_HIT);
    // The caller can set the creation time of an entry.
    immortal.created_at_ms = -5;
    assert_status(nc_store_put(on.store, &immortal, nc_slice_of("v"), NULL), NC_OK);
    assert_int_equal(get(&on, immortal.key).created_at_ms, -5);
    end(&on);
}

/* --- limits --- */

static bool has(store_fixture *on, int number) {
    char key[32];
    snprintf(key, sizeof key, "%d", number);
    return get(on, nc_slice_of(key)).found == NC_STORE_HIT;
}

static void put_number(store_fixture *on, int number) {
    char key[32];
    char body[400];
    memset(body, 'x', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    snprintf(key, sizeof key, "%d", number);
    put(on, key, body);
}

static void store__evicts_the_least_recently_used_entry(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    on.options.max_entries = 4;
    open_store(&on);
    for (int i = 0; i < 4; i++) {
        put_number(&on, i);
    }
    assert_true(has(&on, 0));
    put_number(&on, 4);
    assert_false(has(&on, 1));
    assert_true(has(&on, 0) && has(&on, 2) && has(&on, 3) && has(&on, 4));
    assert_int_equal(nc_store_figures(on.store).evictions, 1);
    assert_int_equal(nc_store_figures(on.store).entries, 4);
    end(&on);
}

static void store__stays_within_its_byte_limit_without_reading_the_directory(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    on.options.max_bytes = 20000;
    open_store(&on);
    uint64_t lists = on.files.lists;
    for (int i = 0; i < 1000; i++) {
        put_number(&on, i);
        assert_true(nc_store_figures(on.store).bytes <= 20000);
    }
    assert_int_equal(on.files.lists, lists);
    nc_store_stats stats = nc_store_figures(on.store);
    assert_int_equal(stats.entries + stats.evictions, 1000);
    assert_int_equal(temp_directory_count(on.at.store), stats.entries + 2);
    assert_true(stats.entries >= 37);
    end(&on);
}

static void store__the_order_of_use_survives_reopening(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    struct stat now;
    assert_int_equal(stat(on.at.root, &now), 0);
    on.now_ns = (int64_t)now.st_mtim.tv_sec * 1000000000 + INT64_C(3600000000000);
    for (int i = 0; i < 3; i++) {
        put_number(&on, i);
        on.now_ns += INT64_C(120000000000);
        // The file's time is updated, because the use is long after the put.
        assert_true(has(&on, i));
        on.now_ns += INT64_C(120000000000);
    }
    assert_true(has(&on, 0));
    assert_int_equal(on.files.set_times, 4);
    assert_true(has(&on, 0));
    assert_int_equal(on.files.set_times, 4); // a further use soon after does not update it
    on.options.max_entries = 2;
    reopen(&on);
    assert_true(has(&on, 0) && has(&on, 2));
    assert_false(has(&on, 1));
    end(&on);
}

static void store__many_uses_are_recorded_gradually(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    for (int i = 0; i < 100; i++) {
        put_number(&on, i);
    }
    on.now_ns += INT64_C(120000000000);
    for (int i = 0; i < 200; i++) {
        assert_true(has(&on, i % 100));
    }
    assert_int_equal(on.files.set_times, 64);
    on.now_ns += INT64_C(100000000);
    for (int i = 0; i < 200; i++) {
        assert_true(has(&on, i % 100));
    }
    assert_int_equal(on.files.set_times, 64 + 5);
    on.now_ns -= INT64_C(1000000000);
    assert_true(has(&on, 0)); // a clock that was set back does not allow more updates
    on.now_ns += INT64_C(2000000000);
    for (int i = 0; i < 200; i++) {
        assert_true(has(&on, i % 100));
    }
    assert_int_equal(on.files.set_times, 100);
    end(&on);
}

static void store__an_entry_above_its_share_is_rejected(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    on.options.max_bytes = 100000;
    open_store(&on);
    assert_int_equal(nc_store_figures(on.store).max_entry_bytes, 5000);
    char bytes[5000] = {0};
    nc_store_draft draft = {.key = nc_slice_of("k")};
    put(&on, "k", "old");
    assert_status(nc_store_put(on.store, &draft, nc_slice_make(bytes, 5000 - 128), NULL), NC_ERR_TOO_LARGE);
    assert_holds(&on, "k", "old");
    assert_status(nc_store_put(on.store, &draft, nc_slice_make(bytes, 5000 - 129), NULL), NC_OK);
    on.options.max_share = 100;
    reopen(&on);
    assert_int_equal(nc_store_figures(on.store).max_entry_bytes, 100000);
    assert_status(nc_store_put(on.store, &draft, nc_slice_make(bytes, 5000), NULL), NC_OK);
    on.options.max_share = 1;
    reopen(&on);
    assert_int_equal(nc_store_figures(on.store).entries, 0);
    end(&on);
}

static void store__finds_what_another_store_put_and_misses_what_it_removed(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    open_store(&on);
    nc_store *other = NULL;
    assert_status(nc_store_new(&other, &on.options, NULL), NC_OK);
    assert_status(nc_store_put(other, &(nc_store_draft){.key = nc_slice_of("k")}, nc_slice_of("v"), NULL), NC_OK);
    assert_holds(&on, "k", "v");
    assert_int_equal(nc_store_figures(on.store).entries, 1);
    assert_status(nc_store_put(other, &(nc_store_draft){.key = nc_slice_of("k")}, nc_slice_of("longer"), NULL), NC_OK);
    assert_holds(&on, "k", "longer");
    assert_status(nc_store_remove_all(NULL, other, NULL), NC_OK);
    assert_lacks(&on, "k");
    assert_int_equal(nc_store_figures(on.store).entries, 0);
    nc_store_free(other);
    end(&on);
}

static void store__the_limit_includes_entries_of_other_stores(void **state) {
    (void)state;
    store_fixture on;
    begin(&on);
    on.options.max_entries = 100;
    open_store(&on);
    nc_store *other = NULL;
    assert_status(nc_store_new(&other, &on.options, NULL), NC_OK);
    for (int i = 0; i < 1000; i++) {
        char key[32];
        snprintf(key, sizeof key, "other %d", i);
        put_number(&on, i);
        assert_status(nc_store_put(other, &(nc_store_draft){.key = nc_slice_of(key)}, nc_slice_of("v"), NULL), NC_OK);
    }
    // Between two scans of the directory, each store may miss 64 files that the other one has put.
    assert_true(temp_directory_count(on.at.store) <= 100 + 64 + 64 + 2);
    assert_true(nc_store_figures(on.store).scans > 5);
    nc_store_free(other);
    reopen(&on);
    assert_true(temp_directory_count(on.at.store) <= 100 + 2);
    end(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(store__returns_everything_that_was_put),
        harness_case(store__stores_bodies_of_every_length_around_its_block_sizes),
        harness_case(store__replacing_an_entry_leaves_one_file),
        harness_case(store__a_miss_is_not_an_error),
        harness_case(store__keys_with_the_same_md5_have_separate_entries),
        harness_case(store__rejects_invalid_arguments),
        harness_case(store__a_callers_buffer_that_is_too_small_is_an_error),
        harness_case(store__expired_entries_are_not_found),
        harness_case(store__an_entry_from_the_future_is_expired),
        harness_case(store__evicts_the_least_recently_used_entry),
        harness_case(store__stays_within_its_byte_limit_without_reading_the_directory),
        harness_case(store__the_order_of_use_survives_reopening),
        harness_case(store__many_uses_are_recorded_gradually),
        harness_case(store__an_entry_above_its_share_is_rejected),
        harness_case(store__finds_what_another_store_put_and_misses_what_it_removed),
        harness_case(store__the_limit_includes_entries_of_other_stores),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
