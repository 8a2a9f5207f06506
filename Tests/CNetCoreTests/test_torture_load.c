/// Many transfers in flight, many that wait, and threads that submit, cancel and wait.
#include "torture.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1000, WAITING = 2000, PER_HOST = 6, THREADS = 64, EACH = 50, WAITERS = 32, PAGE_BYTES = 5000 };
enum { CLOSE_MS = 10000, LONG_MS = 60000 };

static nct_server *scenario_server(nct_identity identity) {
    nct_server *server = torture_start(identity);
    const nct_reply page = {.pattern_length = PAGE_BYTES, .chunk_bytes = 700};
    const nct_reply stalled = {.pattern_length = PAGE_BYTES, .is_cut = true, .cut_after = 800, .ending = NCT_STALL};
    const nct_reply silent = {.pattern_length = PAGE_BYTES, .is_cut = true, .ending = NCT_STALL};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    assert_int_equal(nct_server_script(server, "/stalled", &stalled), 0);
    assert_int_equal(nct_server_script(server, "/silent", &silent), 0);
    return server;
}

/* --- transfers --- */

static void transfers__a_thousand_concurrent_ones_all_complete(void **state) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    nct_server *server = scenario_server(NCT_PLAIN);
    nc_request request = {.url = torture_url(url, "http", server, "/stalled")};
    for (int i = 0; i < 2; i++) {
        nc_engine *engine = torture_engine(&(nc_engine_options){
            .max_in_flight = AT_ONCE,
            .max_per_host = AT_ONCE,
            .poller = i == 0 ? NC_POLLER_AUTO : NC_POLLER_POLL,
        });
        for (size_t j = 0; j < AT_ONCE; j++) {
            (void)torture_submit(engine, &request, &fetch);
        }
        // All are in the middle of their bodies concurrently.
        assert_true(nct_server_wait_for_stalled(server, AT_ONCE, LONG_MS));
        nct_server_release_stalled(server);
        assert_true(torture_await(&fetch, AT_ONCE * (size_t)(i + 1), LONG_MS));
        assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
        assert_true(nct_server_wait_for_silence(server, TORTURE_PATIENCE_MS));
    }
    assert_int_equal(fetch.ok_count, 2 * AT_ONCE);
    assert_int_equal(fetch.done_count, 2 * AT_ONCE);
    nct_server_stop(server);
}

static void transfers__2000_waiting_for_6_slots_all_complete(void **state) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    nct_server *server = scenario_server(NCT_PLAIN);
    nc_request request = {.url = torture_url(url, "http", server, "/page")};
    nc_engine *engine = torture_engine(&(nc_engine_options){.max_per_host = PER_HOST});
    for (size_t i = 0; i < WAITING; i++) {
        (void)torture_submit(engine, &request, &fetch);
    }
    assert_true(torture_await(&fetch, WAITING, LONG_MS));
    assert_int_equal(fetch.ok_count, WAITING);
    assert_true(nct_server_connection_count(server) <= PER_HOST);
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    nct_server_stop(server);
}

/// Regression: with CURLOPT_PIPEWAIT, libcurl delayed all transfers to a host until the end of the first response.
static void transfers__are_not_blocked_by_a_silent_one_regression_1(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char silent_url[TORTURE_URL_BYTES];
        char page_url[TORTURE_URL_BYTES];
        torture_fetch silent = {0};
        torture_fetch page = {0};
        nct_server *server = scenario_server(i == 0 ? NCT_PLAIN : NCT_TLS_VALID);
        nc_trust *trust = i == 0 ? NULL : torture_trust(server);
        const char *scheme = i == 0 ? "http" : "https";
        nc_engine *engine = torture_engine(&(nc_engine_options){.trust = trust});
        nc_request first = {.url = torture_url(silent_url, scheme, server, "/silent")};
        nc_request second = {.url = torture_url(page_url, scheme, server, "/page")};
        (void)torture_submit(engine, &first, &silent);
        for (int j = 0; j < PER_HOST - 1; j++) {
            (void)torture_submit(engine, &second, &page);
        }
        if (!torture_await(&page, PER_HOST - 1, TORTURE_PATIENCE_MS / 4)) {
            fail_msg("%s: a silent transfer holds up %zu others", scheme, PER_HOST - 1 - page.done_count);
        }
        assert_int_equal(page.ok_count, PER_HOST - 1);
        assert_int_equal(silent.done_count, 0);
        assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
        assert_int_equal(silent.cancelled_count, 1);
        nc_trust_release(trust);
        nct_server_stop(server);
    }
}

/// The server closes each connection without an announcement. libcurl resends the request, but limits the number of
/// resends over a handle's whole life.
static void transfers__survive_connections_that_closed_while_idle_regression_2(void **state) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    const nct_reply page = {.pattern_length = PAGE_BYTES, .ending = NCT_CLOSE};
    (void)state;
    nct_server *server = torture_start(NCT_TLS_VALID);
    nc_trust *trust = torture_trust(server);
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    nc_engine *engine = torture_engine(&(nc_engine_options){.trust = trust});
    nc_request request = {.url = torture_url(url, "https", server, "/page")};
    for (size_t i = 1; i <= EACH; i++) {
        (void)torture_submit(engine, &request, &fetch);
        assert_true(torture_await(&fetch, i, TORTURE_PATIENCE_MS));
        assert_status(fetch.status, NC_OK);
    }
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    nc_trust_release(trust);
    nct_server_stop(server);
}

/* --- threads --- */

typedef struct load_fixture {
    nc_engine *engine;
    nct_server *server;
    torture_fetch fetch;
    atomic_size_t next_seed;
    atomic_size_t failures;
    nc_transfer_id shared_id;
    atomic_size_t next_index;
} load_fixture;

