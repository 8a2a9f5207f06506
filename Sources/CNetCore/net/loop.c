#include "base/alloc.h"
#include "base/error.h"
#include "base/trace.h"
#include "net/download_state.h"
#include "net/engine_state.h"
#include "net/limits.h"
#include "net/orders.h"

#include <sched.h>

/// Limits of the work between two polls.
enum { MAX_EVENTS = 128, MAX_JOBS = 64, JOBS_AT_ONCE = 8, MAX_JOB_NS = 1000000, MAX_SETTLING = 4, MAX_UNPOLLED = 4 };

/// The result of an older poll is outdated. At most this many full polls follow each other.
enum { OLD_LOOK_NS = 100000000, MAX_LOOKS = 8 };

/* --- mail --- */

static void cancel_all(nc_engine *engine) {
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_CANCELLED, 0, -1, "the engine was released");
    for (uint32_t place = 0;; place++) {
        pthread_mutex_lock(&engine->shared.mutex);
        bool is_past_end = place >= engine->shared.registry.count;
        nc_transfer *transfer = is_past_end ? NULL : engine->shared.registry.slots[place].transfer;
        // A finished transfer belongs to its waiter; any other one can only end here.
        bool lives = transfer != NULL && !transfer->is_finished;
        pthread_mutex_unlock(&engine->shared.mutex);
        if (is_past_end) {
            return;
        }
        if (lives) {
            nc_transfer_fail(transfer, &err);
        }
    }
}

static void apply_cancels(nc_engine *engine, nc_link *cancelled) {
    nc_error err;
    if (nc_list_is_empty(cancelled)) {
        return; // Called in every round.
    }
    (void)nc_error_set(&err, NC_ERR_CANCELLED, 0, -1, "%s", nc_status_text(NC_ERR_CANCELLED));
    for (;;) {
        // Ending another transfer may remove one from this list, under the mutex.
        pthread_mutex_lock(&engine->shared.mutex);
        nc_link *link = nc_list_take_first(cancelled);
        pthread_mutex_unlock(&engine->shared.mutex);
        if (link == NULL) {
            return;
        }
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, cancel_link);
        nc_trace_pass(&engine->trace, NC_TRACE_CANCEL_APPLIED, transfer->id);
        nc_limits_cancelled(transfer);
        nc_transfer_fail(transfer, &err);
    }
}

/// Starts the transfers that have a slot. Returns true if there were any.
static bool start_ready(nc_engine *engine) {
    bool has_started = false;
    nc_transfer *transfer;
    while ((transfer = nc_queue_take_ready(&engine->loop.queue, engine)) != NULL) {
        nc_transfer_start(transfer);
        has_started = true;
    }
    return has_started;
}

static void read_mail(nc_engine *engine) {
    nc_mail mail;
    nc_link *link;
    nc_mailbox_take(engine, &mail);
    engine->loop.wants_drain = engine->loop.wants_drain || mail.wants_drain;
    engine->loop.download_count = mail.download_count;
    while ((link = nc_list_take_first(&mail.answers)) != NULL) {
        nc_answer *answer = NC_CONTAINER_OF(link, nc_answer, link);
        answer->arrive(answer);
    }
    if (mail.has_changed_cookies) {
        nc_cookies_note_change(engine);
    }
    engine->loop.queue.is_suspended = mail.is_suspended;
    while ((link = nc_list_take_first(&mail.submitted)) != NULL) {
        if (nc_queue_is_full(&engine->loop.queue, engine)) {
            (void)start_ready(engine); // A transfer with a slot does not wait.
        }
        nc_transfer_accept(NC_CONTAINER_OF(link, nc_transfer, link));
    }
    apply_cancels(engine, &mail.cancelled);
    if (!nc_list_is_empty(&mail.ordered)) {
        nc_orders_carry_out(engine, &mail.ordered);
    }
    engine->loop.is_finishing = mail.is_finishing;
    if (mail.is_closing && !engine->loop.is_closing) {
        engine->loop.is_closing = true;
        nc_download_cancel_all(engine);
        nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_CLOSING, 0);
        cancel_all(engine);
    }
}

/* --- one round --- */

