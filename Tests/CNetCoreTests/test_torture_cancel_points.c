/// A cancel at every point of the trace table. The seed chooses the pass, the cancelling thread, and further commands
/// at the same moment. Every transfer of the scripted exchange ends once, and the others end with their expected
/// result.
#include "scripted.h"

#include <netcore/transfers.h>
#include <stdio.h>

enum { CLOSE_MS = 20000, DRY_RUNS = 5 };

/// The action at the chosen moment.
typedef enum action {
    ACTION_NONE,
    ACTION_HOOK,      // the thread that passed the point cancels
    ACTION_HOOK_ALL,  // it cancels all transfers
    ACTION_OTHER,     // another thread cancels, while the one that passed the point waits for it
    ACTION_RACE,      // another thread cancels, without a wait
    ACTION_PAUSE,     // pause and resume, and no cancel
    ACTION_PAUSED,    // pause, then cancel
    ACTION_RESUMED,   // cancel, resume, pause
    ACTION_PRIORITY,  // priorities, then cancel
    ACTION_SUSPENDED, // the queue is suspended, a cancel, the queue is resumed
    ACTION_RELEASE,   // cancel, then the engine is released
    ACTION_CLOSE,     // the engine is closed
    ACTION_COUNT,
} action;

typedef struct cancel_point {
    // Set before the engine starts.
    nc_trace_point point;
    size_t occurrence;
    action action;
    uint64_t chance;
    // While it runs.
    atomic_size_t counts[NC_TRACE_COUNT];
    nc_engine *_Atomic engine;
    _Atomic nc_transfer_id ids[SCENARIO_TRANSFERS]; // in the order of submission
    atomic_size_t id_count;
    atomic_ullong victims; // a bit for each id
    atomic_bool is_performed;
    torture_gate handed; // main no longer uses the engine, except to end it
    torture_gate stopped;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    nc_transfer_id target;
    bool is_ordered;
    bool is_waited_for; // by the thread that passed the point
    bool is_done;
    bool is_over; // no command will follow
    bool is_ending;
} cancel_point;

/* --- actions --- */

static void cancel(cancel_point *at, nc_transfer_id id) {
    atomic_fetch_or(&at->victims, 1ull << (id % 64)); // the ids of one engine are few and small
    nc_engine_cancel(at->engine, id);
}

static void cancel_all(cancel_point *at) {
    for (size_t i = 0; i < SCENARIO_TRANSFERS; i++) {
        nc_transfer_id id = atomic_load(&at->ids[i]);
        if (id != 0) {
            cancel(at, id);
        }
    }
}

/// Chooses the transfer to cancel: mostly the one that passes the trace point, sometimes another one.
static nc_transfer_id choose(const cancel_point *at, nc_transfer_id id) {
    nc_transfer_id other = atomic_load(&at->ids[at->chance / 7 % SCENARIO_TRANSFERS]);
    return id == 0 || at->chance % 4 == 0 ? other : id;
}

static void perform(cancel_point *at) {
    nc_engine *engine = at->engine;
    nc_transfer_id id = at->target;
    switch (at->action) {
    case ACTION_PAUSE:
    case ACTION_PAUSED:
        nc_engine_pause(engine, id);
        if (at->chance % 4 < 2 && !at->is_waited_for) {
            torture_let_loop_read(engine);
        }
        if (at->action == ACTION_PAUSED) {
            cancel(at, id);
        }
        nc_engine_resume(engine, id);
        break;
    case ACTION_RESUMED:
        cancel(at, id);
        nc_engine_resume(engine, id);
        nc_engine_pause(engine, id);
        nc_engine_resume(engine, id);
        break;
    case ACTION_PRIORITY:
        nc_engine_set_priority(engine, id, NC_PRIORITY_HIGH);
        nc_engine_set_priority(engine, atomic_load(&at->ids[at->chance % SCENARIO_TRANSFERS]), NC_PRIORITY_LOW);
        cancel(at, id);
        break;
    case ACTION_SUSPENDED:
        nc_engine_set_suspended(engine, true);
        cancel(at, id);
        nc_engine_set_suspended(engine, false);
        break;
    case ACTION_RELEASE:
        cancel(at, id);
        (void)torture_gate_wait(&at->handed);
        nc_engine_release(engine);
        break;
    case ACTION_CLOSE:
        (void)torture_gate_wait(&at->handed);
        assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
        break;
    default:
        cancel(at, id);
        break;
    }
}

static bool ends_engine(action what) {
    return what == ACTION_RELEASE || what == ACTION_CLOSE;
}

