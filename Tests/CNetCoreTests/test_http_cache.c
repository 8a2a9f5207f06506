/// The cache of a client over a real server: lookup, revalidation, failures, invalidation, users, both tiers.
#include "caching.h"

#include <netcore/cookies.h>
#include <netcore/store.h>
#include <stdlib.h>
#include <string.h>

/* --- freshness and revalidation --- */

static void http_cache__a_fresh_response_is_used(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\nX-A: 1\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    assert_true(c.report.is_stored);
    caching_pass(&c, 59999);
    caching_reply(&c, "/", "", "two");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_string_equal(caching_field(&c, "Age"), "59");
    assert_string_equal(caching_field(&c, "X-A"), "1");
    assert_int_equal(c.report.age_ms, 59999);
    assert_int_equal(c.report.lifetime_ms, 60000);
    caching_pass(&c, 1);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "two", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_STALE);
    caching_stop(&c);
}

static void http_cache__a_stale_response_is_revalidated(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=1\r\nETag: \"1\"\r\nX-A: 1\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_pass(&c, 2000);
    caching_status(&c, "/", 304, "Cache-Control: max-age=60\r\nX-A: 2\r\n");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_REVALIDATED, NC_CACHE_REASON_STALE);
    assert_non_null(strstr(fixture_received(&c.f, 1), "\r\nIf-None-Match: \"1\"\r\n"));
    assert_string_equal(caching_field(&c, "X-A"), "2");
    assert_true(c.report.is_stored);
    caching_pass(&c, 59000);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_int_equal(nct_server_request_count(c.f.server), 2);
    caching_stop(&c);
}

static void http_cache__a_304_for_another_version_is_sent_again(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=1\r\nETag: \"1\"\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_pass(&c, 2000);
    nct_reply replies[] = {
        {.status = 304, .headers = "ETag: \"2\"\r\n"},
        {.headers = "ETag: \"2\"\r\nCache-Control: max-age=60\r\n", .body = "two", .body_length = 3}};
    assert_int_equal(nct_server_script_sequence(c.f.server, "/", replies, 2), 0);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "two", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_STALE);
    assert_null(strstr(fixture_received(&c.f, 2), "If-None-Match"));
    assert_true(c.report.is_stored);
    caching_stop(&c);
}

static void http_cache__a_new_response_replaces_or_removes_the_stored_one(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_reply(&c, "/", "Cache-Control: no-store\r\n", "two");
    c.policy.mode = NC_CACHE_MODE_RELOAD;
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "two", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_IGNORED);
    c.policy.mode = NC_CACHE_MODE_DEFAULT;
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "two", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    caching_stop(&c);
}

/* --- modes --- */

static void http_cache__cache_only_never_sends(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    c.policy.mode = NC_CACHE_MODE_CACHE_ONLY;
    caching_reply(&c, "/", "Cache-Control: max-age=1\r\n", "one");
    caching_get(&c, "/", NULL);
    assert_status(c.error.status, NC_ERR_NOT_CACHED);
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_NONE);
    assert_int_equal(nct_server_request_count(c.f.server), 0);
    c.policy.mode = NC_CACHE_MODE_DEFAULT;
    caching_get(&c, "/", NULL);
    caching_pass(&c, 100000);
    c.policy.mode = NC_CACHE_MODE_CACHE_ONLY;
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_STALE_HIT, NC_CACHE_REASON_STALE_ALLOWED);
    c.policy.mode = NC_CACHE_MODE_DEFAULT;
    caching_get(&c, "/missing", "Cache-Control: only-if-cached");
    caching_expect(&c, 504, "", NC_CACHE_OUTCOME_NONE, NC_CACHE_REASON_ABSENT);
    assert_int_equal(nct_server_request_count(c.f.server), 1);
    caching_stop(&c);
}

