/// Users, stores and shared transfers of a client's cache.
#include "caching.h"

#include <dirent.h>
#include <netcore/cookies.h>
#include <netcore/store.h>
#include <netcore/trust.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHEABLE "Cache-Control: max-age=60\r\n"

/* --- users --- */

static void expect_outcomes(caching *c, const char *const *fields, const nc_cache_outcome *outcomes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        caching_get(c, "/", fields[i]);
        assert_int_equal(c->report.outcome, outcomes[i]);
    }
}

static void http_cache__credentials_and_secret_fields_distinguish_users(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", CACHEABLE, "x");
    static const char *const fields[] = {
        "Authorization: Bearer alice",
        "Authorization: Bearer alice",
        "Authorization: Bearer bob",
        NULL,
        NULL,
        "X-Api-Key: 1",
        "X-Api-Key: 2",
        "X-Api-Key: 1",
        "Accept: x",
        "authorization: Bearer bob",
    };
    static const nc_cache_outcome outcomes[] = {
        NC_CACHE_OUTCOME_NETWORK, NC_CACHE_OUTCOME_HIT,     NC_CACHE_OUTCOME_NETWORK, NC_CACHE_OUTCOME_NETWORK,
        NC_CACHE_OUTCOME_HIT,     NC_CACHE_OUTCOME_NETWORK, NC_CACHE_OUTCOME_NETWORK, NC_CACHE_OUTCOME_HIT,
        NC_CACHE_OUTCOME_HIT,     NC_CACHE_OUTCOME_HIT,
    };
    expect_outcomes(&c, fields, outcomes, 10);
    caching_stop(&c);
}

static void http_cache__a_scope_replaces_the_credentials(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", CACHEABLE, "x");
    c.has_scope = true;
    static const struct {
        const char *scope;
        const char *field;
        nc_cache_outcome outcome;
    } rows[] = {
        {"7", "Authorization: Bearer 1", NC_CACHE_OUTCOME_NETWORK},
        {"7", "Authorization: Bearer 2", NC_CACHE_OUTCOME_HIT},
        {"8", "Authorization: Bearer 1", NC_CACHE_OUTCOME_NETWORK},
        {"", "Authorization: Bearer 1", NC_CACHE_OUTCOME_NETWORK},
        {"", "Cookie: a=1", NC_CACHE_OUTCOME_HIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        c.scope = rows[i].scope;
        caching_get(&c, "/", rows[i].field);
        assert_int_equal(c.report.outcome, rows[i].outcome);
    }
    caching_stop(&c);
}

/// The joined texts of both requests were equal when only the values were preceded by their lengths.
static void http_cache__names_and_values_of_secret_fields_are_separate(void **state) {
    caching c;
    nc_error err;
    nc_header one[] = {{nc_slice_of("X-Api-Key"), nc_slice_of("abx-token1:z")}};
    nc_header two[] = {{nc_slice_of("X-Api-Key1"), nc_slice_of("ab")}, {nc_slice_of("X-Token"), nc_slice_of("z")}};
    nc_header *const fields[] = {one, two};
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", CACHEABLE, "x");
    for (size_t i = 0; i < 2; i++) {
        nc_response *response = NULL;
        nc_call *call;
        nc_request request = fixture_request(&c.f, "/");
        nc_call_options options = {.cache = &c.policy};
        request.headers = fields[i];
        request.header_count = i + 1;
        assert_status(nc_client_send(c.client, &request, &options, NULL, &call, &err), NC_OK);
        assert_status(nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err), NC_OK);
        assert_int_equal(nc_call_cache_report(call).outcome, NC_CACHE_OUTCOME_NETWORK);
        nc_response_release(response);
        nc_call_release(call);
    }
    caching_stop(&c);
}

static void http_cache__cookies_distinguish_users(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", CACHEABLE, "x");
    static const char *const fields[] = {"Cookie: a=1", "Cookie: a=1", "Cookie: a=2", NULL, "Cookie: a=1"};
    static const nc_cache_outcome outcomes[] = {
        NC_CACHE_OUTCOME_NETWORK, NC_CACHE_OUTCOME_HIT, NC_CACHE_OUTCOME_NETWORK, NC_CACHE_OUTCOME_NETWORK,
        NC_CACHE_OUTCOME_HIT, // a response to a request without cookies is for all users
    };
    expect_outcomes(&c, fields, outcomes, 5);
    caching_get(&c, "/", "Cookie: a=3");
    caching_expect(&c, 200, "x", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    caching_reply(&c, "/v", CACHEABLE "Vary: Cookie\r\n", "x");
    caching_get(&c, "/v", NULL);
    caching_get(&c, "/v", "Cookie: a=1");
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_NETWORK);
    caching_stop(&c);
}

