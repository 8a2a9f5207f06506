/// Waiting for results, and the end of an engine.
#include "fixture.h"
#include "gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static void stall(fixture *f) {
    fixture_script(f, "/s",
                   (nct_reply){.body = "late", .body_length = 4, .is_cut = true, .cut_after = 0, .ending = NCT_STALL});
}

static nc_status wait_for(fixture *f, nc_transfer_id id, uint32_t timeout_ms, nc_error *err) {
    nc_response *response = (nc_response *)f; // must be overwritten
    nc_status status = nc_engine_wait(f->engine, id, timeout_ms, &response, err);
    assert_null(response);
    return status;
}

static void engine__a_timed_out_wait_can_be_repeated(void **state) {
    fixture f;
    nc_error err;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    stall(&f);
    nc_request request = fixture_request(&f, "/s");
    nc_transfer_id id = fixture_submit(&f, &request);
    assert_status(wait_for(&f, id, 1, &err), NC_ERR_WAIT_TIMED_OUT);
    assert_string_equal(err.message, "the transfer is still running after 1 ms");
    assert_status(wait_for(&f, id, 0, NULL), NC_ERR_WAIT_TIMED_OUT);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nct_server_release_stalled(f.server);
    assert_response(fixture_wait(&f, id), 200, "late");
    assert_status(wait_for(&f, id, 1000, &err), NC_ERR_USAGE);
    assert_non_null(strstr(err.message, "unknown transfer id"));
    fixture_stop(&f);
}

static void ignore_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)ctx;
    (void)id;
    (void)response;
    (void)error;
}

static void engine__only_known_ids_without_a_sink_can_be_waited_for(void **state) {
    fixture f;
    nc_error err;
    nc_transfer_id id;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_status(wait_for(&f, 0, NC_UNLIMITED, &err), NC_ERR_USAGE);
    assert_status(wait_for(&f, 12345, NC_UNLIMITED, &err), NC_ERR_USAGE);
    assert_status(wait_for(&f, UINT64_MAX, NC_UNLIMITED, NULL), NC_ERR_USAGE);
    stall(&f);
    const nc_sink sink = {.on_done = ignore_done};
    nc_request request = fixture_request(&f, "/s");
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, &err), NC_OK);
    assert_status(wait_for(&f, id, NC_UNLIMITED, &err), NC_ERR_USAGE);
    fixture_stop(&f);
}

static void engine__a_sink_without_on_done_is_rejected(void **state) {
    fixture f;
    nc_error err;
    nc_transfer_id id = 5;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    const nc_sink sink = {0};
    nc_request request = fixture_request(&f, "/s");
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, &err), NC_ERR_USAGE);
    assert_string_equal(err.message, "the sink has no on_done callback");
    assert_int_equal(id, 5);
    fixture_stop(&f);
}

typedef struct inside {
    nc_engine *engine;
    nc_status wait_status;
    nc_status close_status;
    bool is_on_loop;
    atomic_bool is_over;
} inside;

static void call_inside(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    inside *in = ctx;
    nc_response *none = response;
    (void)error;
    in->wait_status = nc_engine_wait(in->engine, id, NC_UNLIMITED, &none, NULL);
    in->close_status = nc_engine_close(in->engine, NC_UNLIMITED);
    in->is_on_loop = nc_engine_is_on_loop(in->engine);
    atomic_store(&in->is_over, none == NULL);
}

static void engine__the_loop_thread_can_neither_wait_nor_close(void **state) {
    fixture f;
    nc_transfer_id id;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    inside in = {.engine = f.engine};
    const nc_sink sink = {.ctx = &in, .on_done = call_inside};
    nc_request request = fixture_request(&f, "/x");
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    // The engine continues to work.
    while (!atomic_load(&in.is_over)) {
        assert_response(fixture_get(&f, "/x"), 404, "");
    }
    assert_status(in.wait_status, NC_ERR_USAGE);
    assert_status(in.close_status, NC_ERR_USAGE);
    assert_true(in.is_on_loop);
    fixture_stop(&f);
}