static void http_cache__no_store_stores_nothing(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    c.policy.mode = NC_CACHE_MODE_NO_STORE;
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\n", "one");
    caching_get(&c, "/", NULL);
    assert_false(c.report.is_stored);
    c.policy.mode = NC_CACHE_MODE_DEFAULT;
    caching_get(&c, "/", "Cache-Control: no-store");
    assert_false(c.report.is_stored);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    assert_int_equal(nct_server_request_count(c.f.server), 3);
    caching_stop(&c);
}

static void http_cache__stale_while_revalidate_fetches_in_the_background(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=1, stale-while-revalidate=60\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_pass(&c, 2000);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\n", "two");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_STALE_HIT, NC_CACHE_REASON_STALE_WHILE_REVALIDATE);
    assert_status(nc_client_wait_idle(c.client, FIXTURE_LIMIT_MS), NC_OK);
    assert_int_equal(nct_server_request_count(c.f.server), 2);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "two", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    caching_stop(&c);
}

static void http_cache__a_failure_is_replaced_by_the_stored_response(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=1, stale-if-error=60\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_pass(&c, 2000);
    caching_status(&c, "/", 503, "");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_STALE_HIT, NC_CACHE_REASON_STALE_IF_ERROR);
    caching_script(&c, "/", (nct_reply){.is_cut = true, .ending = NCT_CLOSE});
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_STALE_HIT, NC_CACHE_REASON_STALE_IF_ERROR);
    caching_status(&c, "/", 404, "");
    caching_get(&c, "/", NULL);
    caching_expect(&c, 404, "", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_STALE);
    caching_pass(&c, 60000);
    caching_script(&c, "/", (nct_reply){.is_cut = true, .ending = NCT_CLOSE});
    caching_get(&c, "/", NULL);
    assert_status(c.error.status, NC_ERR_EMPTY_REPLY);
    caching_stop(&c);
}

static void http_cache__a_response_is_stale_from_the_end_of_its_lifetime(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=2, stale-if-error=60\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_pass(&c, 1999);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    caching_status(&c, "/", 503, "");
    caching_pass(&c, 1);
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_STALE_HIT, NC_CACHE_REASON_STALE_IF_ERROR);
    caching_stop(&c);
}

/* --- forms --- */

static void http_cache__head_ranges_and_conditions_use_the_stored_response(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\nETag: \"1\"\r\nX-A: 1\r\n", "0123456789");
    caching_get(&c, "/", NULL);
    c.method = "HEAD";
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_string_equal(caching_field(&c, "Content-Length"), "10");
    c.method = "";
    caching_get(&c, "/", "Range: bytes=2-4");
    caching_expect(&c, 206, "234", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_string_equal(caching_field(&c, "Content-Range"), "bytes 2-4/10");
    assert_string_equal(caching_field(&c, "Content-Length"), "3");
    caching_get(&c, "/", "If-None-Match: \"1\"");
    caching_expect(&c, 304, "", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_null(caching_field(&c, "X-A"));
    caching_get(&c, "/", "If-None-Match: \"2\"");
    caching_expect(&c, 200, "0123456789", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    assert_int_equal(nct_server_request_count(c.f.server), 1);
    caching_stop(&c);
}

static void http_cache__a_head_response_updates_or_invalidates(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=1\r\nETag: \"1\"\r\n", "one");
    caching_get(&c, "/", NULL);
    caching_pass(&c, 2000);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one");
    c.method = "HEAD";
    caching_get(&c, "/", NULL);
    c.method = "";
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    caching_pass(&c, 61000);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\nETag: \"2\"\r\n", "two");
    c.method = "HEAD";
    caching_get(&c, "/", NULL);
    c.method = "";
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "two", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    caching_stop(&c);
}

