/// Calls of a client: retries over a real server, cancellation, the end of a client.
#include "fixture.h"

#include <math.h>
#include <netcore/client.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/// Retries without delays, unless the server requires one.
static nc_retry_policy quick_policy(void) {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    policy.base_delay_ms = 0;
    return policy;
}

static nc_client *start_client(fixture *f, const nc_client_options *options) {
    nc_client *client;
    nc_error err;
    assert_status(nc_client_new(&client, f->engine, options, &err), NC_OK);
    return client;
}

static nc_client *start_quick_client(fixture *f) {
    nc_retry_policy policy = quick_policy();
    return start_client(f, &(nc_client_options){.retry = &policy});
}

static nc_call *start_call(nc_client *client, const nc_request *request, const nc_call_options *options) {
    nc_call *call;
    nc_error err;
    assert_status(nc_client_send(client, request, options, NULL, &call, &err), NC_OK);
    return call;
}

/// Waits for a call. The fixture releases the response.
static answer wait_call(nc_call *call) {
    answer a = {.response = NULL};
    nc_status status = nc_call_wait(call, FIXTURE_LIMIT_MS, &a.response, &a.error);
    assert_status(status, a.error.status);
    assert_true(status != NC_ERR_WAIT_TIMED_OUT);
    return a;
}

static void script(fixture *f, const char *path, const nct_reply *replies, size_t count) {
    assert_int_equal(nct_server_script_sequence(f->server, path, replies, count), 0);
}

static const nct_reply unavailable = {.status = 503, .body = "no", .body_length = 2};
static const nct_reply success = {.body = "yes", .body_length = 3};

static void client__a_temporary_status_is_sent_again(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    script(&f, "/", (const nct_reply[]){unavailable, unavailable, success}, 3);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 200, "yes");
    assert_int_equal(nc_call_attempt_count(call), 3);
    assert_int_equal(nc_call_attempt_at(call, 0).http_status, 503);
    assert_int_equal(nc_call_attempt_at(call, 1).reason, NC_RETRY_BACKOFF);
    assert_int_equal(nc_call_attempt_at(call, 2).http_status, 200);
    assert_int_equal(nc_call_attempt_at(call, 2).reason, NC_RETRY_NOT_NEEDED);
    assert_int_equal(nc_call_attempt_at(call, 3).http_status, 0);
    assert_int_equal(nct_server_request_count(f.server), 3);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__the_last_response_is_returned(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    fixture_script(&f, "/", unavailable);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 503, "no");
    assert_int_equal(nc_call_attempt_count(call), 4);
    assert_int_equal(nc_call_attempt_at(call, 3).reason, NC_RETRY_NO_ATTEMPTS_LEFT);
    nc_response_release(a.response);
    nc_call_release(call);
    call = start_call(client, &request, &(nc_call_options){.is_sent_once = true});
    a = wait_call(call);
    assert_int_equal(nc_call_attempt_count(call), 1);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__without_a_policy_each_request_is_sent_once(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_client(&f, NULL);
    nc_retry_policy policy = quick_policy();
    script(&f, "/", (const nct_reply[]){unavailable, unavailable, success}, 3);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 503, "no");
    nc_response_release(a.response);
    nc_call_release(call);
    call = start_call(client, &request, &(nc_call_options){.retry = &policy});
    a = wait_call(call);
    assert_response(a, 200, "yes");
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

/* --- bodies --- */

typedef struct text_source {
    const char *text;
    size_t at;
    unsigned rewinds;
} text_source;

static nc_pull pull_text(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    text_source *source = ctx;
    (void)id;
    size_t left = strlen(source->text) - source->at;
    *filled = left < capacity ? left : capacity;
    memcpy(bytes, source->text + source->at, *filled);
    source->at += *filled;
    return *filled == left ? NC_PULL_END : NC_PULL_MORE;
}

static bool rewind_text(void *ctx, nc_transfer_id id, uint64_t offset) {
    text_source *source = ctx;
    (void)id;
    source->at = offset;
    source->rewinds++;
    return true;
}

