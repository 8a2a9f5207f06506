/// The end of the loop thread: nc_engine_close() joins it, nc_engine_release() detaches it.
///
/// Related tests: close__returns_after_all_due_callbacks, release__inside_any_callback_ends_each_transfer_once.
#include "gate.h"
#include "harness.h"
#include "torture.h"

#include <netcore.h>
#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 20, YIELDS = 500 };

/// Observes the end of a loop thread, by a destructor of thread-specific data. It runs after the thread's last function
/// has returned.
typedef struct thread_end {
    pthread_key_t key;
    bool is_late; // the destructor takes long
    gate may_drain;
    gate is_released; // loop_client.release was called
    gate has_ended;
    bool is_over; // written by the destructor, without synchronization except the join
    int detach_state;
} thread_end;

static void observe_end(void *value) {
    thread_end *end = value;
    pthread_attr_t attributes;
    for (int i = 0; end->is_late && i < YIELDS; i++) {
        (void)sched_yield();
    }
    assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
    assert_int_equal(pthread_attr_getdetachstate(&attributes, &end->detach_state), 0);
    (void)pthread_attr_destroy(&attributes);
    end->is_over = true;
    gate_open(&end->has_ended);
}

static bool drain(void *ctx, uint32_t max_jobs) {
    thread_end *end = ctx;
    (void)max_jobs;
    gate_wait(&end->may_drain);
    assert_int_equal(pthread_setspecific(end->key, end), 0);
    return false;
}

static void client_released(void *ctx) {
    gate_open(&((thread_end *)ctx)->is_released);
}

static nc_engine *start(thread_end *end) {
    nc_engine *engine = NULL;
    end->may_drain = (gate)GATE_INIT;
    end->is_released = (gate)GATE_INIT;
    end->has_ended = (gate)GATE_INIT;
    assert_int_equal(pthread_key_create(&end->key, observe_end), 0);
    const nc_engine_options options = {
        .loop_client = {.ctx = end, .drain = drain, .release = client_released},
    };
    assert_status(nc_engine_new(&engine, &options, NULL), NC_OK);
    return engine;
}

static void close__returns_after_the_loop_thread_has_ended(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        thread_end end = {.is_late = true};
        nc_engine *engine = start(&end);
        gate_open(&end.may_drain);
        assert_status(nc_engine_close(engine, round % 2 == 0 ? NC_UNLIMITED : 60000), NC_OK);
        assert_true(end.is_over);
        (void)pthread_key_delete(end.key);
    }
}

static void close__joins_a_loop_that_ended_before(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        thread_end end = {.is_late = true};
        nc_engine *engine = start(&end);
        gate_open(&end.may_drain);
        nc_engine_finish(engine);
        gate_wait(&end.is_released);
        assert_status(nc_engine_close(engine, 60000), NC_OK);
        assert_true(end.is_over);
        (void)pthread_key_delete(end.key);
    }
}

static void close__after_a_timeout_detaches_the_thread(void **state) {
    (void)state;
    thread_end end = {.is_late = false};
    nc_engine *engine = start(&end);
    assert_status(nc_engine_close(engine, 1), NC_ERR_WAIT_TIMED_OUT);
    gate_open(&end.may_drain);
    gate_wait(&end.has_ended);
    assert_int_equal(end.detach_state, PTHREAD_CREATE_DETACHED);
    (void)pthread_key_delete(end.key);
    assert_true(harness_wait_for_live_blocks(0, 60000));
}

static void release__detaches_the_thread(void **state) {
    (void)state;
    thread_end end = {.is_late = false};
    nc_engine *engine = start(&end);
    gate_open(&end.may_drain);
    nc_engine_release(engine);
    gate_wait(&end.has_ended);
    assert_int_equal(end.detach_state, PTHREAD_CREATE_DETACHED);
    (void)pthread_key_delete(end.key);
    assert_true(harness_wait_for_live_blocks(0, 60000));
}

static void close__leaves_openssl_usable_in_exit_handlers(void **state) {
    (void)state;
    assert_int_equal(system(torture_program("exit_after_close")), 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(close__returns_after_the_loop_thread_has_ended),
        harness_case(close__joins_a_loop_that_ended_before),
        harness_case(close__after_a_timeout_detaches_the_thread),
        harness_case(release__detaches_the_thread),
        harness_case(close__leaves_openssl_usable_in_exit_handlers),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