static void collect(nc_engine *engine) {
    nc_link *next;
    for (nc_link *link = engine->loop.lanes.next; link != &engine->loop.lanes; link = next) {
        nc_lane *lane = NC_CONTAINER_OF(link, nc_lane, link);
        nc_lane_collect(lane);
        next = link->next;
        if (nc_lane_is_spent(lane)) {
            nc_lane_close(lane);
        }
    }
}

static void fire_timers(nc_engine *engine) {
    uint64_t due_ns = engine->loop.now_ns;
    nc_timer *timer;
    while ((timer = nc_timers_take_due(&engine->loop.timers, due_ns)) != NULL) {
        timer->fire(timer);
    }
}

/// Starts transfers until none has a slot. Returns true if more may be waiting.
static bool settle(nc_engine *engine) {
    for (int i = 0; i < MAX_SETTLING; i++) {
        // Timers first, because they may end transfers: their slots are assigned before the loop sleeps.
        fire_timers(engine);
        collect(engine);
        if (!start_ready(engine)) {
            return false;
        }
    }
    return true;
}

/// Calls on_done for ended transfers. Returns true if a caller was notified, which may now submit the next request.
static bool report_burst(nc_engine *engine) {
    if (!engine->loop.has_ended_some) {
        return false;
    }
    engine->loop.has_ended_some = false;
    nc_trace_pass(&engine->trace, NC_TRACE_BURST_DONE, 0);
    if (engine->client.burst_done != NULL) {
        engine->client.burst_done(engine->client.ctx);
    }
    return true;
}

static void run_jobs(nc_engine *engine) {
    if (!engine->loop.wants_drain) {
        return;
    }
    engine->loop.wants_drain = false;
    if (engine->client.drain == NULL) {
        return;
    }
    uint64_t end_ns = engine->clock.monotonic_ns(engine->clock.ctx) + MAX_JOB_NS;
    bool has_more = true;
    for (uint32_t ran = 0; has_more && ran < MAX_JOBS; ran += JOBS_AT_ONCE) {
        has_more = engine->client.drain(engine->client.ctx, JOBS_AT_ONCE);
        if (engine->clock.monotonic_ns(engine->clock.ctx) >= end_ns) {
            break;
        }
    }
    nc_trace_pass(&engine->trace, NC_TRACE_JOBS_RUN, 0);
    // Jobs may have queued more jobs.
    engine->loop.wants_drain = engine->loop.wants_drain || has_more;
}

static void handle_events(nc_engine *engine, const nc_poll_event *events, size_t count) {
    int wake_fd = engine->shared.mailbox.wake_read_fd;
    for (size_t i = 0; i < count; i++) {
        if (events[i].fd == wake_fd) {
            if (!engine->loop.poller->kind->has_edges) {
                nc_mailbox_clear_wake(&engine->shared.mailbox);
            }
            nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_WOKEN, 0);
            continue;
        }
        nc_lane *lane = nc_sockets_owner(&engine->loop.sockets, events[i].fd);
        if (lane != NULL) {
            nc_lane_act(lane, events[i].fd,
                        (events[i].is_readable ? CURL_CSELECT_IN : 0) | (events[i].is_writable ? CURL_CSELECT_OUT : 0) |
                            (events[i].has_error ? CURL_CSELECT_ERR : 0));
        }
    }
}

/// Polls the sockets until `until_ns` at most. Returns how many have events.
static size_t look(nc_engine *engine, uint64_t until_ns) {
    nc_poll_event events[MAX_EVENTS];
    uint64_t began_ns = engine->loop.now_ns;
    size_t count = engine->loop.poller->kind->wait(engine->loop.poller, events, MAX_EVENTS, began_ns, until_ns);
    engine->loop.looked_ns = began_ns;
    nc_mailbox_leave_sleep(engine);
    nc_engine_read_clock(engine);
    handle_events(engine, events, count);
    return count;
}

/// Reads what arrived while the process was not running, before limits are checked. A process may be stopped at any
/// time (SIGSTOP, Ctrl-Z), and its servers are not idle meanwhile. A poll that a stop interrupts returns without
/// events.
static void catch_up(nc_engine *engine) {
    bool is_old = engine->loop.now_ns - engine->loop.looked_ns > OLD_LOOK_NS;
    for (int i = 0; is_old && i < MAX_LOOKS; i++) {
        is_old = look(engine, 0) == MAX_EVENTS;
    }
}