static void client__a_body_is_sent_whole_each_time(void **state) {
    fixture f;
    text_source source = {.text = "from a source"};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    script(&f, "/", (const nct_reply[]){unavailable, {.is_echo = true}}, 2);
    nc_request request = fixture_request(&f, "/");
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){&source, pull_text, rewind_text};
    request.body_length = strlen(source.text);
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 200, "from a source");
    assert_int_equal(source.rewinds, 1);
    nc_response_release(a.response);
    nc_call_release(call);
    // The client has a copy of a body in memory.
    script(&f, "/", (const nct_reply[]){unavailable, {.is_echo = true}}, 2);
    char *body = strdup("in memory");
    request = fixture_request(&f, "/");
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of(body);
    call = start_call(client, &request, NULL);
    memset(body, 'x', strlen(body));
    free(body);
    a = wait_call(call);
    assert_response(a, 200, "in memory");
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__a_source_without_rewind_is_sent_once(void **state) {
    fixture f;
    text_source source = {.text = "once"};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    script(&f, "/", (const nct_reply[]){unavailable, success}, 2);
    nc_request request = fixture_request(&f, "/");
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){&source, pull_text, NULL};
    request.body_length = 4;
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 503, "no");
    assert_int_equal(nc_call_attempt_at(call, 0).reason, NC_RETRY_NOT_REPEATABLE);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

/* --- errors --- */

static void client__a_closed_connection_is_replaced(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    script(&f, "/", (const nct_reply[]){{.is_cut = true, .ending = NCT_CLOSE}, success}, 2);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 200, "yes");
    assert_status(nc_call_attempt_at(call, 0).status, NC_ERR_EMPTY_REPLY);
    nc_response_release(a.response);
    nc_call_release(call);
    // A POST on a new connection may have had an effect.
    script(&f, "/", (const nct_reply[]){{.is_cut = true, .ending = NCT_CLOSE}, success}, 2);
    request.method = nc_slice_of("POST");
    nc_header close_field = {nc_slice_of("Connection"), nc_slice_of("close")};
    request.headers = &close_field;
    request.header_count = 1;
    assert_true(nct_server_wait_for_requests(f.server, 2, FIXTURE_LIMIT_MS));
    nc_client *other = start_quick_client(&f);
    call = start_call(other, &request, NULL);
    a = wait_call(call);
    bool is_reused = nc_call_attempt_count(call) > 1;
    assert_true(is_reused || a.error.status == NC_ERR_EMPTY_REPLY);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(other), NC_OK);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__retry_after_longer_than_the_limit_is_final(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    nct_reply busy = {.status = 429, .headers = "Retry-After: 61\r\n"};
    nct_reply soon = {.status = 429, .headers = "Retry-After: 0\r\n"};
    script(&f, "/", (const nct_reply[]){soon, busy, success}, 3);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 429, "");
    assert_int_equal(nc_call_attempt_count(call), 2);
    assert_int_equal(nc_call_attempt_at(call, 0).reason, NC_RETRY_SERVER_DELAY);
    assert_int_equal(nc_call_attempt_at(call, 1).reason, NC_RETRY_SERVER_DELAY_TOO_LONG);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__an_exhausted_budget_ends_retries(void **state) {
    fixture f;
    nc_retry_budget *budget;
    nc_retry_policy policy = quick_policy();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_status(nc_retry_budget_new(&budget, 0, 2), NC_OK);
    nc_client *client = start_client(&f, &(nc_client_options){.retry = &policy, .budget = budget});
    fixture_script(&f, "/", unavailable);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 503, "no");
    assert_int_equal(nc_call_attempt_count(call), 3);
    assert_int_equal(nc_call_attempt_at(call, 2).reason, NC_RETRY_NO_BUDGET);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    nc_retry_budget_free(budget);
    fixture_stop(&f);
}

static bool fill_half(void *ctx, uint8_t *bytes, size_t length) {
    (void)ctx;
    memset(bytes, 0, length);
    bytes[0] = 0x80;
    return true;
}

