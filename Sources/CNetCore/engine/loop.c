#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "base/trace.h"
#include "base/worker.h"
#include "curl/connection_pool.h"
#include "event_loop/sockets.h"
#include "event_loop/timers.h"
#include "state/cookies.h"
#include "state/engine_record.h"
#include "state/mailbox.h"
#include "state/state_file_writer.h"
#include "transfer/body_pipeline.h"
#include "transfer/flow_control.h"
#include "transfer/host_queue.h"
#include "transfer/transfer.h"

#include <sched.h>

/// Limits of the work between two polls.
enum {
    MAX_EVENTS = 128,
    MAX_JOBS = 64,
    JOBS_AT_ONCE = 8,
    MAX_JOB_NS = 1000000,
    MAX_START_PASSES = 4,
    MAX_UNPOLLED = 4
};

/// If the last poll is older than OLD_POLL_NS, the sockets are polled again before limits are checked. At most
/// MAX_POLLS polls follow each other, while each returns MAX_EVENTS events.
enum { OLD_POLL_NS = 100000000, MAX_POLLS = 8 };

/* --- mail --- */

/// Starts the transfers that have a slot. Returns true if there were any.
static bool start_ready(nc_engine *engine) {
    bool has_started = false;
    nc_transfer *transfer;
    while ((transfer = nc_queue_take_ready(&engine->loop.queue, engine)) != NULL) {
        nc_transfer_start(transfer);
        nc_transfer_deliver_ended(engine);
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
    while ((link = nc_list_take_first(&mail.results)) != NULL) {
        nc_worker_result *result = NC_CONTAINER_OF(link, nc_worker_result, link);
        result->arrive(result);
        nc_transfer_deliver_ended(engine);
    }
    if (mail.has_changed_cookies) {
        nc_cookies_mark_changed(engine);
    }
    engine->loop.queue.is_suspended = mail.is_suspended;
    while ((link = nc_list_take_first(&mail.submitted)) != NULL) {
        if (nc_queue_is_full(&engine->loop.queue, engine)) {
            (void)start_ready(engine); // Transfers that get a slot leave the queue.
        }
        nc_transfer_events_accept(link);
        nc_transfer_deliver_ended(engine);
    }
    nc_commands_apply_cancels(engine, &mail.cancelled);
    if (!nc_list_is_empty(&mail.commanded)) {
        nc_commands_execute(engine, &mail.commanded);
        nc_transfer_deliver_ended(engine);
    }
    engine->loop.is_finishing = mail.is_finishing;
    if (mail.is_closing && !engine->loop.is_closing) {
        engine->loop.is_closing = true;
        pthread_mutex_lock(&engine->shared.mutex);
        void (*cancel_downloads)(nc_engine *) = engine->shared.cancel_downloads;
        pthread_mutex_unlock(&engine->shared.mutex);
        if (cancel_downloads != NULL) {
            cancel_downloads(engine);
            nc_transfer_deliver_ended(engine);
        }
        nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_CLOSING, 0);
        nc_commands_cancel_all(engine);
    }
}

/* --- one round --- */

static void collect(nc_engine *engine) {
    nc_link *next;
    for (nc_link *link = engine->loop.conn_pools.next; link != &engine->loop.conn_pools; link = next) {
        nc_conn_pool *conn_pool = NC_CONTAINER_OF(link, nc_conn_pool, link);
        nc_conn_events_collect(conn_pool);
        nc_transfer_deliver_ended(engine);
        next = link->next;
        if (nc_conn_pool_is_exhausted(conn_pool)) {
            nc_conn_pool_close(conn_pool);
        }
    }
}

static void fire_timers(nc_engine *engine) {
    uint64_t due_ns = engine->loop.now_ns;
    nc_timer *timer;
    while ((timer = nc_timers_take_due(&engine->loop.timers, due_ns)) != NULL) {
        timer->fire(timer);
        nc_transfer_deliver_ended(engine);
    }
}

/// Starts transfers until none has a slot. Returns true if more may be waiting.
static bool start_until_idle(nc_engine *engine) {
    for (int i = 0; i < MAX_START_PASSES; i++) {
        // Timers first, because they may end transfers, whose slots must be assigned before the loop sleeps.
        fire_timers(engine);
        collect(engine);
        if (!start_ready(engine)) {
            return false;
        }
    }
    return true;
}

/// Calls the client's burst_done if on_done was called since the last time. Returns true in that case: a caller was
/// notified, and may now submit the next request.
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
        nc_conn_pool *conn_pool = nc_sockets_owner(&engine->loop.sockets, events[i].fd);
        if (conn_pool != NULL) {
            nc_conn_events_act(conn_pool, events[i].fd,
                               (events[i].is_readable ? CURL_CSELECT_IN : 0) |
                                   (events[i].is_writable ? CURL_CSELECT_OUT : 0) |
                                   (events[i].has_error ? CURL_CSELECT_ERR : 0));
            nc_transfer_deliver_ended(engine);
        }
    }
}