static void engine__unclaimed_results_are_freed(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/x", (nct_reply){.pattern_length = 100000});
    stall(&f);
    nc_request request = fixture_request(&f, "/x");
    for (size_t i = 0; i < 30; i++) {
        (void)fixture_submit(&f, &request);
    }
    assert_true(nct_server_wait_for_requests(f.server, 20, FIXTURE_LIMIT_MS));
    request = fixture_request(&f, "/s");
    (void)fixture_submit(&f, &request);
    fixture_stop(&f);
}

static void engine__cancel_ends_a_transfer_that_a_thread_waits_for(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    stall(&f);
    nc_request request = fixture_request(&f, "/s");
    nc_transfer_id id = fixture_submit(&f, &request);
    nc_engine_cancel(f.engine, id);
    assert_ended(fixture_wait(&f, id), NC_ERR_CANCELLED, 0, "cancelled");
    assert_status(wait_for(&f, id, 0, NULL), NC_ERR_USAGE);
    fixture_stop(&f);
}

typedef struct waiter {
    nc_engine *engine;
    nc_transfer_id id;
    nc_status status;
} waiter;

static void *wait_to_the_end(void *argument) {
    waiter *w = argument;
    nc_response *response = NULL;
    w->status = nc_engine_wait(w->engine, w->id, NC_UNLIMITED, &response, NULL);
    nc_response_release(response);
    return NULL;
}

static void engine__several_threads_wait_concurrently(void **state) {
    enum { COUNT = 4 };
    fixture f;
    waiter waiters[COUNT];
    pthread_t threads[COUNT];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    stall(&f);
    nc_request request = fixture_request(&f, "/s");
    for (size_t i = 0; i < COUNT; i++) {
        waiters[i] = (waiter){.engine = f.engine, .id = fixture_submit(&f, &request)};
        assert_int_equal(pthread_create(&threads[i], NULL, wait_to_the_end, &waiters[i]), 0);
    }
    assert_true(nct_server_wait_for_stalled(f.server, COUNT, FIXTURE_LIMIT_MS));
    for (size_t i = 0; i < COUNT; i++) {
        nc_engine_cancel(f.engine, waiters[i].id);
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_status(waiters[i].status, NC_ERR_CANCELLED);
    }
    fixture_stop(&f);
}

static void engine__close_waits_for_the_loop_thread_and_release_does_not(void **state) {
    nc_engine *engine;
    (void)state;
    for (int i = 0; i < 50; i++) {
        assert_status(nc_engine_new(&engine, NULL, NULL), NC_OK);
        if (i % 2 == 0) {
            nc_engine_release(engine);
        } else {
            assert_status(nc_engine_close(engine, NC_UNLIMITED), NC_OK);
        }
    }
    nc_engine_release(NULL);
    assert_status(nc_engine_close(NULL, 0), NC_OK);
}

static void hold(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    pthread_mutex_t *door = ctx;
    (void)id;
    (void)response;
    (void)error;
    pthread_mutex_lock(door);
    pthread_mutex_unlock(door);
}

static void engine__a_timed_out_close_lets_the_loop_end_by_itself(void **state) {
    pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
    fixture f;
    nc_transfer_id id;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    stall(&f);
    const nc_sink sink = {.ctx = &door, .on_done = hold};
    nc_request request = fixture_request(&f, "/s");
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    assert_int_equal(pthread_mutex_lock(&door), 0);
    assert_status(nc_engine_close(f.engine, 20), NC_ERR_WAIT_TIMED_OUT);
    f.engine = NULL;
    assert_int_equal(pthread_mutex_unlock(&door), 0);
    fixture_stop(&f);
    // The harness counts live blocks at the end of the case, so the loop must have freed its own.
    assert_true(harness_wait_for_live_blocks(0, FIXTURE_LIMIT_MS));
    pthread_mutex_lock(&door);
    pthread_mutex_unlock(&door);
}