static void http_cache__the_jars_cookies_distinguish_users(void **state) {
    caching c;
    nc_error err;
    (void)state;
    caching_start_with(&c, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    caching_reply(&c, "/", CACHEABLE, "x");
    static const char *const users[] = {"alice", "bob"};
    for (size_t i = 0; i < 2; i++) {
        const char *line = fixture_text(&c.f, "Set-Cookie: user=%s; Domain=127.0.0.1; Path=/", users[i]);
        assert_status(nc_engine_set_cookies(c.f.engine, nc_slice_of(line), &err), NC_OK);
        caching_get(&c, "/", NULL);
        caching_expect(&c, 200, "x", NC_CACHE_OUTCOME_NETWORK,
                       i == 0 ? NC_CACHE_REASON_ABSENT : NC_CACHE_REASON_OTHER_USER);
        caching_get(&c, "/", NULL);
        assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_HIT);
    }
    caching_stop(&c);
}

static void http_cache__a_trust_policy_is_part_of_the_key(void **state) {
    caching c;
    nc_error err;
    nc_response *response = NULL;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", CACHEABLE, "x");
    caching_get(&c, "/", NULL);
    nc_trust *lax = fixture_trust(&c.f, &(nc_trust_options){.accepts_anything = true});
    nc_request request = fixture_request(&c.f, "/");
    nc_call_options options = {.cache = &c.policy};
    nc_call *call;
    request.trust = lax;
    assert_status(nc_client_send(c.client, &request, &options, NULL, &call, &err), NC_OK);
    assert_status(nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err), NC_OK);
    assert_int_equal(nc_call_cache_report(call).outcome, NC_CACHE_OUTCOME_NETWORK);
    nc_response_release(response);
    nc_call_release(call);
    caching_stop(&c);
}

/* --- stores --- */

typedef struct stored {
    char directory[64];
    nc_store *store;
} stored;

static void open_store(stored *s) {
    nc_error err;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = s->directory;
    assert_status(nc_store_new(&s->store, &options, &err), NC_OK);
}

static void start_store(stored *s) {
    (void)snprintf(s->directory, sizeof s->directory, "/tmp/netcore-cache-XXXXXX");
    assert_non_null(mkdtemp(s->directory));
    open_store(s);
}

static void stop_store(stored *s) {
    char command[128];
    nc_store_free(s->store);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", s->directory);
    assert_int_equal(system(command), 0);
}

