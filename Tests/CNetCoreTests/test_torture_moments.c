/// A cancel at every point of the trace table. The seed chooses the pass, the cancelling thread, and further commands
/// at the same moment. Every transfer of the scripted exchange ends once, and the others end with their expected
/// result.
#include "scripted.h"

#include <netcore/transfers.h>
#include <stdio.h>

enum { CLOSE_MS = 20000, DRY_RUNS = 5 };

/// The action at the chosen moment.
typedef enum stroke {
    STROKE_NONE,
    STROKE_HOOK,      // the thread that passed the point cancels
    STROKE_HOOK_ALL,  // it cancels all transfers
    STROKE_OTHER,     // another thread cancels, while the one that passed the point waits for it
    STROKE_RACE,      // another thread cancels, without a wait
    STROKE_PAUSE,     // pause and resume, and no cancel
    STROKE_PAUSED,    // pause, then cancel
    STROKE_RESUMED,   // cancel, resume, pause
    STROKE_PRIORITY,  // priorities, then cancel
    STROKE_SUSPENDED, // the queue is suspended, a cancel, the queue is resumed
    STROKE_RELEASE,   // cancel, then the engine is released
    STROKE_CLOSE,     // the engine is closed
    STROKE_COUNT,
} stroke;

typedef struct moment {
    // Set before the engine starts.
    nc_trace_point point;
    size_t occurrence;
    stroke stroke;
    uint64_t chance;
    // While it runs.
    atomic_size_t counts[NC_TRACE_COUNT];
    nc_engine *_Atomic engine;
    _Atomic nc_transfer_id ids[SCRIPTED_PARTS]; // in the order of submission
    atomic_size_t id_count;
    atomic_ullong victims; // a bit for each id
    atomic_bool is_struck;
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
} moment;

/* --- the stroke --- */

static void cancel(moment *at, nc_transfer_id id) {
    atomic_fetch_or(&at->victims, 1ull << (id % 64)); // the ids of one engine are few and small
    nc_engine_cancel(at->engine, id);
}

static void cancel_all(moment *at) {
    for (size_t i = 0; i < SCRIPTED_PARTS; i++) {
        nc_transfer_id id = atomic_load(&at->ids[i]);
        if (id != 0) {
            cancel(at, id);
        }
    }
}

/// Chooses the target: mostly the transfer that passes the point, sometimes another one.
static nc_transfer_id choose(const moment *at, nc_transfer_id id) {
    nc_transfer_id other = atomic_load(&at->ids[at->chance / 7 % SCRIPTED_PARTS]);
    return id == 0 || at->chance % 4 == 0 ? other : id;
}

static void carry_out(moment *at) {
    nc_engine *engine = at->engine;
    nc_transfer_id id = at->target;
    switch (at->stroke) {
    case STROKE_PAUSE:
    case STROKE_PAUSED:
        nc_engine_pause(engine, id);
        if (at->chance % 4 < 2 && !at->is_waited_for) {
            torture_let_loop_read(engine);
        }
        if (at->stroke == STROKE_PAUSED) {
            cancel(at, id);
        }
        nc_engine_resume(engine, id);
        break;
    case STROKE_RESUMED:
        cancel(at, id);
        nc_engine_resume(engine, id);
        nc_engine_pause(engine, id);
        nc_engine_resume(engine, id);
        break;
    case STROKE_PRIORITY:
        nc_engine_set_priority(engine, id, NC_PRIORITY_HIGH);
        nc_engine_set_priority(engine, atomic_load(&at->ids[at->chance % SCRIPTED_PARTS]), NC_PRIORITY_LOW);
        cancel(at, id);
        break;
    case STROKE_SUSPENDED:
        nc_engine_set_suspended(engine, true);
        cancel(at, id);
        nc_engine_set_suspended(engine, false);
        break;
    case STROKE_RELEASE:
        cancel(at, id);
        (void)torture_gate_wait(&at->handed);
        nc_engine_release(engine);
        break;
    case STROKE_CLOSE:
        (void)torture_gate_wait(&at->handed);
        assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
        break;
    default:
        cancel(at, id);
        break;
    }
}