static void run_threads(size_t count, void *(*body)(void *), load_fixture *all) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, body, all), 0);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

/// Cancels its own and its neighbours' transfers, by nearby numbers.
static void *submit_and_cancel(void *argument) {
    load_fixture *all = argument;
    char url[TORTURE_URL_BYTES];
    uint64_t chance = atomic_fetch_add(&all->next_seed, 1);
    const nc_sink sink = torture_sink(&all->fetch);
    for (size_t i = 0; i < EACH; i++) {
        bool is_stalled = torture_next(&chance) % 4 == 0;
        nc_request request = {.url = torture_url(url, "http", all->server, is_stalled ? "/stalled" : "/page")};
        nc_transfer_id id = 0;
        if (nc_engine_submit(all->engine, &request, &sink, &id, NULL) != NC_OK) {
            atomic_fetch_add(&all->failures, 1);
            continue;
        }
        if (is_stalled || torture_next(&chance) % 3 == 0) {
            nc_engine_cancel(all->engine, id);
            nc_engine_cancel(all->engine, id - torture_next(&chance) % 16);
        }
    }
    return NULL;
}

static void threads__64_submitting_and_cancelling_lose_no_transfer(void **state) {
    (void)state;
    load_fixture all = {.server = scenario_server(NCT_PLAIN), .engine = torture_engine(NULL)};
    run_threads(THREADS, submit_and_cancel, &all);
    assert_int_equal(all.failures, 0);
    assert_true(torture_await(&all.fetch, THREADS * EACH, LONG_MS));
    print_message("%d threads: %zu OK, %zu cancelled\n", THREADS, all.fetch.ok_count, all.fetch.cancelled_count);
    assert_int_equal(all.fetch.ok_count + all.fetch.cancelled_count, THREADS * EACH);
    assert_status(nc_engine_close(all.engine, CLOSE_MS), NC_OK);
    assert_int_equal(all.fetch.done_count, THREADS * EACH);
    nct_server_stop(all.server);
}

static void *submit_and_wait(void *argument) {
    load_fixture *all = argument;
    char url[TORTURE_URL_BYTES];
    for (size_t i = 0; i < EACH; i++) {
        nc_request request = {.url = torture_url(url, "http", all->server, "/page")};
        nc_transfer_id id = 0;
        nc_response *response = NULL;
        bool is_right = nc_engine_submit(all->engine, &request, NULL, &id, NULL) == NC_OK;
        // A wait that times out does not affect the transfer.
        nc_status status = is_right ? nc_engine_wait(all->engine, id, 0, &response, NULL) : NC_ERR_USAGE;
        if (status == NC_ERR_WAIT_TIMED_OUT) {
            status = nc_engine_wait(all->engine, id, LONG_MS, &response, NULL);
        }
        is_right = is_right && status == NC_OK && nc_response_body(response).length == PAGE_BYTES;
        nc_response_release(response);
        atomic_fetch_add(&all->failures, is_right ? 0 : 1);
    }
    return NULL;
}

static void threads__many_each_wait_for_their_own_transfer(void **state) {
    (void)state;
    load_fixture all = {.server = scenario_server(NCT_PLAIN), .engine = torture_engine(NULL)};
    run_threads(WAITERS, submit_and_wait, &all);
    assert_int_equal(all.failures, 0);
    assert_status(nc_engine_close(all.engine, CLOSE_MS), NC_OK);
    nct_server_stop(all.server);
}

static void *wait_for_shared(void *argument) {
    load_fixture *all = argument;
    nc_response *response = NULL;
    nc_status status = nc_engine_wait(all->engine, all->shared_id, LONG_MS, &response, NULL);
    if (status == NC_OK) {
        atomic_fetch_add(&all->next_index, 1);
    } else if (status != NC_ERR_USAGE || response != NULL) {
        atomic_fetch_add(&all->failures, 1);
    }
    nc_response_release(response);
    return NULL;
}

static void *release_stalled(void *argument) {
    load_fixture *all = argument;
    if (!nct_server_wait_for_stalled(all->server, 1, TORTURE_PATIENCE_MS)) {
        atomic_fetch_add(&all->failures, 1);
    }
    nct_server_release_stalled(all->server);
    return NULL;
}

static void threads__exactly_one_of_many_receives_a_shared_result(void **state) {
    char url[TORTURE_URL_BYTES];
    pthread_t releaser;
    (void)state;
    load_fixture all = {.server = scenario_server(NCT_PLAIN), .engine = torture_engine(NULL)};
    nc_request request = {.url = torture_url(url, "http", all.server, "/stalled")};
    assert_status(nc_engine_submit(all.engine, &request, NULL, &all.shared_id, NULL), NC_OK);
    assert_int_equal(pthread_create(&releaser, NULL, release_stalled, &all), 0);
    run_threads(WAITERS, wait_for_shared, &all);
    assert_int_equal(pthread_join(releaser, NULL), 0);
    assert_int_equal(all.failures, 0);
    assert_int_equal(all.next_index, 1);
    assert_status(nc_engine_close(all.engine, CLOSE_MS), NC_OK);
    nct_server_stop(all.server);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(transfers__a_thousand_concurrent_ones_all_complete),
        harness_case(transfers__2000_waiting_for_6_slots_all_complete),
        harness_case(transfers__are_not_blocked_by_a_silent_one_regression_1),
        harness_case(transfers__survive_connections_that_closed_while_idle_regression_2),
        harness_case(threads__64_submitting_and_cancelling_lose_no_transfer),
        harness_case(threads__many_each_wait_for_their_own_transfer),
        harness_case(threads__exactly_one_of_many_receives_a_shared_result),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
