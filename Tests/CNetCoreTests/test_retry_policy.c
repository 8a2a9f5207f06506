/// The decision whether a request is sent again, without a network.
#include "harness.h"

#include <netcore/multipart.h>
#include <stdio.h>
#include <string.h>

#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
#define NOW_MS INT64_C(784111777000)

static nc_retry_attempt with_status(uint16_t status) {
    return (nc_retry_attempt){.is_repeatable = true,
                              .http_status = status,
                              .hop_count = 1,
                              .has_first_byte = true,
                              .left_ms = NC_RETRY_NO_LIMIT,
                              .now_ms = NOW_MS,
                              .random = 1};
}

static nc_retry_attempt with_error(nc_status status) {
    nc_retry_attempt attempt = with_status(0);
    attempt.status = status;
    attempt.has_first_byte = false;
    return attempt;
}

static nc_retry_decision decide(nc_retry_attempt attempt) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    return nc_retry_decide(&policy, &attempt);
}

static void retry__temporary_statuses_are_sent_again(void **state) {
    (void)state;
    for (uint16_t status = 100; status < 600; status++) {
        bool is_temporary = status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
        nc_retry_decision decision = decide(with_status(status));
        assert_int_equal(decision.is_retry, is_temporary);
        assert_int_equal(decision.reason, is_temporary ? NC_RETRY_BACKOFF : NC_RETRY_NOT_NEEDED);
        assert_int_equal(decision.delay_ms, is_temporary ? 200 : 0);
    }
}

static void retry__the_delay_doubles_up_to_its_limit(void **state) {
    static const uint64_t delays[] = {1000, 2000, 4000, 8000, 10000, 10000};
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    (void)state;
    policy.max_retries = UINT32_MAX;
    policy.base_delay_ms = 1000;
    policy.max_delay_ms = 10000;
    for (uint32_t i = 0; i < 6; i++) {
        nc_retry_attempt attempt = with_status(503);
        attempt.retries = i;
        assert_int_equal(nc_retry_decide(&policy, &attempt).delay_ms, delays[i]);
    }
    nc_retry_attempt late = with_status(503);
    late.retries = UINT32_MAX - 1;
    assert_int_equal(nc_retry_decide(&policy, &late).delay_ms, 10000);
    policy.base_delay_ms = UINT32_MAX;
    policy.max_delay_ms = UINT32_MAX;
    assert_int_equal(nc_retry_decide(&policy, &late).delay_ms, UINT32_MAX);
}

static void retry__jitter_is_a_part_of_the_interval(void **state) {
    static const struct {
        double random;
        uint64_t delay_ms;
    } rows[] = {{0, 0}, {0.25, 50}, {0.5, 100}, {1, 200}, {7, 200}, {-1, 0}, {__builtin_nan(""), 0}};
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_retry_attempt attempt = with_status(503);
        attempt.random = rows[i].random;
        assert_int_equal(nc_retry_decide(&policy, &attempt).delay_ms, rows[i].delay_ms);
    }
    policy.has_no_jitter = true;
    nc_retry_attempt attempt = with_status(503);
    attempt.random = 0;
    assert_int_equal(nc_retry_decide(&policy, &attempt).delay_ms, 200);
}

static void retry__attempts_end_after_the_limit(void **state) {
    (void)state;
    nc_retry_attempt attempt = with_status(503);
    attempt.retries = 2;
    assert_true(decide(attempt).is_retry);
    attempt.retries = 3;
    assert_int_equal(decide(attempt).reason, NC_RETRY_NO_ATTEMPTS_LEFT);
}

static void retry__attempts_end_when_the_time_is_used_up(void **state) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    nc_retry_attempt attempt = with_status(503);
    (void)state;
    policy.max_elapsed_ms = 5000;
    attempt.elapsed_ms = 4999; // an attempt may start later than the limit, but not be decided later
    assert_true(nc_retry_decide(&policy, &attempt).is_retry);
    attempt.elapsed_ms = 5000;
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_NO_TIME_LEFT);
    attempt.elapsed_ms = 0;
    attempt.left_ms = 200; // the delay alone takes this long
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_NO_TIME_LEFT);
    attempt.left_ms = 201;
    assert_true(nc_retry_decide(&policy, &attempt).is_retry);
    attempt.left_ms = 0;
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_NO_TIME_LEFT);
}

