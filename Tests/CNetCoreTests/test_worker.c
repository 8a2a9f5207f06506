/// The pool of worker threads for blocking jobs. A job waits for a thread, and for no other job while the pool can
/// grow.
#include "gate.h"
#include "harness.h"

#include "base/worker.h"

#include <stdatomic.h>
#include <time.h>

/// A thread between two jobs, not yet idle, can hide the fault; with this number of rounds not every time.
enum { ROUNDS = 50, JOBS = 64, THREADS = 2, WATCHDOG_S = 60 };

static const nc_trace NO_TRACE = {NULL, NULL};

/// A point where jobs wait for each other.
typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned expected;
    unsigned arrived;
    unsigned given_up;
} meeting;

#define MEETING_OF(count)                                                                                              \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, (count), 0, 0 }

typedef struct guest {
    nc_work work; // first: a job's address is its guest's
    meeting *at;
} guest;

static void attend(nc_work *work) {
    meeting *at = ((guest *)work)->at;
    struct timespec until;
    int code = clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WATCHDOG_S;
    pthread_mutex_lock(&at->mutex);
    at->arrived++;
    pthread_cond_broadcast(&at->condition);
    while (at->arrived < at->expected && code == 0) {
        code = pthread_cond_timedwait(&at->condition, &at->mutex, &until);
    }
    at->given_up += code != 0;
    pthread_mutex_unlock(&at->mutex);
}

typedef struct opener {
    nc_work work; // first
    gate done;
} opener;

static void open_gate(nc_work *work) {
    gate_open(&((opener *)work)->done);
}

static nc_worker *worker_of(uint32_t max_threads) {
    nc_worker *worker = nc_worker_new(max_threads, NO_TRACE);
    assert_non_null(worker);
    return worker;
}

static void worker__runs_two_jobs_at_once_although_only_one_thread_is_idle(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        nc_worker *worker = worker_of(THREADS);
        opener first = {.work.run = open_gate, .done = GATE_INIT};
        meeting both = MEETING_OF(THREADS);
        guest guests[THREADS];
        assert_status(nc_worker_submit(worker, &first.work), NC_OK);
        gate_wait(&first.done); // from here on there is one idle thread
        for (size_t i = 0; i < THREADS; i++) {
            guests[i] = (guest){.work.run = attend, .at = &both};
            assert_status(nc_worker_submit(worker, &guests[i].work), NC_OK);
        }
        nc_worker_free(worker);
        assert_int_equal(both.arrived, THREADS);
        assert_int_equal(both.given_up, 0);
    }
}

static void worker__starts_a_thread_for_each_job_up_to_its_bound(void **state) {
    enum { MANY = 8 };
    (void)state;
    nc_worker *worker = worker_of(MANY);
    meeting all = MEETING_OF(MANY);
    guest guests[MANY];
    for (size_t i = 0; i < MANY; i++) {
        guests[i] = (guest){.work.run = attend, .at = &all};
        assert_status(nc_worker_submit(worker, &guests[i].work), NC_OK);
    }
    nc_worker_free(worker);
    assert_int_equal(all.given_up, 0);
}

typedef struct counted {
    nc_work work; // first
    atomic_uint *running;
    atomic_uint *most;
    atomic_uint *done;
} counted;

static void count(nc_work *work) {
    counted *one = (counted *)work;
    unsigned now = atomic_fetch_add(one->running, 1) + 1;
    unsigned most = atomic_load(one->most);
    while (most < now && !atomic_compare_exchange_weak(one->most, &most, now)) {
    }
    (void)atomic_fetch_add(one->done, 1);
    (void)atomic_fetch_sub(one->running, 1);
}

static void worker__runs_every_job_on_no_more_threads_than_it_may_have(void **state) {
    (void)state;
    nc_worker *worker = worker_of(THREADS);
    atomic_uint figures[3] = {0, 0, 0};
    counted jobs[JOBS];
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = (counted){{.run = count}, &figures[0], &figures[1], &figures[2]};
        assert_status(nc_worker_submit(worker, &jobs[i].work), NC_OK);
    }
    nc_worker_free(worker);
    assert_in_range(figures[1], 1, THREADS);
    assert_int_equal(figures[2], JOBS);
    nc_worker_free(NULL);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(worker__runs_two_jobs_at_once_although_only_one_thread_is_idle),
        harness_case(worker__starts_a_thread_for_each_job_up_to_its_bound),
        harness_case(worker__runs_every_job_on_no_more_threads_than_it_may_have),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