static void http_cache__responses_survive_the_process(void **state) {
    caching c;
    stored s;
    (void)state;
    start_store(&s);
    caching_start(&c, s.store);
    caching_reply(&c, "/", CACHEABLE "X-A: 1\r\n", "one");
    caching_reply(&c, "/v", CACHEABLE "Vary: Foo\r\n", "variant");
    caching_get(&c, "/", "Authorization: Bearer alice");
    caching_get(&c, "/v", "Foo: 1");
    caching_restart(&c, s.store);
    caching_get(&c, "/", "Authorization: Bearer alice");
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_string_equal(caching_field(&c, "X-A"), "1");
    caching_get(&c, "/v", "Foo: 1");
    caching_expect(&c, 200, "variant", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_int_equal(nc_http_cache_figures(c.cache).store_hits, 3); // one of them is an index
    caching_get(&c, "/", "Authorization: Bearer alice");
    assert_int_equal(nc_http_cache_figures(c.cache).memory_hits, 1);
    caching_stop(&c);
    stop_store(&s);
}

/// Returns true if a file of the directory or of one below it contains the text.
static bool is_on_disk(const char *directory, const char *text) {
    char command[256];
    (void)snprintf(command, sizeof command, "grep -rqa '%s' '%s'", text, directory);
    return system(command) == 0;
}

static void http_cache__secrets_are_not_stored_in_clear(void **state) {
    caching c;
    stored s;
    (void)state;
    start_store(&s);
    caching_start(&c, s.store);
    caching_reply(&c, "/", CACHEABLE "Vary: X-Session, Foo\r\n", "the body");
    caching_get(&c, "/", "Authorization: Bearer s3cr3t-one");
    caching_get(&c, "/", "Cookie: id=s3cr3t-two");
    caching_get(&c, "/", "X-Session: s3cr3t-three");
    caching_get(&c, "/", "Foo: s3cr3t-four");
    c.has_scope = true;
    c.scope = "s3cr3t-five";
    caching_get(&c, "/", NULL);
    assert_true(c.report.is_stored);
    assert_true(is_on_disk(s.directory, "the body"));
    assert_false(is_on_disk(s.directory, "s3cr3t"));
    caching_stop(&c);
    stop_store(&s);
}

static void http_cache__clearing_removes_both_tiers(void **state) {
    caching c;
    stored s;
    nc_error err;
    (void)state;
    start_store(&s);
    caching_start(&c, s.store);
    caching_reply(&c, "/", CACHEABLE, "one");
    caching_get(&c, "/", NULL);
    // A request in flight during the removal is not stored.
    caching_script(&c, "/slow",
                   (nct_reply){.headers = CACHEABLE,
                               .body = "s",
                               .body_length = 1,
                               .is_cut = true,
                               .is_cut_in_body = true,
                               .ending = NCT_STALL});
    nc_call *call = caching_begin(&c, "/slow", NULL);
    assert_true(nct_server_wait_for_stalled(c.f.server, 1, FIXTURE_LIMIT_MS));
    assert_status(nc_http_cache_clear(c.cache, &err), NC_OK);
    nct_server_release_stalled(c.f.server);
    caching_finish(&c, call);
    caching_expect(&c, 200, "s", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    assert_false(c.report.is_stored);
    caching_get(&c, "/", NULL);
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_NETWORK);
    caching_stop(&c);
    stop_store(&s);
}

static void http_cache__an_invalidation_during_a_request_prevents_storing(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_script(&c, "/",
                   (nct_reply){.headers = CACHEABLE,
                               .body = "old",
                               .body_length = 3,
                               .is_cut = true,
                               .is_cut_in_body = true,
                               .ending = NCT_STALL});
    nc_call *call = caching_begin(&c, "/", NULL);
    assert_true(nct_server_wait_for_stalled(c.f.server, 1, FIXTURE_LIMIT_MS));
    caching_status(&c, "/", 204, "");
    c.method = "DELETE";
    caching_get(&c, "/", NULL);
    nct_server_release_stalled(c.f.server);
    caching_finish(&c, call);
    assert_false(c.report.is_stored);
    c.method = "";
    caching_reply(&c, "/", CACHEABLE, "new");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "new", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    caching_stop(&c);
}

static void http_cache__a_damaged_entry_is_a_miss(void **state) {
    caching c;
    stored s;
    char command[128];
    (void)state;
    start_store(&s);
    caching_start(&c, s.store);
    caching_reply(&c, "/", CACHEABLE, "one");
    caching_get(&c, "/", NULL);
    caching_restart(&c, s.store);
    (void)snprintf(command, sizeof command, "find '%s' -type f ! -name CACHEDIR.TAG -exec truncate -s -1 {} +",
                   s.directory);
    assert_int_equal(system(command), 0);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    assert_true(c.report.is_stored);
    caching_stop(&c);
    stop_store(&s);
}

/* --- limits --- */

static void http_cache__memory_is_bounded(void **state) {
    caching c;
    nc_error err;
    (void)state;
    caching_start(&c, NULL);
    assert_status(nc_client_close(c.client), NC_OK);
    nc_http_cache_free(c.cache);
    assert_status(
        nc_http_cache_new(&c.cache, &(nc_http_cache_options){.max_memory_bytes = 20000, .max_body_bytes = 4000}, &err),
        NC_OK);
    assert_status(nc_client_new(&c.client, c.f.engine, &(nc_client_options){.cache = c.cache, .clock = &c.clock}, &err),
                  NC_OK);
    caching_script(&c, "*", (nct_reply){.headers = CACHEABLE, .pattern_length = 2000});
    for (int i = 0; i < 20; i++) {
        caching_get(&c, fixture_text(&c.f, "/%d", i), NULL);
        assert_true(c.report.is_stored);
        assert_true(nc_http_cache_figures(c.cache).memory_bytes <= 20000);
    }
    assert_true(nc_http_cache_figures(c.cache).memory_entries >= 5);
    caching_get(&c, "/19", NULL);
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_HIT);
    caching_get(&c, "/0", NULL);
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_NETWORK);
    caching_script(&c, "/large", (nct_reply){.headers = CACHEABLE, .pattern_length = 4001});
    caching_get(&c, "/large", NULL);
    assert_false(c.report.is_stored);
    c.max_body_bytes = 1999;
    caching_get(&c, "/19", NULL);
    assert_status(c.error.status, NC_ERR_BODY_TOO_LARGE);
    caching_stop(&c);
}