/// Polls the sockets until `until_ns` at most. Returns how many have events.
static size_t poll_sockets(nc_engine *engine, uint64_t until_ns) {
    nc_poll_event events[MAX_EVENTS];
    uint64_t began_ns = engine->loop.now_ns;
    size_t count = engine->loop.poller->kind->wait(engine->loop.poller, events, MAX_EVENTS, began_ns, until_ns);
    engine->loop.polled_ns = began_ns;
    nc_mailbox_leave_sleep(engine);
    nc_engine_read_clock(engine);
    handle_events(engine, events, count);
    return count;
}

/// Reads what arrived while the process was not running, before limits are checked. A process may be stopped at any
/// time (SIGSTOP, Ctrl-Z), and its servers are not idle meanwhile. A poll that a stop interrupts returns without
/// events.
static void catch_up(nc_engine *engine) {
    bool is_old = engine->loop.now_ns - engine->loop.polled_ns > OLD_POLL_NS;
    for (int i = 0; is_old && i < MAX_POLLS; i++) {
        is_old = poll_sockets(engine, 0) == MAX_EVENTS;
    }
}

static void run(nc_engine *engine) {
    int unpolled = 0;
    for (;;) {
        nc_engine_read_clock(engine);
        catch_up(engine);
        collect(engine);
        bool has_notified = report_burst(engine);
        run_jobs(engine);
        read_mail(engine);
        // If there is nothing else to do, let a notified caller run first. On a shared core the next request then
        // arrives before the sleep, and needs neither a wake-up nor a round.
        if (has_notified && engine->loop.transfer_count == 0 && !engine->loop.wants_drain) {
            (void)sched_yield();
            read_mail(engine);
        }
        nc_flow_control_take_turns(engine);
        nc_transfer_deliver_ended(engine);
        bool may_start_more = start_until_idle(engine);
        if ((engine->loop.is_closing || engine->loop.is_finishing) && engine->loop.transfer_count == 0 &&
            engine->loop.download_count == 0) {
            (void)report_burst(engine);
            return;
        }
        bool has_more = may_start_more || engine->loop.has_ended_some || engine->loop.wants_drain ||
                        !nc_list_is_empty(&engine->loop.turns);
        bool may_sleep = !has_more && nc_mailbox_may_sleep(engine);
        if (!may_sleep && !engine->loop.wants_drain && ++unpolled < MAX_UNPOLLED) {
            continue; // The ended transfers have caused new mail; the sockets can wait.
        }
        unpolled = 0;
        uint64_t until_ns = may_sleep ? nc_timers_next_ns(&engine->loop.timers) : 0;
        until_ns = until_ns <= engine->loop.now_ns + NC_TIMERS_NEXT_PASS_NS ? 0 : until_ns; // poll without sleep
        (void)poll_sockets(engine, until_ns);
    }
}

/* --- closing --- */

static void close_conn_pools(nc_engine *engine) {
    // The worker ends first, because one of its tasks may still have a result for a pool.
    nc_worker_free(engine->worker);
    engine->worker = NULL;
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.has_sealed = true;
    pthread_mutex_unlock(&engine->shared.mutex);
    read_mail(engine);
    nc_cookies_end(engine);
    nc_state_file_writer_save_at_end(&engine->hsts.file);
    nc_state_file_writer_save_at_end(&engine->alternatives.file);
    while (!nc_list_is_empty(&engine->loop.conn_pools)) {
        nc_conn_pool_close(NC_CONTAINER_OF(engine->loop.conn_pools.next, nc_conn_pool, link));
    }
}

static void end(nc_engine *engine) {
    close_conn_pools(engine);
    nc_queue_deinit(&engine->loop.queue);
    nc_timers_deinit(&engine->loop.timers);
    nc_sockets_deinit(&engine->loop.sockets);
    nc_write_buffer_deinit(&engine->loop.write_buffer);
    engine->loop.poller->kind->destroy(engine->loop.poller);
    // From here on nc_engine_wake() does not use the engine. Jobs that were queued before still run here.
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.is_ended = true;
    pthread_mutex_unlock(&engine->shared.mutex);
    while (engine->client.drain != NULL && engine->client.drain(engine->client.ctx, MAX_JOBS)) {
    }
    // Called before the client is released, because the client may observe the trace points.
    nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_STOPPED, 0);
    if (engine->client.release != NULL) {
        engine->client.release(engine->client.ctx);
    }
    atomic_store_explicit(&engine->has_thread_ended, true, memory_order_relaxed);
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.has_stopped = true;
    pthread_cond_broadcast(&engine->shared.condition);
    pthread_mutex_unlock(&engine->shared.mutex);
}

void nc_loop_run(nc_engine *engine) {
    nc_engine_read_clock(engine);
    run(engine);
    end(engine);
}
