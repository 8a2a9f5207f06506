/// Failed allocations in calls that use a cache with a store: a call ends with the right bytes or an error, and the
/// next call is not affected.
#include "caching.h"
#include "client/cache_record.h"
#include "faulty.h"
#include "own_store.h"

/// More than the allocations of one call.
enum { MAX_ALLOCATIONS = 250 };

typedef struct stored {
    caching c;
    temp_directory at;
    nc_store *store;
    own_store own;
    nc_http_cache_options cache;
} stored;

/// Starts a cache with a store on disk or of the caller.
static void start(stored *s, bool is_own) {
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    s->at = temp_directory_make();
    options.directory = s->at.store;
    assert_status(nc_store_new(&s->store, &options, NULL), NC_OK);
    own_store_init(&s->own);
    s->cache = (nc_http_cache_options){.store = is_own ? NULL : s->store, .cache_store = is_own ? &s->own.store : NULL};
    caching_start_with_cache(&s->c, &s->cache);
    caching_reply(&s->c, "/", "Cache-Control: max-age=60\r\nVary: Foo\r\nETag: \"1\"\r\n", "one");
}

static void stop(stored *s) {
    caching_stop(&s->c);
    own_store_deinit(&s->own);
    nc_store_free(s->store);
    temp_directory_remove(&s->at);
}

/// Sends a request while the `nth` allocation of all threads fails; 0 for none. Returns the outcome of a success.
static nc_cache_outcome get(stored *s, uint64_t nth) {
    nc_call *call = NULL;
    nc_response *response = NULL;
    nc_error err;
    nc_request request = fixture_request(&s->c.f, "/");
    nc_call_options options = {.cache = &s->c.policy};
    nc_cache_outcome outcome = NC_CACHE_OUTCOME_NONE;
    harness_fail_allocation(nth);
    nc_status status = nc_client_send(s->c.client, &request, &options, NULL, &call, &err);
    if (status == NC_OK) {
        status = nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err);
        outcome = nc_call_cache_report(call).outcome;
    }
    harness_fail_allocation(0);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_true(status != NC_OK || nc_slice_is_equal(nc_response_body(response), nc_slice_of("one")));
    nc_response_release(response);
    nc_call_release(call);
    assert_true(nth > 0 || status == NC_OK);
    return status == NC_OK ? outcome : NC_CACHE_OUTCOME_NONE;
}

static void check_storing(bool is_own) {
    stored s;
    start(&s, is_own);
    for (uint64_t nth = 1; nth < MAX_ALLOCATIONS; nth++) {
        assert_status(nc_http_cache_clear(s.c.cache, NULL), NC_OK);
        (void)get(&s, nth);
        assert_true(get(&s, 0) != NC_CACHE_OUTCOME_NONE);
        assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_HIT);
    }
    stop(&s);
}

static void check_hitting(bool is_own) {
    stored s;
    start(&s, is_own);
    (void)get(&s, 0);
    for (uint64_t nth = 1; nth < MAX_ALLOCATIONS; nth++) {
        caching_restart_with_cache(&s.c, &s.cache); // with nothing in memory, so that the entry is read from the store
        (void)get(&s, nth);
        assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_HIT);
        (void)get(&s, nth); // from memory
        assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_HIT);
    }
    stop(&s);
}

static void http_cache__every_allocation_of_a_call_that_stores_may_fail(void **state) {
    (void)state;
    check_storing(false);
}

static void http_cache__every_allocation_of_a_call_that_hits_may_fail(void **state) {
    (void)state;
    check_hitting(false);
}

static void cache_store__every_allocation_of_a_call_that_stores_may_fail(void **state) {
    (void)state;
    check_storing(true);
}

static void cache_store__every_allocation_of_a_call_that_hits_may_fail(void **state) {
    (void)state;
    check_hitting(true);
}

static void cache_store__a_failed_removal_without_memory_ends_the_use_of_the_store(void **state) {
    stored s;
    (void)state;
    start(&s, true);
    s.cache.max_memory_bytes = 1;
    caching_restart_with_cache(&s.c, &s.cache);
    (void)get(&s, 0);
    assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_HIT);
    s.own.fault = OWN_STORE_KEEPS;
    harness_fail_allocation(1);
    nc_http_cache_invalidate(s.c.cache, nc_slice_of("another key"));
    assert_true(harness_has_failed_allocation());
    harness_fail_allocation(0);
    assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_NETWORK);
    s.own.fault = OWN_STORE_WORKS;
    assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_NETWORK); // and empties the store
    assert_int_equal(get(&s, 0), NC_CACHE_OUTCOME_HIT);
    stop(&s);
}

static void create(void *ctx) {
    own_store *own = ctx;
    nc_http_cache *cache = NULL;
    size_t releases = own->releases;
    nc_status status = nc_http_cache_new(&cache, &(nc_http_cache_options){.cache_store = &own->store}, NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    if (status == NC_OK) {
        status = nc_http_cache_remove_host(cache, nc_slice_of("a.example"), NULL);
        assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
        nc_http_cache_free(cache);
        releases++;
    }
    assert_int_equal(own->releases, releases);
}

static void cache_store__every_allocation_of_a_new_cache_may_fail(void **state) {
    own_store own;
    (void)state;
    own_store_init(&own);
    assert_true(each_allocation_failure(create, &own) >= 3);
    own_store_deinit(&own);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(http_cache__every_allocation_of_a_call_that_stores_may_fail),
        harness_case(http_cache__every_allocation_of_a_call_that_hits_may_fail),
        harness_case(cache_store__every_allocation_of_a_call_that_stores_may_fail),
        harness_case(cache_store__every_allocation_of_a_call_that_hits_may_fail),
        harness_case(cache_store__a_failed_removal_without_memory_ends_the_use_of_the_store),
        harness_case(cache_store__every_allocation_of_a_new_cache_may_fail),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