static bool ends_engine(stroke what) {
    return what == STROKE_RELEASE || what == STROKE_CLOSE;
}

static void *strike_thread(void *argument) {
    moment *at = argument;
    pthread_mutex_lock(&at->mutex);
    while (!at->is_ordered && !at->is_over) {
        pthread_cond_wait(&at->changed, &at->mutex);
    }
    bool is_ordered = at->is_ordered;
    pthread_mutex_unlock(&at->mutex);
    if (is_ordered) {
        carry_out(at);
    }
    pthread_mutex_lock(&at->mutex);
    at->is_done = true;
    pthread_cond_broadcast(&at->changed);
    pthread_mutex_unlock(&at->mutex);
    return NULL;
}

/// Leaves the stroke to the other thread. While the engine is being released, only a caller that waits inside one of
/// its hooks may use it. An ending engine cannot be ended again.
static void order(moment *at, nc_transfer_id target) {
    pthread_mutex_lock(&at->mutex);
    if (!(at->is_ending && ends_engine(at->stroke))) {
        at->target = target;
        at->is_ordered = true;
        at->is_waited_for = at->stroke == STROKE_OTHER || at->is_ending;
        pthread_cond_broadcast(&at->changed);
        while (at->is_waited_for && !at->is_done) {
            pthread_cond_wait(&at->changed, &at->mutex);
        }
    }
    pthread_mutex_unlock(&at->mutex);
}

