/// A cache over a store of the caller: one that works, lies, fails and is slow.
#include "caching.h"
#include "client/cache_record.h"
#include "faulty.h"
#include "own_store.h"

#include <string.h>

#define FRESH "Cache-Control: max-age=60\r\n"

typedef struct site {
    caching c;
    own_store own;
    nc_http_cache_options options;
} site;

/// Starts a cache that keeps nothing in memory.
static void start(site *s) {
    own_store_init(&s->own);
    s->options = (nc_http_cache_options){.cache_store = &s->own.store, .max_memory_bytes = 1};
    caching_start_with_cache(&s->c, &s->options);
}

static void stop(site *s) {
    caching_stop(&s->c);
    own_store_deinit(&s->own);
}

static nc_http_cache_stats figures(site *s) {
    return nc_http_cache_figures(s->c.cache);
}

static void expect_hit(site *s, const char *body) {
    caching_expect(&s->c, 200, body, NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
}

static void expect_absent(site *s, const char *body) {
    caching_expect(&s->c, 200, body, NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
}

/* --- a store that works --- */

static void cache_store__responses_are_found_by_the_next_cache(void **state) {
    site s;
    (void)state;
    start(&s);
    caching_reply(&s.c, "/", FRESH, "one");
    caching_reply(&s.c, "/empty", FRESH, "");
    caching_reply(&s.c, "/varies", FRESH "Vary: Foo\r\n", "two");
    caching_reply(&s.c, "/own", FRESH, "three");
    caching_get(&s.c, "/", NULL);
    expect_absent(&s, "one");
    assert_true(s.c.report.is_stored);
    caching_get(&s.c, "/empty", NULL);
    caching_get(&s.c, "/varies", "Foo: 1");
    caching_get(&s.c, "/own", "Authorization: Basic YQ==");
    caching_restart_with_cache(&s.c, &s.options);
    assert_int_equal(s.own.releases, 1);
    caching_get(&s.c, "/", NULL);
    expect_hit(&s, "one");
    caching_get(&s.c, "/empty", NULL);
    expect_hit(&s, "");
    caching_get(&s.c, "/varies", "Foo: 1");
    expect_hit(&s, "two");
    caching_get(&s.c, "/own", "Authorization: Basic YQ==");
    expect_hit(&s, "three");
    caching_get(&s.c, "/own", "Authorization: Basic Yg==");
    expect_absent(&s, "three");
    assert_int_equal(figures(&s).failed_gets + figures(&s).failed_puts, 0);
    stop(&s);
    assert_int_equal(s.own.releases, 2);
}

static void cache_store__memory_is_used_before_the_store(void **state) {
    site s;
    (void)state;
    start(&s);
    s.options.max_memory_bytes = 0;
    caching_restart_with_cache(&s.c, &s.options);
    caching_reply(&s.c, "/", FRESH, "one");
    caching_get(&s.c, "/", NULL);
    size_t gets = s.own.gets;
    caching_get(&s.c, "/", NULL);
    expect_hit(&s, "one");
    assert_int_equal(s.own.gets, gets);
    stop(&s);
}

static void cache_store__shared_responses_are_found_after_the_store_has_lost_the_key(void **state) {
    site s;
    nc_error err;
    (void)state;
    start(&s);
    caching_reply(&s.c, "/", FRESH, "one");
    caching_get(&s.c, "/", NULL);
    caching_get(&s.c, "/", "Authorization: Basic YQ==");
    assert_int_equal(own_store_count(&s.own), 3);
    assert_status(s.own.store.remove(&s.own, nc_slice_of("netcore http cache key"), &err), NC_OK);
    assert_int_equal(own_store_count(&s.own), 2);
    caching_restart_with_cache(&s.c, &s.options);
    caching_get(&s.c, "/", NULL);
    expect_hit(&s, "one");
    caching_get(&s.c, "/", "Authorization: Basic YQ==");
    expect_absent(&s, "one");
    stop(&s);
}

static void cache_store__an_unsafe_request_and_a_clear_remove_entries(void **state) {
    site s;
    (void)state;
    start(&s);
    caching_reply(&s.c, "/", FRESH, "one");
    caching_get(&s.c, "/", NULL);
    s.c.method = "PUT";
    caching_get(&s.c, "/", NULL);
    s.c.method = "";
    caching_get(&s.c, "/", NULL);
    expect_absent(&s, "one");
    assert_status(nc_http_cache_clear(s.c.cache, NULL), NC_OK);
    assert_int_equal(own_store_count(&s.own), 1); // the key of the hashes
    caching_get(&s.c, "/", NULL);
    expect_absent(&s, "one");
    stop(&s);
}

static void check_hosts(site *s) {
    static const char *const hosts[] = {"a.example", "b.example"};
    nc_error err;
    caching_reply(&s->c, "/", FRESH, "one");
    for (size_t i = 0; i < 4; i++) {
        s->c.host = hosts[i % 2];
        caching_get(&s->c, "/", NULL);
        assert_int_equal(s->c.report.outcome, i < 2 ? NC_CACHE_OUTCOME_NETWORK : NC_CACHE_OUTCOME_HIT);
    }
    assert_status(nc_http_cache_remove_host(s->c.cache, nc_slice_of("A.Example."), &err), NC_OK);
    caching_get(&s->c, "/", NULL);
    expect_hit(s, "one");
    s->c.host = hosts[0];
    caching_get(&s->c, "/", NULL);
    expect_absent(s, "one");
    assert_status(nc_http_cache_remove_host(s->c.cache, nc_slice_of(""), &err), NC_ERR_BAD_URL);
    assert_status(nc_http_cache_remove_host(s->c.cache, nc_slice_of("a b"), &err), NC_ERR_BAD_URL);
}

static void cache_store__the_responses_of_a_host_are_removed(void **state) {
    site s;
    temp_directory at = temp_directory_make();
    nc_store_options files = NC_STORE_OPTIONS_INIT;
    nc_store *store = NULL;
    (void)state;
    start(&s);
    check_hosts(&s);
    caching_restart(&s.c, NULL); // in memory
    check_hosts(&s);
    files.directory = at.store;
    assert_status(nc_store_new(&store, &files, NULL), NC_OK);
    caching_restart(&s.c, store);
    check_hosts(&s);
    stop(&s);
    nc_store_free(store);
    temp_directory_remove(&at);
}

/* --- a store on disk below a store of the caller --- */

static nc_status get_from_two_tiers(void *ctx, nc_slice key, nc_buf *room, nc_cache_store_found *out, nc_error *err) {
    own_store *own = ctx;
    nc_status status = own->store.get(own, key, room, out, err);
    return status == NC_ERR_NOT_CACHED ? own->second.get(own->second.ctx, key, room, out, err) : status;
}

static void cache_store__a_store_on_disk_is_a_second_tier(void **state) {
    static const uint8_t seal_key[NC_STORE_SEAL_KEY_BYTES] = "seal";
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        site s;
        temp_directory at = temp_directory_make();
        nc_store_options files = NC_STORE_OPTIONS_INIT;
        nc_store *store = NULL;
        nc_cache_store tiers;
        files.directory = at.store;
        files.seal_key = i % 2 != 0 ? seal_key : NULL;
        assert_status(nc_store_new(&store, &files, NULL), NC_OK);
        start(&s);
        tiers = nc_cache_store_on_disk(store);
        tiers.checks_entries = i < 2;
        s.options.cache_store = &tiers;
        s.options.hash_key = seal_key;
        caching_restart_with_cache(&s.c, &s.options);
        caching_reply(&s.c, "/", FRESH, "one");
        caching_get(&s.c, "/", NULL);
        // The first tier has nothing, so the disk is read after it.
        s.own.second = tiers;
        tiers = s.own.store;
        tiers.get = get_from_two_tiers;
        tiers.checks_entries = s.own.second.checks_entries;
        caching_restart_with_cache(&s.c, &s.options);
        caching_get(&s.c, "/", NULL);
        expect_hit(&s, "one");
        stop(&s);
        nc_store_free(store);
        temp_directory_remove(&at);
    }
}

/* --- a store that lies --- */

/// Stores two responses, and requests the first one while the store has a fault. Repairs the store.
static void request_with(site *s, own_store_fault fault, size_t at) {
    caching_get(&s->c, "/one", NULL);
    caching_get(&s->c, "/two", NULL);
    uint64_t failed = figures(s).failed_gets;
    s->own.fault = fault;
    s->own.at = at;
    caching_get(&s->c, "/one", NULL);
    expect_absent(s, "one");
    assert_true(figures(s).failed_gets > failed);
    s->own.fault = OWN_STORE_WORKS;
    caching_get(&s->c, "/one", NULL);
    expect_hit(s, "one");
}

static void start_lying(site *s) {
    start(s);
    caching_reply(&s->c, "/one", FRESH, "one");
    caching_reply(&s->c, "/two", FRESH, "two");
}

static void cache_store__each_changed_byte_is_a_miss(void **state) {
    site s;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/one", NULL);
    size_t bytes = own_store_last_bytes(&s.own);
    assert_true(bytes > 100);
    for (size_t i = 0; i < bytes; i++) {
        request_with(&s, OWN_STORE_CHANGES, i);
    }
    stop(&s);
}

static void cache_store__each_cut_is_a_miss(void **state) {
    site s;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/one", NULL);
    size_t bytes = own_store_last_bytes(&s.own);
    for (size_t i = 0; i < bytes; i++) {
        request_with(&s, OWN_STORE_CUTS, i);
    }
    stop(&s);
}

static void cache_store__wrong_lengths_and_keys_are_a_miss(void **state) {
    site s;
    (void)state;
    start_lying(&s);
    request_with(&s, OWN_STORE_ADDS, 0);
    request_with(&s, OWN_STORE_MOVES, 0);
    request_with(&s, OWN_STORE_REORDERS, 8);
    request_with(&s, OWN_STORE_SWAPS, 0);
    request_with(&s, OWN_STORE_SETS_NOTHING, 0);
    request_with(&s, OWN_STORE_COUNTS_WRONG, 1);
    request_with(&s, OWN_STORE_COUNTS_WRONG, SIZE_MAX);
    request_with(&s, OWN_STORE_NEVER_ENDS, 0);
    stop(&s);
}

static void cache_store__a_wrong_key_of_the_hashes_is_replaced(void **state) {
    site s;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/one", "Authorization: Basic YQ==");
    s.own.fault = OWN_STORE_CHANGES;
    s.own.at = 20; // a byte of the key
    caching_restart_with_cache(&s.c, &s.options);
    s.own.fault = OWN_STORE_WORKS;
    caching_get(&s.c, "/one", "Authorization: Basic YQ==");
    expect_absent(&s, "one");
    caching_restart_with_cache(&s.c, &s.options);
    caching_get(&s.c, "/one", "Authorization: Basic YQ==");
    expect_hit(&s, "one");
    stop(&s);
}

/* --- a store that fails --- */

static void cache_store__a_failure_is_a_miss(void **state) {
    site s;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/one", NULL);
    s.own.fault = OWN_STORE_FAILS;
    caching_restart_with_cache(&s.c, &s.options);
    caching_get(&s.c, "/one", NULL);
    expect_absent(&s, "one");
    assert_false(s.c.report.is_stored);
    assert_true(figures(&s).failed_gets > 0 && figures(&s).failed_puts > 0);
    nc_error err;
    assert_status(nc_http_cache_clear(s.c.cache, &err), NC_ERR_FILE);
    assert_string_equal(err.message, "the store cannot remove its entries: a file operation failed");
    assert_status(nc_http_cache_remove_host(s.c.cache, nc_slice_of("a.example"), &err), NC_ERR_FILE);
    s.own.fault = OWN_STORE_WORKS;
    caching_get(&s.c, "/one", NULL);
    expect_absent(&s, "one"); // the failed put may have left an older response, which is removed now
    caching_get(&s.c, "/one", NULL);
    expect_hit(&s, "one");
    stop(&s);
}

static void cache_store__a_response_that_could_not_be_removed_is_not_used(void **state) {
    site s;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/one", NULL);
    s.own.fault = OWN_STORE_KEEPS;
    s.c.method = "PUT";
    caching_get(&s.c, "/one", NULL);
    s.c.method = "";
    caching_reply(&s.c, "/one", "Cache-Control: no-store\r\n", "new");
    caching_get(&s.c, "/one", NULL);
    expect_absent(&s, "new");
    s.own.fault = OWN_STORE_WORKS;
    caching_get(&s.c, "/one", NULL);
    expect_absent(&s, "new"); // removed now
    assert_int_equal(own_store_count(&s.own), 1);
    caching_reply(&s.c, "/one", FRESH, "newer");
    caching_get(&s.c, "/one", NULL);
    caching_get(&s.c, "/one", NULL);
    expect_hit(&s, "newer");
    stop(&s);
}

static void cache_store__a_store_with_too_many_obsolete_entries_is_emptied(void **state) {
    enum { LENGTH = 8000, COUNT = 150 };
    static char key[LENGTH];
    site s;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/two", NULL);
    memset(key, 'a', LENGTH);
    s.own.fault = OWN_STORE_KEEPS;
    for (size_t i = 0; i < COUNT; i++) {
        key[i] = 'b';
        nc_http_cache_invalidate(s.c.cache, nc_slice_make(key, LENGTH));
    }
    caching_reply(&s.c, "/two", FRESH, "new");
    caching_get(&s.c, "/two", NULL);
    expect_absent(&s, "new"); // it was not removed, but which entries are obsolete is not known any more
    s.own.fault = OWN_STORE_WORKS;
    size_t clearings = s.own.clearings;
    caching_get(&s.c, "/two", NULL);
    expect_absent(&s, "new");
    assert_true(s.c.report.is_stored);
    assert_int_equal(s.own.clearings, clearings + 1);
    caching_get(&s.c, "/two", NULL);
    expect_hit(&s, "new");
    stop(&s);
}

/* --- a store that is slow --- */

static void cache_store__a_slow_store_delays_only_its_client(void **state) {
    site s;
    nc_client *second;
    nc_client *first;
    nc_error err;
    (void)state;
    start_lying(&s);
    s.options.max_memory_bytes = 0;
    caching_restart_with_cache(&s.c, &s.options);
    caching_get(&s.c, "/two", NULL);
    first = s.c.client;
    const nc_client_options options = {.cache = s.c.cache, .clock = &s.c.clock};
    assert_status(nc_client_new(&second, s.c.f.engine, &options, &err), NC_OK);
    own_store_set_slow(&s.own, true);
    nc_call *waiting = caching_begin(&s.c, "/one", NULL);
    nc_call *cancelled = caching_begin(&s.c, "/one", NULL);
    own_store_wait_for_lookup(&s.own);
    nc_call_cancel(cancelled);
    s.c.client = second;
    caching_get(&s.c, "/two", NULL);
    expect_hit(&s, "two"); // from memory, while the first client waits
    own_store_set_slow(&s.own, false);
    caching_finish(&s.c, waiting);
    expect_absent(&s, "one");
    caching_finish(&s.c, cancelled);
    assert_status(s.c.error.status, NC_ERR_CANCELLED);
    assert_status(nc_client_close(second), NC_OK);
    s.c.client = first;
    stop(&s);
}

static void cache_store__an_invalidation_during_a_slow_lookup_keeps_the_response_out_of_memory(void **state) {
    site s;
    nc_client *second;
    nc_client *first;
    nc_error err;
    (void)state;
    start_lying(&s);
    caching_get(&s.c, "/one", NULL);
    s.options.max_memory_bytes = 0;
    caching_restart_with_cache(&s.c, &s.options);
    first = s.c.client;
    const nc_client_options options = {.cache = s.c.cache, .clock = &s.c.clock};
    assert_status(nc_client_new(&second, s.c.f.engine, &options, &err), NC_OK);
    own_store_set_slow(&s.own, true);
    nc_call *waiting = caching_begin(&s.c, "/one", NULL);
    own_store_wait_for_lookup(&s.own);
    s.c.client = second;
    s.c.method = "PUT";
    caching_get(&s.c, "/one", NULL);
    s.c.method = "";
    own_store_set_slow(&s.own, false);
    caching_finish(&s.c, waiting);
    expect_hit(&s, "one"); // requested before the invalidation
    caching_get(&s.c, "/one", NULL);
    expect_absent(&s, "one");
    assert_int_equal(nct_server_request_count(s.c.f.server), 3);
    assert_status(nc_client_close(second), NC_OK);
    s.c.client = first;
    stop(&s);
}

/* --- misuse --- */

static void cache_store__options_without_meaning_are_refused(void **state) {
    site s;
    nc_http_cache *cache = NULL;
    nc_error err;
    temp_directory at = temp_directory_make();
    nc_store_options files = NC_STORE_OPTIONS_INIT;
    nc_store *store = NULL;
    (void)state;
    start(&s);
    files.directory = at.store;
    assert_status(nc_store_new(&store, &files, NULL), NC_OK);
    s.options.store = store;
    assert_status(nc_http_cache_new(&cache, &s.options, &err), NC_ERR_USAGE);
    assert_string_equal(err.message, "a cache has one store: set `store` or `cache_store`, not both");
    s.options.store = NULL;
    for (size_t i = 0; i < 4; i++) {
        nc_cache_store lacking = s.own.store;
        lacking.get = i == 0 ? NULL : lacking.get;
        lacking.put = i == 1 ? NULL : lacking.put;
        lacking.remove = i == 2 ? NULL : lacking.remove;
        lacking.remove_all = i == 3 ? NULL : lacking.remove_all;
        s.options.cache_store = &lacking;
        assert_status(nc_http_cache_new(&cache, &s.options, &err), NC_ERR_USAGE);
        assert_string_equal(err.message, "the store of a cache lacks get, put, remove or remove_all");
    }
    assert_int_equal(s.own.releases, 0);
    stop(&s);
    nc_store_free(store);
    temp_directory_remove(&at);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cache_store__responses_are_found_by_the_next_cache),
        harness_case(cache_store__memory_is_used_before_the_store),
        harness_case(cache_store__shared_responses_are_found_after_the_store_has_lost_the_key),
        harness_case(cache_store__an_unsafe_request_and_a_clear_remove_entries),
        harness_case(cache_store__the_responses_of_a_host_are_removed),
        harness_case(cache_store__a_store_on_disk_is_a_second_tier),
        harness_case(cache_store__each_changed_byte_is_a_miss),
        harness_case(cache_store__each_cut_is_a_miss),
        harness_case(cache_store__wrong_lengths_and_keys_are_a_miss),
        harness_case(cache_store__a_wrong_key_of_the_hashes_is_replaced),
        harness_case(cache_store__a_failure_is_a_miss),
        harness_case(cache_store__a_response_that_could_not_be_removed_is_not_used),
        harness_case(cache_store__a_store_with_too_many_obsolete_entries_is_emptied),
        harness_case(cache_store__a_slow_store_delays_only_its_client),
        harness_case(cache_store__an_invalidation_during_a_slow_lookup_keeps_the_response_out_of_memory),
        harness_case(cache_store__options_without_meaning_are_refused),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
