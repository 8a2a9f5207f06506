#include "harness.h"

#include <netcore/memory_cache.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 32, THREADS = 4, ROUNDS = 20000, KEYS = 64 };

static int64_t time_ns;

static uint64_t monotonic(void *ctx) {
    (void)ctx;
    return 0;
}

static int64_t realtime(void *ctx) {
    (void)ctx;
    return time_ns;
}

static nc_memory_cache *cache_of(uint64_t hard, uint64_t soft, uint32_t share) {
    static const nc_clock clock = {NULL, monotonic, realtime};
    nc_memory_cache_options options = {
        .hard_limit_bytes = hard, .soft_limit_bytes = soft, .max_share = share, .clock = &clock};
    nc_memory_cache *cache = NULL;
    assert_status(nc_memory_cache_new(&cache, &options, NULL), NC_OK);
    return cache;
}

static nc_status put(nc_memory_cache *cache, const char *key, const char *body) {
    nc_store_draft draft = {.key = nc_slice_of(key), .metadata = nc_slice_of("meta")};
    return nc_memory_cache_put(cache, &draft, nc_slice_of(body), NULL);
}

static void assert_found(nc_memory_cache *cache, const char *key, const char *body) {
    const nc_memory_value *value = nc_memory_cache_get(cache, nc_slice_of(key));
    if (body == NULL) {
        assert_null(value);
        return;
    }
    assert_non_null(value);
    assert_slice_equals(nc_memory_value_body(value), body);
    assert_slice_equals(nc_memory_value_metadata(value), "meta");
    nc_memory_value_release(value);
}

static void memory_cache__gives_what_was_put_last(void **state) {
    (void)state;
    nc_memory_cache *cache = cache_of(0, 0, 0);
    assert_found(cache, "a", NULL);
    assert_status(put(cache, "a", "one"), NC_OK);
    assert_status(put(cache, "b", ""), NC_OK);
    assert_found(cache, "a", "one");
    assert_status(put(cache, "a", "two"), NC_OK);
    assert_found(cache, "a", "two");
    assert_found(cache, "b", "");
    assert_true(nc_memory_cache_remove(cache, nc_slice_of("a")));
    assert_false(nc_memory_cache_remove(cache, nc_slice_of("a")));
    assert_found(cache, "a", NULL);
    nc_memory_cache_stats stats = nc_memory_cache_figures(cache);
    assert_int_equal(stats.values, 1);
    assert_int_equal(stats.hits, 3);
    assert_int_equal(stats.misses, 2);
    assert_int_equal(stats.hard_limit_bytes, NC_MEMORY_CACHE_DEFAULT_BYTES);
    nc_memory_cache_free(cache);
    nc_memory_cache_free(NULL);
    nc_memory_value_release(NULL);
}

static void memory_cache__value_outlives_its_key_and_its_cache(void **state) {
    (void)state;
    nc_memory_cache *cache = cache_of(0, 0, 0);
    assert_status(put(cache, "a", "kept"), NC_OK);
    const nc_memory_value *value = nc_memory_cache_get(cache, nc_slice_of("a"));
    assert_status(put(cache, "a", "other"), NC_OK);
    nc_memory_cache_free(cache);
    assert_slice_equals(nc_memory_value_body(value), "kept");
    nc_memory_value_release(value);
}