static void *action_thread(void *argument) {
    cancel_point *at = argument;
    pthread_mutex_lock(&at->mutex);
    while (!at->is_ordered && !at->is_over) {
        pthread_cond_wait(&at->changed, &at->mutex);
    }
    bool is_ordered = at->is_ordered;
    pthread_mutex_unlock(&at->mutex);
    if (is_ordered) {
        perform(at);
    }
    pthread_mutex_lock(&at->mutex);
    at->is_done = true;
    pthread_cond_broadcast(&at->changed);
    pthread_mutex_unlock(&at->mutex);
    return NULL;
}

/// Makes the other thread perform the action. While the engine is being released, another thread may use it only if
/// this hook waits for that thread. An engine that is ending cannot be ended again.
static void order(cancel_point *at, nc_transfer_id target) {
    pthread_mutex_lock(&at->mutex);
    if (!(at->is_ending && ends_engine(at->action))) {
        at->target = target;
        at->is_ordered = true;
        at->is_waited_for = at->action == ACTION_OTHER || at->is_ending;
        pthread_cond_broadcast(&at->changed);
        while (at->is_waited_for && !at->is_done) {
            pthread_cond_wait(&at->changed, &at->mutex);
        }
    }
    pthread_mutex_unlock(&at->mutex);
}

static void on_point(void *ctx, nc_trace_point point, nc_transfer_id id) {
    cancel_point *at = ctx;
    size_t count = atomic_fetch_add(&at->counts[point], 1) + 1;
    if (point == NC_TRACE_SUBMITTED) {
        atomic_store(&at->ids[atomic_fetch_add(&at->id_count, 1) % SCENARIO_TRANSFERS], id);
    }
    bool is_chosen_point = at->action != ACTION_NONE && point == at->point && count >= at->occurrence;
    if (is_chosen_point && point == NC_TRACE_ENGINE_STARTED) {
        (void)torture_gate_wait(&at->handed); // until then, no transfer has been submitted
    }
    // The engine passes some points before nc_engine_new() returns (while it loads a cookie jar). The action then
    // happens when the point is passed again.
    if (is_chosen_point && atomic_load(&at->engine) != NULL && !atomic_exchange(&at->is_performed, true)) {
        if (at->action == ACTION_HOOK_ALL) {
            cancel_all(at);
        } else if (at->action == ACTION_HOOK) {
            cancel(at, choose(at, id));
        } else {
            order(at, choose(at, id));
        }
    }
    if (point == NC_TRACE_ENGINE_STOPPED) {
        torture_gate_open(&at->stopped);
    }
}

static bool drain(void *ctx, uint32_t max_jobs) {
    (void)ctx;
    (void)max_jobs;
    return false;
}

/* --- one run --- */

static void submit_all(cancel_point *at, scenario_servers *stage, scenario_transfer *parts) {
    nc_transfer_id none = 0;
    nc_request refused = {.url = nc_slice_of("no url")};
    assert_status(nc_engine_submit(at->engine, &refused, NULL, &none, NULL), NC_ERR_BAD_URL);
    assert_int_equal(scenario_submit(stage, at->engine, parts), SCENARIO_TRANSFERS);
    assert_true(nc_engine_wake(at->engine));
    nc_engine_cancel(at->engine, parts[SCENARIO_CANCELLED].id);
}

static bool has_thread(const cancel_point *at) {
    return at->action > ACTION_HOOK_ALL;
}

static bool is_ended_by_other(const cancel_point *at) {
    return at->is_ordered && ends_engine(at->action);
}

/// Ends the engine, unless the other thread has ended it, and waits for both threads.
static void end_run(cancel_point *at, const pthread_t *thread) {
    pthread_mutex_lock(&at->mutex);
    at->is_ending = true;
    bool is_ended = is_ended_by_other(at);
    while (at->is_ordered && !at->is_done) {
        pthread_cond_wait(&at->changed, &at->mutex);
    }
    pthread_mutex_unlock(&at->mutex);
    if (!is_ended) {
        assert_status(nc_engine_close(at->engine, CLOSE_MS), NC_OK);
    }
    pthread_mutex_lock(&at->mutex);
    at->is_over = true;
    pthread_cond_broadcast(&at->changed);
    pthread_mutex_unlock(&at->mutex);
    if (has_thread(at)) {
        assert_int_equal(pthread_join(*thread, NULL), 0);
    }
    assert_true(torture_gate_wait(&at->stopped));
}

