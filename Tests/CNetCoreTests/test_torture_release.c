/// Engines are released at difficult moments: inside each callback, from other threads, many concurrently, and while
/// other threads wait for them.
#include "torture.h"

#include <string.h>

enum { CLOSE_MS = 10000, IN_FLIGHT = 500, CROWD = 200 };

/* --- inside callbacks --- */

/// The callback that releases the engine.
typedef enum callback_kind { IN_HEAD, IN_BODY, IN_DONE, IN_BURST, IN_DRAIN, MOMENT_COUNT } callback_kind;

typedef struct release_fixture {
    callback_kind when;
    nc_engine *_Atomic engine;
    torture_fetch fetch;
    torture_gate is_published;
    torture_gate is_released;
} release_fixture;

/// Releases the engine once. On the loop thread, close() fails first and must leave the engine unchanged.
static void release_at(release_fixture *at, callback_kind when) {
    // The owner must have no other call of the engine running when it releases the engine.
    if (at->when != when || !torture_gate_wait(&at->is_published)) {
        return;
    }
    nc_engine *engine = atomic_exchange(&at->engine, NULL);
    if (engine != NULL && nc_engine_close(engine, 1000) == NC_ERR_USAGE) {
        nc_engine_release(engine);
    }
}

static nc_action on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    release_at(ctx, IN_HEAD);
    return NC_ACTION_CONTINUE;
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    (void)bytes;
    release_at(ctx, IN_BODY);
    return NC_ACTION_CONTINUE;
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    release_fixture *at = ctx;
    nc_sink inner = torture_sink(&at->fetch);
    release_at(at, IN_DONE);
    inner.on_done(inner.ctx, id, response, error);
}

static void burst_done(void *ctx) {
    release_at(ctx, IN_BURST);
}

static bool drain(void *ctx, uint32_t max_jobs) {
    (void)max_jobs;
    release_at(ctx, IN_DRAIN);
    return false;
}

static void open_release_gate(void *ctx) {
    torture_gate_open(&((release_fixture *)ctx)->is_released);
}

static void release_inside(nct_server *server, callback_kind when, nc_poller_choice poller) {
    char fast_url[TORTURE_URL_BYTES];
    char stalled_url[TORTURE_URL_BYTES];
    release_fixture at = {.when = when, .is_published = TORTURE_GATE_INIT, .is_released = TORTURE_GATE_INIT};
    torture_fetch stalled = {0};
    nc_transfer_id id = 0;
    const nc_sink sink = {.ctx = &at, .on_head = on_head, .on_body = on_body, .on_done = on_done};
    nc_request fast = {.url = torture_url(fast_url, "http", server, "/moved")};
    nc_request slow = {.url = torture_url(stalled_url, "http", server, "/stalled")};
    nc_engine *engine = torture_engine(&(nc_engine_options){
        .poller = poller,
        .loop_client = {.ctx = &at, .drain = drain, .burst_done = burst_done, .release = open_release_gate},
    });
    (void)torture_submit(engine, &slow, &stalled);
    assert_true(nct_server_wait_for_stalled(server, 1, TORTURE_PATIENCE_MS));
    assert_status(nc_engine_submit(engine, &fast, &sink, &id, NULL), NC_OK);
    assert_true(nc_engine_wake(engine));
    at.engine = engine;
    torture_gate_open(&at.is_published);
    if (!torture_gate_wait(&at.is_released)) {
        fail_msg("released at moment %d, the engine lives on", (int)when);
    }
    assert_null(at.engine);
    assert_int_equal(at.fetch.done_count, 1);
    assert_true(at.fetch.status == NC_OK || at.fetch.status == NC_ERR_CANCELLED);
    assert_int_equal(stalled.done_count, 1);
    assert_status(stalled.status, NC_ERR_CANCELLED);
    assert_true(nct_server_wait_for_silence(server, TORTURE_PATIENCE_MS));
}