static void retry__only_idempotent_methods_are_sent_again(void **state) {
    static const struct {
        const char *method;
        bool is_idempotent;
    } rows[] = {{"", true},      {"GET", true},    {"HEAD", true},   {"OPTIONS", true}, {"TRACE", true},
                {"QUERY", true}, {"PUT", true},    {"DELETE", true}, {"POST", false},   {"PATCH", false},
                {"get", false},  {"OTHER", false}, {"put", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_retry_policy policy = NC_RETRY_POLICY_INIT;
        nc_retry_attempt attempt = with_status(503);
        attempt.method = nc_slice_of(rows[i].method);
        assert_int_equal(nc_retry_decide(&policy, &attempt).is_retry, rows[i].is_idempotent);
        if (!rows[i].is_idempotent) {
            assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_NOT_IDEMPOTENT);
        }
        nc_retry_attempt failed = with_error(NC_ERR_IDLE_TIMED_OUT);
        failed.method = attempt.method;
        assert_int_equal(nc_retry_decide(&policy, &failed).is_retry, rows[i].is_idempotent);
        attempt.has_idempotency_key = true;
        assert_true(nc_retry_decide(&policy, &attempt).is_retry);
        policy.retries_any_method = true;
        assert_true(nc_retry_decide(&policy, &failed).is_retry);
    }
}

static void retry__a_request_that_reached_no_server_is_sent_again_with_any_method(void **state) {
    static const nc_status statuses[] = {NC_ERR_RESOLVE,     NC_ERR_CONNECT,           NC_ERR_REFUSED,
                                         NC_ERR_UNREACHABLE, NC_ERR_CONNECT_TIMED_OUT, NC_ERR_SLOT_TIMED_OUT};
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        nc_retry_attempt attempt = with_error(statuses[i]);
        attempt.method = nc_slice_of("POST");
        assert_true(decide(attempt).is_retry);
        attempt.hop_count = 2; // a redirect: a server has acted on the request
        assert_int_equal(decide(attempt).reason, NC_RETRY_NOT_IDEMPOTENT);
    }
}

static void retry__a_post_is_sent_again_only_if_a_reused_connection_was_closed(void **state) {
    static const nc_status statuses[] = {NC_ERR_EMPTY_REPLY, NC_ERR_RESET, NC_ERR_SEND, NC_ERR_RECEIVE};
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        nc_retry_attempt attempt = with_error(statuses[i]);
        attempt.method = nc_slice_of("POST");
        assert_false(decide(attempt).is_retry);
        attempt.is_reused = true;
        assert_true(decide(attempt).is_retry);
        attempt.has_first_byte = true;
        assert_false(decide(attempt).is_retry);
        attempt.has_first_byte = false;
        attempt.http_status = 100;
        assert_false(decide(attempt).is_retry);
        attempt.http_status = 0;
        attempt.hop_count = 2;
        assert_false(decide(attempt).is_retry);
        attempt.hop_count = 0;
        assert_false(decide(attempt).is_retry);
        attempt.method = nc_slice_of("PUT");
        assert_true(decide(attempt).is_retry);
    }
}

static void retry__permanent_errors_are_final(void **state) {
    static const nc_status statuses[] = {NC_ERR_BAD_URL,   NC_ERR_CANCELLED,  NC_ERR_BODY_SOURCE,
                                         NC_ERR_TOO_LARGE, NC_ERR_BAD_CODING, NC_ERR_TLS_EXPIRED};
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    (void)state;
    policy.retries_any_error = true;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        nc_retry_attempt attempt = with_error(statuses[i]);
        assert_int_equal(decide(attempt).reason, NC_RETRY_NOT_NEEDED);
        bool is_local = statuses[i] < 40 || statuses[i] >= 150;
        assert_int_equal(nc_retry_decide(&policy, &attempt).is_retry, !is_local);
    }
}

static void retry__a_proxy_that_refused_credentials_is_not_asked_again(void **state) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    nc_retry_attempt attempt = with_error(NC_ERR_PROXY);
    (void)state;
    assert_true(decide(attempt).is_retry);
    attempt.http_status = 502;
    assert_true(decide(attempt).is_retry);
    attempt.http_status = 407;
    assert_int_equal(decide(attempt).reason, NC_RETRY_NOT_NEEDED);
    policy.retries_any_error = true;
    assert_true(nc_retry_decide(&policy, &attempt).is_retry);
}