static void on_point(void *ctx, nc_trace_point point, nc_transfer_id id) {
    moment *at = ctx;
    size_t count = atomic_fetch_add(&at->counts[point], 1) + 1;
    if (point == NC_TRACE_SUBMITTED) {
        atomic_store(&at->ids[atomic_fetch_add(&at->id_count, 1) % SCRIPTED_PARTS], id);
    }
    bool is_moment = at->stroke != STROKE_NONE && point == at->point && count >= at->occurrence;
    if (is_moment && point == NC_TRACE_ENGINE_STARTED) {
        (void)torture_gate_wait(&at->handed); // before that there is nothing to cancel
    }
    // An engine passes points before its creator has the pointer (while it loads a cookie jar). The stroke then
    // happens at the next pass.
    if (is_moment && atomic_load(&at->engine) != NULL && !atomic_exchange(&at->is_struck, true)) {
        if (at->stroke == STROKE_HOOK_ALL) {
            cancel_all(at);
        } else if (at->stroke == STROKE_HOOK) {
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

static void submit_all(moment *at, scripted_stage *stage, scripted_part *parts) {
    nc_transfer_id none = 0;
    nc_request refused = {.url = nc_slice_of("no url")};
    assert_status(nc_engine_submit(at->engine, &refused, NULL, &none, NULL), NC_ERR_BAD_URL);
    assert_int_equal(scripted_begin(stage, at->engine, parts), SCRIPTED_PARTS);
    assert_true(nc_engine_wake(at->engine));
    nc_engine_cancel(at->engine, parts[SCRIPTED_HUNTED].id);
}

static bool has_thread(const moment *at) {
    return at->stroke > STROKE_HOOK_ALL;
}

static bool is_ended_by_other(const moment *at) {
    return at->is_ordered && ends_engine(at->stroke);
}

/// Ends the engine, unless the other thread has ended it, and waits for both threads.
static void give_up(moment *at, const pthread_t *thread) {
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

static void run(moment *at, scripted_stage *stage) {
    char when[160];
    pthread_t thread;
    scripted_part parts[SCRIPTED_PARTS];
    (void)snprintf(when, sizeof when, ", struck at %s number %zu (stroke %d, chance %llu)", nc_trace_name(at->point),
                   at->occurrence, (int)at->stroke, (unsigned long long)at->chance);
    if (has_thread(at)) {
        assert_int_equal(pthread_create(&thread, NULL, strike_thread, at), 0);
    }
    at->engine = scripted_engine(stage, (nc_trace){at, on_point}, (nc_loop_client){.ctx = at, .drain = drain});
    submit_all(at, stage, parts);
    torture_gate_open(&at->handed);
    for (size_t i = 0; i < SCRIPTED_PARTS; i++) {
        if (!torture_await(&parts[i].fetch, 1, TORTURE_PATIENCE_MS)) {
            fail_msg("%s%s: hangs", scripted_name(parts[i].kind), when);
        }
    }
    give_up(at, &thread);
    for (size_t i = 0; i < SCRIPTED_PARTS; i++) {
        scripted_check(&parts[i], is_ended_by_other(at) || (at->victims >> (parts[i].id % 64) & 1) != 0, when);
        scripted_part_deinit(&parts[i]);
    }
    scripted_check_files(stage);
}

/* --- all runs --- */

static moment moment_of(nc_trace_point point, size_t occurrence, uint64_t chance) {
    return (moment){
        .point = point,
        .occurrence = occurrence,
        .stroke = occurrence == 0 ? STROKE_NONE : (stroke)(1 + chance % (STROKE_COUNT - 1)),
        .chance = chance / 64,
        .handed = TORTURE_GATE_INIT,
        .stopped = TORTURE_GATE_INIT,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
}

/// How often undisturbed exchanges pass each point: each at least `always` times, one of them `once`.
typedef struct tally {
    size_t always[NC_TRACE_COUNT];
    size_t once[NC_TRACE_COUNT];
} tally;

static void count_points(scripted_stage *stage, tally *out) {
    *out = (tally){.once = {0}};
    for (size_t i = 0; i < DRY_RUNS; i++) {
        moment at = moment_of(NC_TRACE_COUNT, 0, 0);
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

/// Chooses the pass: sometimes a certain one, sometimes a late one that may not happen.
static size_t choose_occurrence(const tally *counts, size_t point, size_t number, uint64_t chance) {
    return 1 + chance / 4096 % (number % 2 == 0 ? counts->always[point] : counts->once[point]);
}

static void cancel__at_every_point_by_every_seed_ends_each_transfer_once(void **state) {
    scripted_stage stage;
    tally counts;
    (void)state;
    size_t seeds = (size_t)torture_number("NETCORE_TORTURE_SEEDS", 8);
    uint64_t seed = torture_seed();
    uint64_t began_ms = torture_now_ms();
    size_t runs = 0;
    size_t struck = 0;
    size_t fewest = seeds;
    scripted_set(&stage);
    size_t descriptors = torture_open_descriptors();
    count_points(&stage, &counts);
    // One point alone, to look closer at it.
    size_t only = (size_t)torture_number("NETCORE_TORTURE_POINT", NC_TRACE_COUNT);
    for (size_t point = 0; point < NC_TRACE_COUNT; point++) {
        size_t hits = 0;
        if (only != NC_TRACE_COUNT && only != point) {
            continue;
        }
        for (size_t i = 0; i < seeds; i++) {
            uint64_t chance = torture_mix(seed, point << 32 | i);
            moment at = moment_of((nc_trace_point)point, choose_occurrence(&counts, point, i, chance), chance);
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
    print_message("%d points, %zu seeds: %zu runs, %zu struck, at least %zu at each point; %llu ms\n",
                  (int)NC_TRACE_COUNT, seeds, runs, struck, fewest, (unsigned long long)(torture_now_ms() - began_ms));
    assert_true(only != NC_TRACE_COUNT || fewest >= seeds / 8);
    assert_true(nct_server_wait_for_silence(stage.plain, TORTURE_PATIENCE_MS));
    assert_true(nct_server_wait_for_silence(stage.tls, TORTURE_PATIENCE_MS));
    assert_true(torture_wait_for_descriptors(descriptors));
    scripted_strike(&stage);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cancel__at_every_point_by_every_seed_ends_each_transfer_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