static void run(cancel_point *at, scenario_servers *stage) {
    char when[160];
    pthread_t thread;
    scenario_transfer parts[SCENARIO_TRANSFERS];
    (void)snprintf(when, sizeof when, ", action at %s number %zu (action %d, chance %llu)", nc_trace_name(at->point),
                   at->occurrence, (int)at->action, (unsigned long long)at->chance);
    if (has_thread(at)) {
        assert_int_equal(pthread_create(&thread, NULL, action_thread, at), 0);
    }
    at->engine = scenario_engine(stage, (nc_trace){at, on_point}, (nc_loop_client){.ctx = at, .drain = drain});
    submit_all(at, stage, parts);
    torture_gate_open(&at->handed);
    for (size_t i = 0; i < SCENARIO_TRANSFERS; i++) {
        if (!torture_await(&parts[i].fetch, 1, TORTURE_PATIENCE_MS)) {
            fail_msg("%s%s: hangs", scenario_name(parts[i].kind), when);
        }
    }
    end_run(at, &thread);
    for (size_t i = 0; i < SCENARIO_TRANSFERS; i++) {
        scenario_check(&parts[i], is_ended_by_other(at) || (at->victims >> (parts[i].id % 64) & 1) != 0, when);
        scenario_transfer_deinit(&parts[i]);
    }
    scenario_check_files(stage);
}

/* --- all runs --- */

static cancel_point moment_of(nc_trace_point point, size_t occurrence, uint64_t chance) {
    return (cancel_point){
        .point = point,
        .occurrence = occurrence,
        .action = occurrence == 0 ? ACTION_NONE : (action)(1 + chance % (ACTION_COUNT - 1)),
        .chance = chance / 64,
        .handed = TORTURE_GATE_INIT,
        .stopped = TORTURE_GATE_INIT,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
}

/// How often exchanges without an action pass each point: every exchange at least `always` times, at least one exchange
/// `once` times.
typedef struct tally {
    size_t always[NC_TRACE_COUNT];
    size_t once[NC_TRACE_COUNT];
} tally;

static void count_points(scenario_servers *stage, tally *out) {
    *out = (tally){.once = {0}};
    for (size_t i = 0; i < DRY_RUNS; i++) {
        cancel_point at = moment_of(NC_TRACE_COUNT, 0, 0);
        run(&at, stage);
        for (size_t point = 0; point < NC_TRACE_COUNT; point++) {
            size_t count = atomic_load(&at.counts[point]);
            out->once[point] = out->once[point] > count ? out->once[point] : count;
            out->always[point] = i > 0 && out->always[point] < count ? out->always[point] : count;
        }
    }
    for (size_t point = 0; point < NC_TRACE_COUNT; point++) {
        if (out->once[point] == 0) {
            fail_msg("%s is never passed", nc_trace_name((nc_trace_point)point));
        }
        out->always[point] = out->always[point] > 0 ? out->always[point] : 1;
    }
}

/// Chooses at which passing of the point to act: sometimes one that always happens, sometimes a later one that may not.
static size_t choose_occurrence(const tally *counts, size_t point, size_t number, uint64_t chance) {
    return 1 + chance / 4096 % (number % 2 == 0 ? counts->always[point] : counts->once[point]);
}

static void cancel__at_every_trace_point_with_any_seed_ends_each_transfer_once(void **state) {
    scenario_servers stage;
    tally counts;
    (void)state;
    size_t seeds = (size_t)torture_number("NETCORE_TORTURE_SEEDS", 8);
    uint64_t seed = torture_seed();
    uint64_t began_ms = torture_now_ms();
    size_t runs = 0;
    size_t struck = 0;
    size_t fewest = seeds;
    scenario_start(&stage);
    size_t descriptors = torture_open_descriptors();
    count_points(&stage, &counts);
    // For debugging, NETCORE_TORTURE_POINT selects a single point.
    size_t only = (size_t)torture_number("NETCORE_TORTURE_POINT", NC_TRACE_COUNT);
    for (size_t point = 0; point < NC_TRACE_COUNT; point++) {
        size_t hits = 0;
        if (only != NC_TRACE_COUNT && only != point) {
            continue;
        }
        for (size_t i = 0; i < seeds; i++) {
            uint64_t chance = torture_mix(seed, point << 32 | i);
            cancel_point at = moment_of((nc_trace_point)point, choose_occurrence(&counts, point, i, chance), chance);
            run(&at, &stage);
            runs++;
            hits += atomic_load(&at.counts[point]) >= at.occurrence;
        }
        struck += hits;
        if (seeds >= 100) {
            print_message("%s: %zu of %zu\n", nc_trace_name((nc_trace_point)point), hits, seeds);
        }
        fewest = hits < fewest ? hits : fewest;
    }
    print_message("%d points, %zu seeds: %zu runs, %zu with their action, at least %zu at each point; %llu ms\n",
                  (int)NC_TRACE_COUNT, seeds, runs, struck, fewest, (unsigned long long)(torture_now_ms() - began_ms));
    assert_true(only != NC_TRACE_COUNT || fewest >= seeds / 8);
    assert_true(nct_server_wait_for_silence(stage.plain, TORTURE_PATIENCE_MS));
    assert_true(nct_server_wait_for_silence(stage.tls, TORTURE_PATIENCE_MS));
    assert_true(torture_wait_for_descriptors(descriptors));
    scenario_stop(&stage);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cancel__at_every_trace_point_with_any_seed_ends_each_transfer_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