/* --- shared transfers --- */

static void http_cache__equal_requests_share_one_transfer(void **state) {
    caching c;
    enum { CALLS = 8 };
    nc_call *calls[CALLS];
    (void)state;
    caching_start(&c, NULL);
    caching_script(
        &c, "/",
        (nct_reply){.headers = CACHEABLE, .body = "one", .body_length = 3, .is_cut = true, .ending = NCT_STALL});
    for (int i = 0; i < CALLS; i++) {
        calls[i] = caching_begin(&c, "/", i < CALLS - 1 ? NULL : "Accept: other");
    }
    assert_true(nct_server_wait_for_stalled(c.f.server, 2, FIXTURE_LIMIT_MS));
    nc_call_cancel(calls[0]); // the others still need the transfer
    caching_finish(&c, calls[0]);
    assert_status(c.error.status, NC_ERR_CANCELLED);
    nct_server_release_stalled(c.f.server);
    for (int i = 1; i < CALLS; i++) {
        caching_finish(&c, calls[i]);
        caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    }
    assert_int_equal(nct_server_request_count(c.f.server), 2);
    // Without a cache policy, each request is sent.
    nct_server_forget(c.f.server);
    caching_reply(&c, "/", "", "plain");
    c.uses_policy = false;
    for (int i = 0; i < CALLS; i++) {
        calls[i] = caching_begin(&c, "/", NULL);
    }
    for (int i = 0; i < CALLS; i++) {
        caching_finish(&c, calls[i]);
    }
    assert_int_equal(nct_server_request_count(c.f.server), CALLS);
    caching_stop(&c);
}

static void http_cache__the_last_cancelled_call_ends_the_transfer(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_script(&c, "/", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    nc_call *calls[] = {caching_begin(&c, "/", NULL), caching_begin(&c, "/", NULL)};
    assert_true(nct_server_wait_for_stalled(c.f.server, 1, FIXTURE_LIMIT_MS));
    for (size_t i = 0; i < 2; i++) {
        nc_call_cancel(calls[i]);
        caching_finish(&c, calls[i]);
    }
    assert_status(nc_client_wait_idle(c.client, FIXTURE_LIMIT_MS), NC_OK);
    caching_stop(&c);
}

/* --- allocation --- */

static void http_cache__every_allocation_may_fail(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\nVary: Foo\r\nETag: \"1\"\r\n", "one");
    for (uint64_t nth = 1; nth < 60; nth++) {
        harness_fail_allocation(nth);
        nc_call *call = NULL;
        nc_error err;
        nc_request request = fixture_request(&c.f, "/");
        nc_call_options options = {.cache = &c.policy};
        nc_response *response = NULL;
        if (nc_client_send(c.client, &request, &options, NULL, &call, &err) == NC_OK) {
            nc_status status = nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err);
            assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
            assert_true(status != NC_OK || nc_slice_is_equal(nc_response_body(response), nc_slice_of("one")));
            nc_response_release(response);
            nc_call_release(call);
        }
        harness_fail_allocation(0);
        caching_pass(&c, nth % 3 == 0 ? 61000 : 0);
    }
    caching_stop(&c);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(http_cache__credentials_and_secret_fields_distinguish_users),
        harness_case(http_cache__a_scope_replaces_the_credentials),
        harness_case(http_cache__names_and_values_of_secret_fields_are_separate),
        harness_case(http_cache__cookies_distinguish_users),
        harness_case(http_cache__the_jars_cookies_distinguish_users),
        harness_case(http_cache__a_trust_policy_is_part_of_the_key),
        harness_case(http_cache__responses_survive_the_process),
        harness_case(http_cache__secrets_are_not_stored_in_clear),
        harness_case(http_cache__clearing_removes_both_tiers),
        harness_case(http_cache__an_invalidation_during_a_request_prevents_storing),
        harness_case(http_cache__a_damaged_entry_is_a_miss),
        harness_case(http_cache__memory_is_bounded),
        harness_case(http_cache__equal_requests_share_one_transfer),
        harness_case(http_cache__the_last_cancelled_call_ends_the_transfer),
        harness_case(http_cache__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
