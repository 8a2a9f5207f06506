/// Responses that were requested before a change of the cache, and arrive after it.
#include "client/cache_record.h"
#include "harness.h"

#include <stdio.h>

static bool put(nc_http_cache *cache, const char *key, uint64_t requested) {
    nc_slice text = nc_slice_of(key);
    nc_tier_entry *entry = nc_tier_entry_new(nc_tier_key_of(text), nc_slice_of("metadata"), nc_slice_of("body"));
    assert_non_null(entry);
    bool is_put = nc_http_cache_put(cache, entry, nc_slice_of("a.example"), nc_slice_of("url"), requested);
    nc_tier_entry_release(entry);
    return is_put;
}

static nc_http_cache *cache_in_memory(void) {
    nc_http_cache *cache = NULL;
    assert_int_equal(nc_http_cache_new(&cache, NULL, NULL), NC_OK);
    return cache;
}

static void http_cache__a_response_requested_before_a_clear_is_not_stored_after_other_changes(void **state) {
    nc_http_cache *cache = cache_in_memory();
    (void)state;
    uint64_t before = nc_http_cache_begin(cache);
    assert_true(put(cache, "first", before));
    assert_int_equal(nc_http_cache_clear(cache, NULL), NC_OK);
    assert_false(put(cache, "second", before));
    assert_true(put(cache, "third", nc_http_cache_begin(cache)));
    assert_false(put(cache, "second", before));
    nc_http_cache_free(cache);
}

static void http_cache__the_response_to_an_older_request_replaces_none(void **state) {
    nc_http_cache *cache = cache_in_memory();
    (void)state;
    uint64_t older = nc_http_cache_begin(cache);
    uint64_t newer = nc_http_cache_begin(cache);
    assert_true(put(cache, "key", newer));
    assert_true(put(cache, "key", newer));
    assert_false(put(cache, "key", older));
    assert_true(put(cache, "other", older));
    nc_http_cache_free(cache);
}

static void http_cache__an_invalidation_of_the_key_or_its_url_is_final_for_earlier_requests(void **state) {
    static const char *const keys[] = {"key", "url"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        nc_http_cache *cache = cache_in_memory();
        uint64_t before = nc_http_cache_begin(cache);
        nc_http_cache_invalidate(cache, nc_slice_of(keys[i]));
        assert_false(put(cache, "key", before));
        assert_true(put(cache, "key", nc_http_cache_begin(cache)));
        nc_http_cache_free(cache);
    }
}

static void http_cache__a_response_is_not_stored_if_the_changes_since_its_request_are_unknown(void **state) {
    nc_http_cache *cache = cache_in_memory();
    char name[32];
    (void)state;
    uint64_t before = nc_http_cache_begin(cache);
    for (unsigned i = 0; i < NC_CACHE_CHANGES + 1; i++) {
        (void)snprintf(name, sizeof name, "key %u", i);
        assert_true(put(cache, name, nc_http_cache_begin(cache)));
        assert_false(put(cache, name, before));
    }
    assert_false(put(cache, "a new key", before));
    nc_http_cache_free(cache);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(http_cache__a_response_requested_before_a_clear_is_not_stored_after_other_changes),
        harness_case(http_cache__the_response_to_an_older_request_replaces_none),
        harness_case(http_cache__an_invalidation_of_the_key_or_its_url_is_final_for_earlier_requests),
        harness_case(http_cache__a_response_is_not_stored_if_the_changes_since_its_request_are_unknown),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