static void retry__a_body_that_is_read_once_is_sent_once(void **state) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    nc_retry_attempt attempt = with_error(NC_ERR_REFUSED);
    (void)state;
    policy.retries_any_method = true;
    policy.retries_any_error = true;
    attempt.is_repeatable = false;
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_NOT_REPEATABLE);
}

/* --- Retry-After --- */

static void check_after(const char *value, const char *date, bool is_valid, uint64_t expected_ms) {
    nc_header fields[2] = {{nc_slice_of("retry-after"), nc_slice_of(value)}, {nc_slice_of("Date"), nc_slice_of(date)}};
    uint64_t delay_ms = 77;
    assert_int_equal(nc_retry_after(&delay_ms, fields, date != NULL ? 2 : 1, NOW_MS), is_valid);
    assert_int_equal(delay_ms, is_valid ? expected_ms : 77);
}

static void retry__retry_after_is_read_in_seconds_or_as_a_date(void **state) {
    (void)state;
    check_after("7", NULL, true, 7000);
    check_after(" 7 ", NULL, true, 7000);
    check_after("0", NULL, true, 0);
    check_after("99999999999999999999999999", NULL, true, (UINT64_C(1) << 40) * 1000);
    check_after("Sun, 06 Nov 1994 08:49:44 GMT", NULL, true, 7000);
    check_after("Sunday, 06-Nov-94 08:49:44 GMT", NULL, true, 7000);
    check_after("Sun Nov  6 08:49:44 1994", NULL, true, 7000);
    // The server's clock decides.
    check_after("Mon, 07 Nov 1994 08:49:44 GMT", "Mon, 07 Nov 1994 08:49:37 GMT", true, 7000);
    check_after("Mon, 07 Nov 1994 08:49:44 GMT", "Mon, 07 Nov 1994 08:49:44 GMT", false, 0);
    check_after("Mon, 07 Nov 1994 08:49:44 GMT", "Mon, 07 Nov 1994 08:50:00 GMT", false, 0);
    check_after("Sun, 06 Nov 1994 08:49:44 GMT", "yesterday", true, 7000);
    check_after(DATE, NULL, false, 0);
    static const char *const malformed[] = {"-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:44", "7, 8"};
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        check_after(malformed[i], NULL, false, 0);
    }
    uint64_t delay_ms;
    assert_false(nc_retry_after(&delay_ms, NULL, 0, NOW_MS));
    nc_header far = {nc_slice_of("Retry-After"), nc_slice_of("Fri, 31 Dec 9999 23:59:59 GMT")};
    assert_false(nc_retry_after(&delay_ms, &far, 1, INT64_MIN)); // the difference does not fit
    assert_true(nc_retry_after(&delay_ms, &far, 1, 0));
}

static void retry__retry_after_is_the_delay_within_the_limits(void **state) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    nc_header field = {nc_slice_of("Retry-After"), nc_slice_of("5")};
    nc_retry_attempt attempt = with_status(503);
    (void)state;
    attempt.headers = &field;
    attempt.header_count = 1;
    attempt.random = 0;
    nc_retry_decision decision = nc_retry_decide(&policy, &attempt);
    assert_true(decision.is_retry && decision.delay_ms == 5000 && decision.reason == NC_RETRY_SERVER_DELAY);
    policy.max_elapsed_ms = 5000;
    assert_true(nc_retry_decide(&policy, &attempt).is_retry);
    attempt.elapsed_ms = 1;
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_SERVER_DELAY_TOO_LONG);
    policy.max_elapsed_ms = 0;
    policy.max_server_delay_ms = 4999;
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_SERVER_DELAY_TOO_LONG);
    policy.max_server_delay_ms = 5000;
    attempt.left_ms = 5000;
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_NO_TIME_LEFT);
    attempt.left_ms = 5001;
    assert_true(nc_retry_decide(&policy, &attempt).is_retry);
    field.value = nc_slice_of("soon"); // malformed: the usual delay
    assert_int_equal(nc_retry_decide(&policy, &attempt).reason, NC_RETRY_BACKOFF);
}

/* --- attempts and budget --- */