static void engine__responses_outlive_their_engine(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/x", (nct_reply){.headers = "A: b\r\n", .pattern_length = 1000});
    answer one = fixture_get(&f, "/x");
    nc_response *retained = nc_response_retain(one.response);
    fixture_stop(&f);
    assert_int_equal(nc_response_body(retained).length, 1000);
    assert_int_equal(nc_response_body(retained).data[999], 'a' + 999 % 26);
    assert_int_equal(nc_response_header_count(retained), 2);
    nc_response_release(retained);
}

static void engine__options_that_this_system_lacks_are_rejected(void **state) {
    nc_engine *engine = NULL;
    nc_error err;
    (void)state;
    const nc_engine_options options = {.poller = NC_POLLER_KQUEUE};
    assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "the chosen poller is not available on this system");
    assert_null(engine);
}

/* --- threads after the loop's --- */

/// The name of the loop thread, and whether a later thread of that name was mistaken for it.
typedef struct thread_reuse {
    gate is_over;
    pthread_t loop;
    const nc_engine *engine;
    pthread_mutex_t door; // locked while threads start, so that all live together and have different ids
    atomic_bool has_same_id;
    atomic_bool is_mistaken;
} thread_reuse;

static void record_thread(void *ctx) {
    thread_reuse *self = ctx;
    self->loop = pthread_self();
    gate_open(&self->is_over);
}

static void *compare_thread(void *ctx) {
    thread_reuse *self = ctx;
    if (pthread_equal(self->loop, pthread_self()) != 0) {
        atomic_store(&self->has_same_id, true);
        atomic_store(&self->is_mistaken, nc_engine_is_on_loop(self->engine));
    }
    pthread_mutex_lock(&self->door);
    pthread_mutex_unlock(&self->door);
    return NULL;
}

/// Starts threads until each free id has been used.
static void use_up_names(thread_reuse *self) {
    enum { THREADS = 32 };
    pthread_t threads[THREADS];
    assert_int_equal(pthread_mutex_lock(&self->door), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, compare_thread, self), 0);
    }
    assert_int_equal(pthread_mutex_unlock(&self->door), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

/// A thread id is reused when its thread has ended.
static void engine__a_thread_with_a_reused_id_is_not_taken_for_the_loop_thread_regression_1(void **state) {
    enum { TRIES = 500 }; // until the loop thread has ended, which is not reported
    thread_reuse self = {.is_over = GATE_INIT, .door = PTHREAD_MUTEX_INITIALIZER};
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.loop_client = {.ctx = &self, .release = record_thread}});
    self.engine = f.engine;
    fixture_script(&f, "/", (nct_reply){.body = "ok", .body_length = 2});
    nc_request request = fixture_request(&f, "/");
    nc_transfer_id id = fixture_submit(&f, &request);
    nc_engine_finish(f.engine);
    gate_wait(&self.is_over);
    for (int i = 0; i < TRIES && !atomic_load(&self.has_same_id); i++) {
        use_up_names(&self);
    }
    assert_false(atomic_load(&self.is_mistaken));
    assert_response(fixture_wait(&f, id), 200, "ok");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_timed_out_wait_can_be_repeated),
        harness_case(engine__only_known_ids_without_a_sink_can_be_waited_for),
        harness_case(engine__a_sink_without_on_done_is_rejected),
        harness_case(engine__the_loop_thread_can_neither_wait_nor_close),
        harness_case(engine__unclaimed_results_are_freed),
        harness_case(engine__cancel_ends_a_transfer_that_a_thread_waits_for),
        harness_case(engine__several_threads_wait_concurrently),
        harness_case(engine__close_waits_for_the_loop_thread_and_release_does_not),
        harness_case(engine__a_timed_out_close_lets_the_loop_end_by_itself),
        harness_case(engine__responses_outlive_their_engine),
        harness_case(engine__options_that_this_system_lacks_are_rejected),
        harness_case(engine__a_thread_with_a_reused_id_is_not_taken_for_the_loop_thread_regression_1),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