static void memory_cache__makes_room_down_to_the_soft_limit_from_the_oldest(void **state) {
    (void)state;
    char key[KEY_BYTES];
    char body[1000];
    memset(body, 'x', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    nc_memory_cache *cache = cache_of(20000, 10000, 100);
    for (int i = 0; i < 12; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_status(put(cache, key, body), NC_OK);
    }
    assert_found(cache, "0", body); // now the most recently used
    uint64_t before = nc_memory_cache_figures(cache).cost_bytes;
    assert_true(before <= 20000 && before > 10000);
    for (int i = 12; nc_memory_cache_figures(cache).evictions == 0; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_status(put(cache, key, body), NC_OK);
    }
    nc_memory_cache_stats stats = nc_memory_cache_figures(cache);
    assert_true(stats.cost_bytes <= 10000);
    assert_found(cache, "0", body);
    assert_found(cache, "1", NULL);
    assert_found(cache, key, body);
    nc_memory_cache_trim(cache, 0);
    assert_int_equal(nc_memory_cache_figures(cache).values, 0);
    assert_int_equal(nc_memory_cache_figures(cache).cost_bytes, 0);
    assert_found(cache, "0", NULL);
    nc_memory_cache_free(cache);
}

static void memory_cache__keeps_what_was_just_put_although_it_is_over_the_soft_limit(void **state) {
    (void)state;
    char large[9000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    nc_memory_cache *cache = cache_of(10000, 5000, 100);
    assert_status(put(cache, "large", large), NC_OK); // alone it is within the hard limit
    assert_status(put(cache, "a", "small"), NC_OK);
    assert_found(cache, "large", large);
    for (int round = 0; round < 2; round++) {
        assert_status(put(cache, "b", large), NC_OK);
        assert_found(cache, "b", large);
        assert_found(cache, "a", NULL);
        assert_found(cache, "large", NULL);
        assert_int_equal(nc_memory_cache_figures(cache).values, 1);
        assert_int_equal(nc_memory_cache_figures(cache).evictions, 2);
    }
    nc_memory_cache_free(cache);
}

static void memory_cache__refuses_what_cannot_be_meant_and_keeps_the_old_value(void **state) {
    (void)state;
    nc_memory_cache *cache = NULL;
    nc_memory_cache_options options = {.max_share = 101};
    assert_status(nc_memory_cache_new(&cache, &options, NULL), NC_ERR_USAGE);
    options = (nc_memory_cache_options){.hard_limit_bytes = 10, .soft_limit_bytes = 11};
    assert_status(nc_memory_cache_new(&cache, &options, NULL), NC_ERR_USAGE);
    assert_null(cache);
    cache = cache_of(10000, 0, 5);
    assert_status(put(cache, "", "x"), NC_ERR_USAGE);
    assert_status(put(cache, "a", "x"), NC_OK);
    char large[600];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_status(put(cache, "a", large), NC_ERR_TOO_LARGE);
    assert_found(cache, "a", "x");
    nc_memory_cache_free(cache);
}

/// The error has the status that the call returned.
static void memory_cache__a_success_is_in_the_error_too(void **state) {
    (void)state;
    nc_memory_cache_options options = {.hard_limit_bytes = 1 << 20};
    nc_store_draft draft = {.key = nc_slice_of("a")};
    nc_memory_cache *cache = NULL;
    nc_error err = {.status = NC_ERR_INTERNAL, .message = "of a call before"};
    assert_status(nc_memory_cache_new(&cache, &options, &err), NC_OK);
    assert_status(err.status, NC_OK);
    assert_string_equal(err.message, "");
    err = (nc_error){.status = NC_ERR_INTERNAL, .message = "of a call before"};
    assert_status(nc_memory_cache_put(cache, &draft, nc_slice_of("one"), &err), NC_OK);
    assert_status(err.status, NC_OK);
    assert_string_equal(err.message, "");
    nc_memory_cache_free(cache);
}

static void memory_cache__lifetime_ends_and_the_future_is_over(void **state) {
    (void)state;
    nc_memory_cache *cache = cache_of(0, 0, 0);
    time_ns = INT64_C(1000) * 1000000;
    nc_store_draft draft = {.key = nc_slice_of("a"), .metadata = nc_slice_of("meta"), .lifetime_ms = 10};
    assert_status(nc_memory_cache_put(cache, &draft, nc_slice_of("x"), NULL), NC_OK);
    time_ns += INT64_C(9999999);
    const nc_memory_value *value = nc_memory_cache_get(cache, draft.key);
    assert_int_equal(nc_memory_value_created_at_ms(value), 1000);
    nc_memory_value_release(value);
    time_ns += 1;
    assert_found(cache, "a", NULL);
    assert_int_equal(nc_memory_cache_figures(cache).values, 0);
    assert_status(nc_memory_cache_put(cache, &draft, nc_slice_of("x"), NULL), NC_OK);
    time_ns -= INT64_C(2000000);
    assert_found(cache, "a", NULL);
    draft.lifetime_ms = NC_STORE_FOREVER;
    assert_status(nc_memory_cache_put(cache, &draft, nc_slice_of("x"), NULL), NC_OK);
    time_ns = 0;
    assert_found(cache, "a", "x");
    nc_memory_cache_free(cache);
}

static void memory_cache__keys_are_compared_whole(void **state) {
    (void)state;
    char key[KEY_BYTES];
    char body[KEY_BYTES];
    nc_memory_cache *cache = cache_of(UINT64_C(1) << 30, 0, 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20000; i++) {
            snprintf(key, sizeof key, "%*d", i % 20 + 1, i);
            snprintf(body, sizeof body, "%d", i);
            if (round == 0) {
                assert_status(put(cache, key, body), NC_OK);
            } else {
                assert_found(cache, key, body);
            }
        }
    }
    nc_memory_cache_free(cache);
}

static void fill_and_ask(void *ctx) {
    (void)ctx;
    nc_memory_cache_options options = {.hard_limit_bytes = 0};
    nc_memory_cache *cache = NULL;
    if (nc_memory_cache_new(&cache, &options, NULL) != NC_OK) {
        return;
    }
    char key[KEY_BYTES];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "%d", i);
        bool was_put = put(cache, key, "x") == NC_OK;
        const nc_memory_value *value = nc_memory_cache_get(cache, nc_slice_of(key));
        assert_true((value != NULL) == was_put);
        nc_memory_value_release(value);
    }
    nc_memory_cache_free(cache);
}