static void client__the_delay_is_random(void **state) {
    fixture f;
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    nc_random random = {NULL, fill_half};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    policy.base_delay_ms = 10;
    nc_client *client = start_client(&f, &(nc_client_options){.retry = &policy, .random = &random});
    script(&f, "/", (const nct_reply[]){unavailable, unavailable, success}, 3);
    nc_request request = fixture_request(&f, "/");
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_response(a, 200, "yes");
    assert_int_equal(nc_call_attempt_at(call, 0).delay_ms, 5);
    assert_int_equal(nc_call_attempt_at(call, 1).delay_ms, 10);
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

/* --- ends --- */

typedef struct counted_sink {
    atomic_uint count;
    nc_status status;
} counted_sink;

static void count_done(void *ctx, nc_call *call, nc_response *response, const nc_error *error) {
    counted_sink *sink = ctx;
    nc_response *own;
    (void)response;
    sink->status = error->status;
    // The client's thread cannot wait for itself.
    assert_status(nc_call_wait(call, 0, &own, NULL), NC_ERR_USAGE);
    nc_call_cancel(call); // has no effect any more
    atomic_fetch_add(&sink->count, 1);
}

static void client__a_cancelled_call_ends_once(void **state) {
    fixture f;
    nc_error err;
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    policy.base_delay_ms = FIXTURE_LIMIT_MS * 10;
    policy.max_delay_ms = policy.base_delay_ms;
    policy.has_no_jitter = true;
    nc_client *client = start_client(&f, &(nc_client_options){.retry = &policy});
    fixture_script(&f, "/stall", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    fixture_script(&f, "/delay", unavailable);
    static const char *const paths[] = {"/stall", "/delay"};
    for (size_t i = 0; i < 2; i++) {
        counted_sink counts = {.status = NC_OK};
        nc_call *call;
        nc_response *response;
        nc_call_sink sink = {&counts, count_done};
        nc_request request = fixture_request(&f, paths[i]);
        assert_status(nc_client_send(client, &request, NULL, &sink, &call, &err), NC_OK);
        assert_true(nct_server_wait_for_requests(f.server, i + 1, FIXTURE_LIMIT_MS));
        while (i == 1 && nc_call_attempt_count(call) == 0) {
            sched_yield(); // until the delay has begun
        }
        nc_call_cancel(call);
        nc_call_cancel(call);
        assert_status(nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err), NC_ERR_CANCELLED);
        assert_null(response);
        nc_call_cancel(call);
        assert_status(nc_client_wait_idle(client, FIXTURE_LIMIT_MS), NC_OK);
        assert_int_equal(counts.count, 1);
        assert_status(counts.status, NC_ERR_CANCELLED);
        nc_call_release(call);
    }
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__closing_ends_all_calls(void **state) {
    fixture f;
    nc_error err;
    enum { CALLS = 20 };
    counted_sink counts = {.status = NC_OK};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    fixture_script(&f, "/", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/");
    nc_call_sink sink = {&counts, count_done};
    nc_call *kept;
    assert_status(nc_client_send(client, &request, NULL, NULL, &kept, &err), NC_OK);
    for (int i = 0; i < CALLS; i++) {
        assert_status(nc_client_send(client, &request, NULL, &sink, NULL, &err), NC_OK);
    }
    assert_status(nc_client_wait_idle(client, 1), NC_ERR_WAIT_TIMED_OUT);
    assert_status(nc_client_close(client), NC_OK);
    assert_int_equal(counts.count, CALLS);
    nc_response *response;
    assert_status(nc_call_wait(kept, 0, &response, &err), NC_ERR_CANCELLED); // after the end of the client
    nc_call_cancel(kept);
    nc_call_release(kept);
    assert_status(nc_client_close(NULL), NC_OK);
    fixture_stop(&f);
}

static void client__the_total_limit_covers_all_attempts(void **state) {
    fixture f;
    nc_retry_policy policy = quick_policy();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    policy.base_delay_ms = 200;
    policy.has_no_jitter = true;
    nc_client *client = start_client(&f, &(nc_client_options){.retry = &policy});
    fixture_script(&f, "/", unavailable);
    nc_request request = fixture_request(&f, "/");
    request.limits.total_ms = 150; // a delay of 200 ms does not fit
    nc_call *call = start_call(client, &request, NULL);
    answer a = wait_call(call);
    assert_int_equal(nc_call_attempt_count(call), 1);
    if (a.error.status == NC_OK) { // otherwise this machine needed the whole time for one request
        assert_int_equal(nc_call_attempt_at(call, 0).reason, NC_RETRY_NO_TIME_LEFT);
    }
    nc_response_release(a.response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void client__wrong_usage_is_refused(void **state) {
    fixture f;
    nc_error err;
    nc_call *call = NULL;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_client *client = start_quick_client(&f);
    nc_request request = {.url = nc_slice_of("ftp://h/")};
    assert_status(nc_client_send(client, &request, NULL, NULL, &call, &err), NC_ERR_BAD_SCHEME);
    request = fixture_request(&f, "/");
    assert_status(nc_client_send(client, &request, NULL, &(nc_call_sink){0}, &call, &err), NC_ERR_USAGE);
    for (int i = 0; i < 5; i++) {
        nc_cache_policy policy = NC_CACHE_POLICY_INIT;
        policy.mode = i == 0 ? (nc_cache_mode)5 : NC_CACHE_MODE_DEFAULT;
        policy.stale_while_revalidate_ms = i == 1 ? -1 : 0;
        policy.stale_if_error_ms = i == 2 ? INT64_MIN : 0;
        policy.heuristic_max_ms = i == 3 ? -1 : 0;
        policy.heuristic_fraction = i == 4 ? (double)NAN : 1;
        assert_status(nc_client_send(client, &request, &(nc_call_options){.cache = &policy}, NULL, &call, &err),
                      NC_ERR_USAGE);
    }
    assert_null(call);
    nc_call_release(NULL);
    assert_status(nc_client_close(client), NC_OK);
    fixture_stop(&f);
}

static void exchange(void *ctx) {
    fixture *f = ctx;
    nc_client *client = NULL;
    nc_retry_policy policy = quick_policy();
    nc_error err;
    nc_call *call = NULL;
    nc_request request = fixture_request(f, "/");
    if (nc_client_new(&client, f->engine, &(nc_client_options){.retry = &policy}, &err) != NC_OK) {
        return;
    }
    if (nc_client_send(client, &request, NULL, NULL, &call, &err) == NC_OK) {
        answer a = wait_call(call);
        assert_true(a.error.status != NC_OK || nc_response_status(a.response) == 200);
        nc_response_release(a.response);
        nc_call_release(call);
    }
    assert_status(nc_client_close(client), NC_OK);
}

static void client__every_allocation_may_fail(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", success);
    exchange(&f);
    size_t before = harness_live_blocks();
    exchange(&f);
    assert_true(harness_live_blocks() <= before + 8); // the engine may keep a connection
    for (uint64_t nth = 1; nth < 12; nth++) {
        harness_fail_allocation(nth);
        exchange(&f);
        harness_fail_allocation(0);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(client__a_temporary_status_is_sent_again),
        harness_case(client__the_last_response_is_returned),
        harness_case(client__without_a_policy_each_request_is_sent_once),
        harness_case(client__a_body_is_sent_whole_each_time),
        harness_case(client__a_source_without_rewind_is_sent_once),
        harness_case(client__a_closed_connection_is_replaced),
        harness_case(client__retry_after_longer_than_the_limit_is_final),
        harness_case(client__an_exhausted_budget_ends_retries),
        harness_case(client__the_delay_is_random),
        harness_case(client__a_cancelled_call_ends_once),
        harness_case(client__closing_ends_all_calls),
        harness_case(client__the_total_limit_covers_all_attempts),
        harness_case(client__wrong_usage_is_refused),
        harness_case(client__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