static void run(nc_engine *engine) {
    int unpolled = 0;
    for (;;) {
        nc_engine_read_clock(engine);
        catch_up(engine);
        collect(engine);
        bool has_told = report_burst(engine);
        run_jobs(engine);
        read_mail(engine);
        // If there is nothing else to do, let a notified caller run first. On a shared core the next request then
        // arrives before the sleep, and needs neither a wake-up nor a round.
        if (has_told && engine->loop.transfer_count == 0 && !engine->loop.wants_drain) {
            (void)sched_yield();
            read_mail(engine);
        }
        nc_flow_take_turns(engine);
        bool is_unsettled = settle(engine);
        if ((engine->loop.is_closing || engine->loop.is_finishing) && engine->loop.transfer_count == 0 &&
            engine->loop.download_count == 0) {
            (void)report_burst(engine);
            return;
        }
        bool has_more = is_unsettled || engine->loop.has_ended_some || engine->loop.wants_drain ||
                        !nc_list_is_empty(&engine->loop.turns);
        bool may_sleep = !has_more && nc_mailbox_may_sleep(engine);
        if (!may_sleep && !engine->loop.wants_drain && ++unpolled < MAX_UNPOLLED) {
            continue; // The ended transfers have caused new mail; the sockets can wait.
        }
        unpolled = 0;
        uint64_t until_ns = may_sleep ? nc_timers_next_ns(&engine->loop.timers) : 0;
        until_ns = until_ns <= engine->loop.now_ns + NC_TIMERS_NEXT_PASS_NS ? 0 : until_ns; // poll without sleep
        (void)look(engine, until_ns);
    }
}

/* --- closing --- */

static void close_lanes(nc_engine *engine) {
    // The worker first: a result may be on its way to a pool.
    nc_worker_free(engine->worker);
    engine->worker = NULL;
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.has_sealed = true;
    pthread_mutex_unlock(&engine->shared.mutex);
    read_mail(engine);
    nc_cookies_end(engine);
    nc_saved_file_save_at_end(&engine->strict.file);
    nc_saved_file_save_at_end(&engine->alternatives.file);
    while (!nc_list_is_empty(&engine->loop.lanes)) {
        nc_lane_close(NC_CONTAINER_OF(engine->loop.lanes.next, nc_lane, link));
    }
}

static void end(nc_engine *engine) {
    close_lanes(engine);
    nc_queue_deinit(&engine->loop.queue);
    nc_timers_deinit(&engine->loop.timers);
    nc_sockets_deinit(&engine->loop.sockets);
    nc_gather_deinit(&engine->loop.gather);
    engine->loop.poller->kind->unmake(engine->loop.poller);
    // From here on nc_engine_wake() does not use the engine. Jobs that were queued before still run here.
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.is_ended = true;
    pthread_mutex_unlock(&engine->shared.mutex);
    while (engine->client.drain != NULL && engine->client.drain(engine->client.ctx, MAX_JOBS)) {
    }
    // The client may be the one that observes the trace points.
    nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_STOPPED, 0);
    if (engine->client.release != NULL) {
        engine->client.release(engine->client.ctx);
    }
    atomic_store_explicit(&engine->has_left, true, memory_order_relaxed);
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.has_stopped = true;
    pthread_cond_broadcast(&engine->shared.condition);
    pthread_mutex_unlock(&engine->shared.mutex);
}

void *nc_loop_main(void *argument) {
    nc_engine *engine = argument;
    // nc_engine_new() holds the mutex until the thread's id is stored.
    pthread_mutex_lock(&engine->shared.mutex);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (engine->live.letters != (locale_t)0) {
        (void)uselocale(engine->live.letters);
    }
    (void)pthread_detach(pthread_self());
    nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_STARTED, 0);
    nc_engine_read_clock(engine);
    run(engine);
    end(engine);
    (void)uselocale(LC_GLOBAL_LOCALE);
    nc_process_remove_loop(&engine->live);
    nc_engine_drop(engine);
    return NULL;
}