static nct_server *scenario_server(void) {
    nct_server *server = torture_start(NCT_PLAIN);
    const nct_reply page = {.pattern_length = 50000, .chunk_bytes = 1000};
    const nct_reply moved = {.location = "/page"};
    const nct_reply stalled = {.pattern_length = 1000, .is_cut = true, .cut_after = 300, .ending = NCT_STALL};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    assert_int_equal(nct_server_script(server, "/moved", &moved), 0);
    assert_int_equal(nct_server_script(server, "/stalled", &stalled), 0);
    return server;
}

static void release__inside_any_callback_ends_each_transfer_once(void **state) {
    (void)state;
    nct_server *server = scenario_server();
    uint64_t rounds = torture_number("NETCORE_TORTURE_ROUNDS", 20);
    for (uint64_t round = 0; round < rounds; round++) {
        for (int when = 0; when < MOMENT_COUNT; when++) {
            release_inside(server, (callback_kind)when, round % 2 == 0 ? NC_POLLER_AUTO : NC_POLLER_POLL);
        }
    }
    nct_server_stop(server);
}

/* --- from other threads --- */

static void *release_thread(void *engine) {
    nc_engine_release(engine);
    return NULL;
}

static void release__with_500_transfers_in_flight_ends_each_once(void **state) {
    char url[TORTURE_URL_BYTES];
    static torture_fetch fetches[IN_FLIGHT];
    pthread_t thread;
    (void)state;
    memset(fetches, 0, sizeof fetches);
    nct_server *server = scenario_server();
    release_fixture at = {.when = MOMENT_COUNT, .is_released = TORTURE_GATE_INIT};
    nc_engine *engine = torture_engine(&(nc_engine_options){
        .max_in_flight = IN_FLIGHT,
        .max_per_host = IN_FLIGHT,
        .loop_client = {.ctx = &at, .release = open_release_gate},
    });
    nc_request request = {.url = torture_url(url, "http", server, "/stalled")};
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        (void)torture_submit(engine, &request, &fetches[i]);
    }
    assert_true(nct_server_wait_for_stalled(server, IN_FLIGHT, TORTURE_PATIENCE_MS));
    assert_int_equal(pthread_create(&thread, NULL, release_thread, engine), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(torture_gate_wait(&at.is_released));
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        assert_int_equal(fetches[i].done_count, 1);
        assert_status(fetches[i].status, NC_ERR_CANCELLED);
    }
    nct_server_stop(server);
}

/* --- crowds --- */

static void release__of_200_engines_concurrently_leaks_nothing(void **state) {
    char url[TORTURE_URL_BYTES];
    static nc_engine *engines[CROWD];
    static torture_fetch fetches[CROWD];
    (void)state;
    memset(fetches, 0, sizeof fetches);
    nct_server *server = scenario_server();
    size_t descriptors = torture_open_descriptors();
    nc_request request = {.url = torture_url(url, "http", server, "/page")};
    for (size_t i = 0; i < CROWD; i++) {
        engines[i] = torture_engine(NULL);
        (void)torture_submit(engines[i], &request, &fetches[i]);
    }
    for (size_t i = 0; i < CROWD; i++) {
        nc_engine_release(engines[i]);
    }
    for (size_t i = 0; i < CROWD; i++) {
        assert_true(torture_await(&fetches[i], 1, TORTURE_PATIENCE_MS));
        assert_int_equal(fetches[i].done_count, 1);
        assert_true(fetches[i].status == NC_OK || fetches[i].status == NC_ERR_CANCELLED);
    }
    assert_true(torture_wait_for_descriptors(descriptors));
    nct_server_stop(server);
}

static void release__right_after_new_needs_no_transfer(void **state) {
    (void)state;
    size_t descriptors = torture_open_descriptors();
    for (size_t i = 0; i < CROWD; i++) {
        nc_engine_release(torture_engine(NULL));
    }
    assert_true(torture_wait_for_descriptors(descriptors));
}

/* --- closing --- */

