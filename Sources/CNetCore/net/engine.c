#include "net/engine_state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/trace.h"

enum { WORKER_THREADS = 2 };

/// How long libcurl caches an address.
enum { ADDRESS_S = 60 };

void nc_engine_heed_clock(nc_engine *engine) {
    uint64_t steady_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    int64_t ahead_s = nc_engine_now_s(engine) - (int64_t)(steady_ns / 1000000000u);
    int64_t most_s = engine->loop.clock_ahead_s;
    bool is_set_back = ahead_s < most_s - ADDRESS_S;
    engine->loop.clock_set_back += is_set_back ? 1 : 0;
    engine->loop.clock_ahead_s = is_set_back || ahead_s > most_s ? ahead_s : most_s;
}

/* --- creation --- */

static uint32_t or_default(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

static void take_options(nc_engine *engine, const nc_engine_options *options) {
    engine->max_in_flight = or_default(options->max_in_flight, NC_DEFAULT_MAX_IN_FLIGHT);
    engine->max_per_host = or_default(options->max_per_host, NC_DEFAULT_MAX_PER_HOST);
    engine->max_streams = or_default(options->max_streams, NC_DEFAULT_MAX_STREAMS);
    engine->max_idle_connections = or_default(options->max_idle_connections, NC_DEFAULT_MAX_IDLE_CONNECTIONS);
    engine->max_waiting = or_default(options->max_waiting, NC_DEFAULT_MAX_WAITING);
    engine->capabilities = nc_capabilities_query();
    engine->libcurl_version = curl_version_info(CURLVERSION_NOW)->version_num;
    engine->refuses_plaintext = options->refuses_plaintext;
    engine->clock = options->clock != NULL ? *options->clock : nc_clock_system();
    engine->files = options->file_ops != NULL ? *options->file_ops : nc_file_ops_system();
    engine->trace = options->trace;
    engine->client = options->loop_client;
    engine->loop.send_pace = nc_pace_make(options->max_send_bytes_per_s, 0);
    engine->loop.receive_pace = nc_pace_make(options->max_receive_bytes_per_s, 0);
}

static void free_engine(nc_engine *engine) {
    for (uint32_t place = 0; place < engine->shared.registry.count; place++) {
        // Results that were never waited for.
        if (engine->shared.registry.slots[place].transfer != NULL) {
            nc_transfer_free(engine->shared.registry.slots[place].transfer);
        }
    }
    nc_registry_deinit(&engine->shared.registry);
    nc_mailbox_deinit(&engine->shared.mailbox);
    pthread_cond_destroy(&engine->shared.condition);
    pthread_mutex_destroy(&engine->shared.mutex);
    nc_worker_free(engine->worker);
    nc_trust_release(engine->trust);
    nc_pool_release(engine->pool);
    nc_cookies_deinit(&engine->cookies);
    nc_strict_deinit(&engine->strict);
    nc_alternatives_deinit(&engine->alternatives);
    nc_state_deinit(&engine->state);
    nc_free(engine);
}

void nc_engine_drop(nc_engine *engine) {
    if (atomic_fetch_sub_explicit(&engine->references, 1, memory_order_acq_rel) == 1) {
        free_engine(engine);
    }
}

static void ask_to_end(nc_engine *engine, bool *flag) {
    pthread_mutex_lock(&engine->shared.mutex);
    *flag = true;
    bool needs_wake = nc_mailbox_needs_wake(engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

static void ask_to_close(nc_engine *engine) {
    ask_to_end(engine, &engine->shared.mailbox.is_closing);
}

static void stop_at_exit(nc_live_loop *live) {
    ask_to_close(NC_CONTAINER_OF(live, nc_engine, live));
}

/// Everything that free_engine() releases; the event loop's half comes later.
static nc_status make(nc_engine **out, const nc_engine_options *options, nc_error *err) {
    nc_engine *engine = nc_alloc_zeroed(1, sizeof *engine);
    if (engine == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    if (pthread_mutex_init(&engine->shared.mutex, NULL) != 0) {
        nc_free(engine);
        return NC_ERR_NO_MEMORY;
    }
    if (!nc_cookies_init(&engine->cookies)) {
        pthread_mutex_destroy(&engine->shared.mutex);
        nc_free(engine);
        return NC_ERR_NO_MEMORY;
    }
    if (!nc_condition_init(&engine->shared.condition)) {
        nc_cookies_deinit(&engine->cookies);
        pthread_mutex_destroy(&engine->shared.mutex);
        nc_free(engine);
        return NC_ERR_NO_MEMORY;
    }
    atomic_init(&engine->references, 2); // the owner's and the event loop's
    nc_list_init(&engine->shared.downloads);
    engine->shared.registry = nc_registry_init();
    take_options(engine, options);
    nc_status status = nc_mailbox_init(&engine->shared.mailbox, err);
    if (status == NC_OK) {
        status = nc_state_init(&engine->state, options, err);
    }
    if (status == NC_OK) {
        status = nc_state_check_files(&engine->state, &engine->files, err);
    }
    if (status == NC_OK) {
        status = nc_cookies_read(engine, err);
    }
    if (status == NC_OK) {
        status = nc_strict_read(engine, err);
    }
    if (status == NC_OK) {
        status = nc_alternatives_read(engine, err);
    }
    engine->pool = nc_pool_new();
    engine->worker = nc_worker_new(WORKER_THREADS, engine->trace);
    if (options->trust != NULL) {
        engine->trust = nc_trust_retain(options->trust);
    } else if (nc_trust_new(&engine->trust, NULL, NULL) != NC_OK) {
        engine->trust = NULL;
    }
    if (status == NC_OK && (engine->pool == NULL || engine->worker == NULL || engine->trust == NULL)) {
        status = NC_ERR_NO_MEMORY;
    }
    if (status != NC_OK) {
        free_engine(engine);
        return status;
    }
    *out = engine;
    return NC_OK;
}

static nc_status make_loop(nc_engine *engine, nc_poller_choice choice, nc_error *err) {
    nc_status status = nc_poller_choose(choice)->make(&engine->loop.poller, err);
    if (status != NC_OK) {
        return status;
    }
    nc_sockets_init(&engine->loop.sockets, engine->loop.poller);
    nc_queue_init(&engine->loop.queue);
    nc_list_init(&engine->loop.lanes);
    nc_list_init(&engine->loop.turns);
    const nc_poller_kind *kind = engine->loop.poller->kind;
    status = kind->change(engine->loop.poller, engine->shared.mailbox.wake_read_fd, 0, NC_WANT_READ | NC_WANT_EDGE);
    if (status != NC_OK) {
        kind->unmake(engine->loop.poller);
    }
    return status;
}

static nc_status start_thread(nc_engine *engine) {
    engine->live.stop = stop_at_exit;
    if (!nc_process_add_loop(&engine->live)) {
        return NC_ERR_CLOSED;
    }
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_started = nc_thread_start(&engine->thread, "netcore-loop", nc_loop_main, engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (!is_started) {
        nc_process_remove_loop(&engine->live);
    }
    return is_started ? NC_OK : NC_ERR_THREAD;
}

nc_status nc_engine_new(nc_engine **out, const nc_engine_options *options, nc_error *err) {
    static const nc_engine_options defaults = {0};
    const nc_engine_options *from = options != NULL ? options : &defaults;
    nc_engine *engine = NULL;
    if (nc_poller_choose(from->poller) == NULL) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "this system has no such poller");
    }
    nc_status status = nc_process_start(err);
    if (status != NC_OK) {
        return status;
    }
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    if (info->version_num < 0x075800) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "libcurl %s is older than 7.88", info->version);
    }
    (void)nc_error_clear(err);
    status = make(&engine, from, err);
    if (status == NC_OK) {
        status = make_loop(engine, from->poller, err);
        if (status != NC_OK) {
            free_engine(engine);
        }
    }
    if (status == NC_OK) {
        status = start_thread(engine);
        if (status != NC_OK) {
            engine->loop.poller->kind->unmake(engine->loop.poller);
            free_engine(engine);
        }
    }
    if (status != NC_OK) {
        bool is_told = err != NULL && err->status != NC_OK;
        return is_told ? status
                       : nc_error_set(err, status, 0, -1, "an engine cannot be started: %s", nc_status_text(status));
    }
    *out = engine;
    return nc_error_clear(err);
}

/* --- asking --- */

/// The arguments of a submission.
typedef struct submission {
    nc_engine *engine;
    const nc_request *request;
    const nc_sink *sink;
    bool is_held; // for a download that was accepted before
} submission;

static nc_status submit(const submission *asked, nc_transfer_id *out, nc_error *err) {
    nc_engine *engine = asked->engine;
    const nc_sink *sink = asked->sink;
    nc_transfer *transfer = NULL;
    nc_status status = sink != NULL && sink->on_done == NULL
                           ? nc_error_set(err, NC_ERR_USAGE, 0, -1, "a sink without on_done")
                           : nc_transfer_new(&transfer, engine, asked->request, sink, err);
    if (status != NC_OK) {
        nc_trace_pass(&engine->trace, NC_TRACE_REFUSED, 0);
        return status;
    }
    bool needs_wake = false;
    transfer->is_download = asked->is_held;
    transfer->submitted_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_open = !engine->shared.mailbox.is_closing && (asked->is_held || !engine->shared.mailbox.is_finishing);
    status = !is_open ? NC_ERR_CLOSED : nc_registry_add(&engine->shared.registry, transfer);
    if (status == NC_OK) {
        *out = transfer->id;
        nc_list_append(&engine->shared.mailbox.submitted, &transfer->link);
        // on_done may release the caller's reference before this call returns.
        atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
        needs_wake = nc_mailbox_needs_wake(engine);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (status != NC_OK) {
        nc_transfer_free(transfer);
        nc_trace_pass(&engine->trace, NC_TRACE_REFUSED, 0);
        return nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
    }
    nc_trace_pass(&engine->trace, NC_TRACE_SUBMITTED, *out);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
    nc_engine_drop(engine);
    return nc_error_clear(err);
}

nc_status nc_engine_submit(nc_engine *engine, const nc_request *request, const nc_sink *sink, nc_transfer_id *out,
                           nc_error *err) {
    return submit(&(submission){.engine = engine, .request = request, .sink = sink}, out, err);
}

nc_status nc_engine_submit_held(nc_engine *engine, const nc_request *request, const nc_sink *sink, nc_transfer_id *out,
                                nc_error *err) {
    return submit(&(submission){.engine = engine, .request = request, .sink = sink, .is_held = true}, out, err);
}

void nc_engine_cancel(nc_engine *engine, nc_transfer_id id) {
    bool needs_wake = false;
    bool is_new = false;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    if (transfer != NULL && !transfer->is_finished && !transfer->is_cancel_listed) {
        is_new = true;
        transfer->is_cancel_listed = true;
        nc_list_append(&engine->shared.mailbox.cancelled, &transfer->cancel_link);
        needs_wake = nc_mailbox_needs_wake(engine);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (is_new) {
        nc_trace_pass(&engine->trace, NC_TRACE_CANCEL_REQUESTED, id);
    }
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

bool nc_engine_is_on_loop(const nc_engine *engine) {
    // Another thread may have reused the id of one that has ended.
    return pthread_equal(engine->thread, pthread_self()) != 0 &&
           !atomic_load_explicit(&engine->has_left, memory_order_relaxed);
}

bool nc_engine_wake(nc_engine *engine) {
    if (nc_engine_is_on_loop(engine) && !engine->shared.is_ended) {
        engine->loop.wants_drain = true; // Both are written by the event loop only, which is this thread.
        return true;
    }
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_ended = engine->shared.is_ended;
    engine->shared.mailbox.wants_drain = true;
    bool needs_wake = !is_ended && nc_mailbox_needs_wake(engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
    return !is_ended;
}

/* --- waiting --- */

/// Waits until the transfer has ended and removes it from the registry. The caller holds the mutex.
static nc_status wait_and_take(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms, nc_transfer **out) {
    uint64_t deadline_ns = 0;
    for (;;) {
        nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
        if (transfer == NULL || transfer->has_sink) {
            return NC_ERR_USAGE;
        }
        if (transfer->is_finished) {
            nc_registry_remove(&engine->shared.registry, id);
            *out = transfer;
            return NC_OK;
        }
        if (!nc_condition_wait(&engine->shared.condition, &engine->shared.mutex, timeout_ms, &deadline_ns)) {
            return NC_ERR_WAIT_TIMED_OUT;
        }
    }
}

nc_status nc_engine_wait(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms, nc_response **out, nc_error *err) {
    nc_transfer *transfer = NULL;
    *out = NULL;
    if (nc_engine_is_on_loop(engine)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the loop thread cannot wait for itself");
    }
    atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
    pthread_mutex_lock(&engine->shared.mutex);
    nc_status status = wait_and_take(engine, id, timeout_ms, &transfer);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (status == NC_ERR_USAGE) {
        (void)nc_error_set(err, status, 0, -1, "no transfer without a sink has the id %llu", (unsigned long long)id);
    } else if (status != NC_OK) {
        (void)nc_error_set(err, status, 0, -1, "the transfer goes on after %u ms", timeout_ms);
    } else {
        *out = nc_response_retain(transfer->response);
        status = transfer->error.status;
        if (err != NULL) {
            *err = transfer->error;
        }
        nc_transfer_free(transfer);
    }
    nc_engine_drop(engine);
    return status;
}

/* --- closing --- */

void nc_engine_finish(nc_engine *engine) {
    ask_to_end(engine, &engine->shared.mailbox.is_finishing);
}

void nc_engine_release(nc_engine *engine) {
    if (engine != NULL) {
        ask_to_close(engine);
        nc_engine_drop(engine);
    }
}

nc_status nc_engine_close(nc_engine *engine, uint32_t timeout_ms) {
    if (engine == NULL) {
        return NC_OK;
    }
    if (nc_engine_is_on_loop(engine)) {
        return NC_ERR_USAGE;
    }
    uint64_t deadline_ns = 0;
    bool has_time = true;
    ask_to_close(engine);
    pthread_mutex_lock(&engine->shared.mutex);
    while (!engine->shared.has_stopped && has_time) {
        has_time = nc_condition_wait(&engine->shared.condition, &engine->shared.mutex, timeout_ms, &deadline_ns);
    }
    nc_status status = engine->shared.has_stopped ? NC_OK : NC_ERR_WAIT_TIMED_OUT;
    pthread_mutex_unlock(&engine->shared.mutex);
    nc_engine_drop(engine);
    return status;
}