static void memory_cache__lives_without_memory(void **state) {
    (void)state;
    assert_true(each_allocation_failure(fill_and_ask, NULL) > 100);
}

static void *hammer(void *ctx) {
    nc_memory_cache *cache = ctx;
    char key[KEY_BYTES];
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "%d", i * 7 % KEYS);
        if (i % 3 == 0) {
            (void)put(cache, key, key);
        } else if (i % 50 == 1) {
            (void)nc_memory_cache_remove(cache, nc_slice_of(key));
        } else {
            const nc_memory_value *value = nc_memory_cache_get(cache, nc_slice_of(key));
            if (value != NULL && !nc_slice_is_equal(nc_memory_value_body(value), nc_slice_of(key))) {
                return cache;
            }
            nc_memory_value_release(value);
        }
    }
    return NULL;
}

static void memory_cache__many_threads_find_whole_values(void **state) {
    (void)state;
    nc_memory_cache *cache = cache_of(6000, 3000, 50);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, cache), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_true(nc_memory_cache_figures(cache).cost_bytes <= 6000);
    nc_memory_cache_free(cache);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(memory_cache__gives_what_was_put_last),
        harness_case(memory_cache__value_outlives_its_key_and_its_cache),
        harness_case(memory_cache__makes_room_down_to_the_soft_limit_from_the_oldest),
        harness_case(memory_cache__keeps_what_was_just_put_although_it_is_over_the_soft_limit),
        harness_case(memory_cache__refuses_what_cannot_be_meant_and_keeps_the_old_value),
        harness_case(memory_cache__a_success_is_in_the_error_too),
        harness_case(memory_cache__lifetime_ends_and_the_future_is_over),
        harness_case(memory_cache__keys_are_compared_whole),
        harness_case(memory_cache__lives_without_memory),
        harness_case(memory_cache__many_threads_find_whole_values),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