static void close__returns_after_all_due_callbacks(void **state) {
    char url[TORTURE_URL_BYTES];
    (void)state;
    nct_server *server = scenario_server();
    nc_request request = {.url = torture_url(url, "http", server, "/stalled")};
    release_fixture at = {.when = MOMENT_COUNT, .is_released = TORTURE_GATE_INIT};
    torture_fetch fetch = {0};
    nc_engine *engine = torture_engine(&(nc_engine_options){.loop_client = {.ctx = &at, .release = open_release_gate}});
    for (size_t i = 0; i < 20; i++) {
        (void)torture_submit(engine, &request, &fetch);
    }
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    assert_int_equal(fetch.done_count, 20);
    assert_int_equal(fetch.cancelled_count, 20);
    assert_true(at.is_released.is_open);
    nct_server_stop(server);
}

/// Blocks the loop's last drain until the gate opens.
static bool drain_at_gate(void *ctx, uint32_t max_jobs) {
    (void)max_jobs;
    (void)torture_gate_wait(ctx);
    return false;
}

static void close__does_not_return_ok_while_loop_callbacks_still_run(void **state) {
    (void)state;
    torture_gate gate = TORTURE_GATE_INIT;
    nc_engine *engine = torture_engine(&(nc_engine_options){.loop_client = {.ctx = &gate, .drain = drain_at_gate}});
    // The client's last drain runs after the loop's own work. Close must not return before, because the caller then
    // frees the data that the drain uses.
    assert_status(nc_engine_close(engine, 30), NC_ERR_WAIT_TIMED_OUT);
    torture_gate_open(&gate);
    assert_true(harness_wait_for_live_blocks(0, TORTURE_PATIENCE_MS));
}

static void *wait_thread(void *argument) {
    void **pair = argument;
    nc_response *response = NULL;
    nc_status status = nc_engine_wait(pair[0], *(nc_transfer_id *)pair[1], TORTURE_PATIENCE_MS, &response, NULL);
    nc_response_release(response);
    return status == NC_ERR_CANCELLED ? pair[0] : NULL;
}

static void cancel__wakes_threads_that_wait_for_transfers(void **state) {
    enum { WAITERS = 8 };
    char url[TORTURE_URL_BYTES];
    pthread_t threads[WAITERS];
    nc_transfer_id ids[WAITERS];
    void *pairs[WAITERS][2];
    (void)state;
    nct_server *server = scenario_server();
    nc_engine *engine = torture_engine(&(nc_engine_options){.max_per_host = WAITERS});
    nc_request request = {.url = torture_url(url, "http", server, "/stalled")};
    for (size_t i = 0; i < WAITERS; i++) {
        assert_status(nc_engine_submit(engine, &request, NULL, &ids[i], NULL), NC_OK);
        pairs[i][0] = engine;
        pairs[i][1] = &ids[i];
        assert_int_equal(pthread_create(&threads[i], NULL, wait_thread, pairs[i]), 0);
    }
    assert_true(nct_server_wait_for_stalled(server, WAITERS, TORTURE_PATIENCE_MS));
    // The engine may be closed only when no thread is inside a call. So the waits are ended by cancels first.
    for (size_t i = 0; i < WAITERS; i++) {
        nc_engine_cancel(engine, ids[i]);
    }
    for (size_t i = 0; i < WAITERS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    nct_server_stop(server);
}

static void close__frees_unclaimed_results(void **state) {
    char url[TORTURE_URL_BYTES];
    nc_transfer_id id = 0;
    (void)state;
    nct_server *server = scenario_server();
    nc_engine *engine = torture_engine(NULL);
    nc_request request = {.url = torture_url(url, "http", server, "/page")};
    for (size_t i = 0; i < 20; i++) {
        assert_status(nc_engine_submit(engine, &request, NULL, &id, NULL), NC_OK);
    }
    assert_true(nct_server_wait_for_requests(server, 5, TORTURE_PATIENCE_MS));
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    nct_server_stop(server);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(release__inside_any_callback_ends_each_transfer_once),
        harness_case(release__with_500_transfers_in_flight_ends_each_once),
        harness_case(release__of_200_engines_concurrently_leaks_nothing),
        harness_case(release__right_after_new_needs_no_transfer),
        harness_case(close__returns_after_all_due_callbacks),
        harness_case(close__does_not_return_ok_while_loop_callbacks_still_run),
        harness_case(cancel__wakes_threads_that_wait_for_transfers),
        harness_case(close__frees_unclaimed_results),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