static void http_cache__variants_are_stored_apart(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    static const char *const languages[] = {"Accept-Language: en", "Accept-Language: de", "Accept-Language: fr"};
    for (size_t i = 0; i < 3; i++) {
        caching_reply(&c, "/", "Cache-Control: max-age=60\r\nVary: Accept-Language, X-B\r\n", languages[i]);
        caching_get(&c, "/", languages[i]);
        caching_expect(&c, 200, languages[i], NC_CACHE_OUTCOME_NETWORK,
                       i == 0 ? NC_CACHE_REASON_ABSENT : NC_CACHE_REASON_VARIES);
    }
    for (size_t i = 0; i < 3; i++) {
        caching_get(&c, "/", languages[i]);
        caching_expect(&c, 200, languages[i], NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    }
    c.method = "POST"; // invalidates all variants
    caching_get(&c, "/", NULL);
    c.method = "";
    caching_get(&c, "/", languages[1]);
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_NETWORK);
    caching_stop(&c);
}

/* --- invalidation --- */

static void http_cache__an_unsafe_request_invalidates(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    static const char *const paths[] = {"/a", "/b", "/c", "/d"};
    for (size_t i = 0; i < 4; i++) {
        caching_reply(&c, paths[i], "Cache-Control: max-age=60\r\n", paths[i]);
        caching_get(&c, paths[i], NULL);
    }
    caching_script(&c, "/a", (nct_reply){.status = 201, .headers = "Location: /b\r\nContent-Location: /c\r\n"});
    c.method = "PUT";
    c.uses_policy = false; // an unsafe request invalidates without a policy too
    caching_get(&c, "/a", NULL);
    c.method = "";
    c.uses_policy = true;
    for (size_t i = 0; i < 4; i++) {
        caching_get(&c, paths[i], NULL);
        assert_int_equal(c.report.outcome, i < 3 ? NC_CACHE_OUTCOME_NETWORK : NC_CACHE_OUTCOME_HIT);
    }
    caching_status(&c, "/d", 500, "");
    c.method = "DELETE";
    caching_get(&c, "/d", NULL);
    c.method = "";
    caching_get(&c, "/d", NULL);
    assert_int_equal(c.report.outcome, NC_CACHE_OUTCOME_HIT); // the failed request changed nothing
    caching_stop(&c);
}

static void http_cache__a_post_response_with_its_location_is_stored(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_reply(&c, "/", "Cache-Control: max-age=60\r\nContent-Location: /\r\n", "posted");
    c.method = "POST";
    caching_get(&c, "/", NULL);
    assert_true(c.report.is_stored);
    c.method = "";
    caching_get(&c, "/", NULL);
    caching_expect(&c, 200, "posted", NC_CACHE_OUTCOME_HIT, NC_CACHE_REASON_FRESH);
    caching_stop(&c);
}

static void http_cache__a_redirected_response_is_not_stored(void **state) {
    caching c;
    (void)state;
    caching_start(&c, NULL);
    caching_script(&c, "/from", (nct_reply){.location = "/to", .headers = "Cache-Control: max-age=60\r\n"});
    caching_reply(&c, "/to", "Cache-Control: max-age=60\r\n", "there");
    caching_get(&c, "/from", NULL);
    caching_expect(&c, 200, "there", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
    assert_false(c.report.is_stored);
    caching_stop(&c);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(http_cache__a_fresh_response_is_used),
        harness_case(http_cache__a_stale_response_is_revalidated),
        harness_case(http_cache__a_304_for_another_version_is_sent_again),
        harness_case(http_cache__a_new_response_replaces_or_removes_the_stored_one),
        harness_case(http_cache__cache_only_never_sends),
        harness_case(http_cache__no_store_stores_nothing),
        harness_case(http_cache__stale_while_revalidate_fetches_in_the_background),
        harness_case(http_cache__a_failure_is_replaced_by_the_stored_response),
        harness_case(http_cache__a_response_is_stale_from_the_end_of_its_lifetime),
        harness_case(http_cache__head_ranges_and_conditions_use_the_stored_response),
        harness_case(http_cache__a_head_response_updates_or_invalidates),
        harness_case(http_cache__variants_are_stored_apart),
        harness_case(http_cache__an_unsafe_request_invalidates),
        harness_case(http_cache__a_post_response_with_its_location_is_stored),
        harness_case(http_cache__a_redirected_response_is_not_stored),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