static nc_pull pull_nothing(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx, (void)id, (void)bytes, (void)capacity;
    *filled = 0;
    return NC_PULL_END;
}

static bool rewind_nothing(void *ctx, nc_transfer_id id, uint64_t offset) {
    (void)ctx, (void)id, (void)offset;
    return true;
}

static void retry__an_attempt_describes_its_request(void **state) {
    nc_header key = {nc_slice_of("idempotency-key"), nc_slice_of("1")};
    nc_request request = {.method = nc_slice_of("POST"), .headers = &key, .header_count = 1};
    (void)state;
    nc_retry_attempt attempt = nc_retry_attempt_of(&request, NULL, NC_ERR_REFUSED);
    assert_true(attempt.has_idempotency_key && attempt.is_repeatable && attempt.status == NC_ERR_REFUSED);
    assert_true(attempt.left_ms == NC_RETRY_NO_LIMIT);
    request.body_source.pull = pull_nothing;
    assert_false(nc_retry_attempt_of(&request, NULL, NC_OK).is_repeatable);
    request.body_source.seek = rewind_nothing;
    assert_true(nc_retry_attempt_of(&request, NULL, NC_OK).is_repeatable);
    request.body_source = (nc_body_source){0};
    assert_status(nc_multipart_new(&request.multipart, NULL, NULL), NC_OK);
    assert_status(nc_multipart_add_field(request.multipart, nc_slice_of("a"), nc_slice_of("b"), NULL), NC_OK);
    assert_true(nc_retry_attempt_of(&request, NULL, NC_OK).is_repeatable);
    nc_part part = {.name = nc_slice_of("s"), .source = {NULL, pull_nothing, rewind_nothing}};
    assert_status(nc_multipart_add(request.multipart, &part, NULL), NC_OK);
    assert_true(nc_retry_attempt_of(&request, NULL, NC_OK).is_repeatable);
    part.source.seek = NULL;
    assert_status(nc_multipart_add(request.multipart, &part, NULL), NC_OK);
    assert_false(nc_retry_attempt_of(&request, NULL, NC_OK).is_repeatable);
    nc_multipart_release(request.multipart);
}

static void retry__a_budget_limits_retries_in_proportion_to_calls(void **state) {
    nc_retry_budget *budget;
    uint32_t retries = 0;
    (void)state;
    assert_status(nc_retry_budget_new(&budget, 0.2, 10), NC_OK);
    assert_int_equal(nc_retry_budget_remaining(budget), 10);
    for (int call = 0; call < 1000; call++) {
        nc_retry_budget_add(budget);
        retries += nc_retry_budget_take(budget) ? 1 : 0;
    }
    assert_true(retries >= 209 && retries <= 210);
    assert_int_equal(nc_retry_budget_remaining(budget), 0);
    nc_retry_budget_free(budget);
    assert_status(nc_retry_budget_new(&budget, -1, 1), NC_ERR_USAGE);
    assert_status(nc_retry_budget_new(&budget, __builtin_nan(""), 1), NC_ERR_USAGE);
    assert_status(nc_retry_budget_new(&budget, 0, 0), NC_OK);
    assert_false(nc_retry_budget_take(budget));
    nc_retry_budget_free(budget);
    nc_retry_budget_free(NULL);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(retry__temporary_statuses_are_sent_again),
        harness_case(retry__the_delay_doubles_up_to_its_limit),
        harness_case(retry__jitter_is_a_part_of_the_interval),
        harness_case(retry__attempts_end_after_the_limit),
        harness_case(retry__attempts_end_when_the_time_is_used_up),
        harness_case(retry__only_idempotent_methods_are_sent_again),
        harness_case(retry__a_request_that_reached_no_server_is_sent_again_with_any_method),
        harness_case(retry__a_post_is_sent_again_only_if_a_reused_connection_was_closed),
        harness_case(retry__permanent_errors_are_final),
        harness_case(retry__a_proxy_that_refused_credentials_is_not_asked_again),
        harness_case(retry__a_body_that_is_read_once_is_sent_once),
        harness_case(retry__retry_after_is_read_in_seconds_or_as_a_date),
        harness_case(retry__retry_after_is_the_delay_within_the_limits),
        harness_case(retry__an_attempt_describes_its_request),
        harness_case(retry__a_budget_limits_retries_in_proportion_to_calls),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
