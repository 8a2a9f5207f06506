/// The pool of worker threads for blocking jobs. A job waits for a thread, and for no other job while the pool can
/// grow.
#include "gate.h"
#include "harness.h"

#include "base/worker.h"

#include <stdatomic.h>
#include <time.h>

/// The number of rounds. A single round can miss the fault, if a thread is between two jobs and not yet idle.
enum { ROUNDS = 50, JOBS = 64, THREADS = 2, WATCHDOG_S = 60 };

static const nc_trace NO_TRACE = {NULL, NULL};

/// A point where jobs wait for each other.
typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned expected;
    unsigned arrived;
    unsigned timed_out;
} meeting;

#define MEETING_OF(count)                                                                                              \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, (count), 0, 0 }

typedef struct meeting_job {
    nc_work work; // first member: the job's address is that of this struct
    meeting *at;
} meeting_job;

static void wait_at_meeting(nc_work *work) {
    meeting *at = ((meeting_job *)work)->at;
    struct timespec until;
    int code = clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WATCHDOG_S;
    pthread_mutex_lock(&at->mutex);
    at->arrived++;
    pthread_cond_broadcast(&at->condition);
    while (at->arrived < at->expected && code == 0) {
        code = pthread_cond_timedwait(&at->condition, &at->mutex, &until);
    }
    at->timed_out += code != 0;
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

static void worker__runs_two_jobs_concurrently_although_only_one_thread_is_idle(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        nc_worker *worker = worker_of(THREADS);
        opener first = {.work.run = open_gate, .done = GATE_INIT};
        meeting both = MEETING_OF(THREADS);
        meeting_job guests[THREADS];
        assert_status(nc_worker_submit(worker, &first.work), NC_OK);
        gate_wait(&first.done); // from here on there is one idle thread
        for (size_t i = 0; i < THREADS; i++) {
            guests[i] = (meeting_job){.work.run = wait_at_meeting, .at = &both};
            assert_status(nc_worker_submit(worker, &guests[i].work), NC_OK);
        }
        nc_worker_free(worker);
        assert_int_equal(both.arrived, THREADS);
        assert_int_equal(both.timed_out, 0);
    }
}

static void worker__starts_a_thread_for_each_job_up_to_its_limit(void **state) {
    enum { MANY = 8 };
    (void)state;
    nc_worker *worker = worker_of(MANY);
    meeting all = MEETING_OF(MANY);
    meeting_job guests[MANY];
    for (size_t i = 0; i < MANY; i++) {
        guests[i] = (meeting_job){.work.run = wait_at_meeting, .at = &all};
        assert_status(nc_worker_submit(worker, &guests[i].work), NC_OK);
    }
    nc_worker_free(worker);
    assert_int_equal(all.timed_out, 0);
}

typedef struct counting_job {
    nc_work work; // first
    atomic_uint *running;
    atomic_uint *highest;
    atomic_uint *done;
} counting_job;

static void count(nc_work *work) {
    counting_job *one = (counting_job *)work;
    unsigned now = atomic_fetch_add(one->running, 1) + 1;
    unsigned highest = atomic_load(one->highest);
    while (highest < now && !atomic_compare_exchange_weak(one->highest, &highest, now)) {
    }
    (void)atomic_fetch_add(one->done, 1);
    (void)atomic_fetch_sub(one->running, 1);
}

static void worker__runs_every_job_within_its_thread_limit(void **state) {
    (void)state;
    nc_worker *worker = worker_of(THREADS);
    atomic_uint figures[3] = {0, 0, 0};
    counting_job jobs[JOBS];
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = (counting_job){{.run = count}, &figures[0], &figures[1], &figures[2]};
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
        harness_case(worker__runs_two_jobs_concurrently_although_only_one_thread_is_idle),
        harness_case(worker__starts_a_thread_for_each_job_up_to_its_limit),
        harness_case(worker__runs_every_job_within_its_thread_limit),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
