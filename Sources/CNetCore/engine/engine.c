#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/thread.h"
#include "base/trace.h"
#include "base/worker.h"
#include "curl/quirks.h"
#include "event_loop/poller.h"
#include "event_loop/process.h"
#include "event_loop/sockets.h"
#include "http/rate_limit.h"
#include "request/engine_config.h"
#include "state/alt_svc_cache.h"
#include "state/cookies.h"
#include "state/engine_record.h"
#include "state/hsts_state.h"
#include "state/mailbox.h"
#include "state/registry.h"
#include "transfer/host_queue.h"
#include "transfer/transfer.h"

enum { WORKER_THREADS = 2 };

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
    engine->events = &nc_transfer_events_all;
    engine->libcurl_version = nc_quirk_libcurl_version();
    engine->quic_appends_trailers = nc_quirk_appends_trailers();
    engine->refuses_plaintext = options->refuses_plaintext;
    engine->clock = options->clock != NULL ? *options->clock : nc_clock_system();
    engine->files = options->file_ops != NULL ? *options->file_ops : nc_file_ops_system();
    engine->trace = options->trace;
    engine->client = options->loop_client;
    engine->loop.send_pace = nc_pace_make(options->max_send_bytes_per_s, 0);
    engine->loop.receive_pace = nc_pace_make(options->max_receive_bytes_per_s, 0);
}

static void free_engine(nc_engine *engine) {
    for (uint32_t index = 0; index < engine->shared.registry.count; index++) {
        // Transfers without a sink that no thread has waited for.
        if (engine->shared.registry.slots[index].transfer != NULL) {
            nc_transfer_free(engine->shared.registry.slots[index].transfer);
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
    nc_hsts_state_deinit(&engine->hsts);
    nc_alt_svc_cache_deinit(&engine->alternatives);
    nc_engine_config_deinit(&engine->state);
    nc_free(engine);
}

void nc_engine_drop(nc_engine *engine) {
    if (atomic_fetch_sub_explicit(&engine->references, 1, memory_order_acq_rel) == 1) {
        free_engine(engine);
    }
}

static void request_end(nc_engine *engine, bool *flag) {
    pthread_mutex_lock(&engine->shared.mutex);
    *flag = true;
    bool needs_wake = nc_mailbox_needs_wake(engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

static void request_close(nc_engine *engine) {
    request_end(engine, &engine->shared.mailbox.is_closing);
}

static void stop_at_exit(nc_live_loop *live) {
    request_close(NC_CONTAINER_OF(live, nc_engine, live));
}

/// Creates everything that free_engine() releases. make_loop() then creates the parts of the event loop.
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
        status = nc_engine_config_init(&engine->state, options, err);
    }
    if (status == NC_OK) {
        status = nc_engine_config_check_files(&engine->state, &engine->files, NC_QUIRK_MAX_NETRC_LINE_BYTES, err);
    }
    if (status == NC_OK) {
        status = nc_cookies_read(engine, err);
    }
    if (status == NC_OK) {
        status = nc_hsts_state_read(engine, err);
    }
    if (status == NC_OK) {
        status = nc_alt_svc_cache_read(engine, err);
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
    nc_status status = nc_poller_choose(choice)->create(&engine->loop.poller, err);
    if (status != NC_OK) {
        return status;
    }
    nc_sockets_init(&engine->loop.sockets, engine->loop.poller);
    nc_queue_init(&engine->loop.queue);
    nc_list_init(&engine->loop.conn_pools);
    nc_list_init(&engine->loop.turns);
    nc_list_init(&engine->loop.ended);
    const nc_poller_kind *kind = engine->loop.poller->kind;
    status = kind->change(engine->loop.poller, engine->shared.mailbox.wake_read_fd, 0, NC_WANT_READ | NC_WANT_EDGE);
    if (status != NC_OK) {
        kind->destroy(engine->loop.poller);
    }
    return status;
}

static void *run_thread(void *argument) {
    nc_engine *engine = argument;
    // Waits until the thread's id is stored: start_thread() holds the mutex until then.
    pthread_mutex_lock(&engine->shared.mutex);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (engine->live.locale != (locale_t)0) {
        (void)uselocale(engine->live.locale);
    }
    nc_trace_pass(&engine->trace, NC_TRACE_ENGINE_STARTED, 0);
    nc_loop_run(engine);
    (void)uselocale(LC_GLOBAL_LOCALE);
    nc_process_remove_loop(&engine->live);
    nc_engine_drop(engine);
    return NULL;
}

static nc_status start_thread(nc_engine *engine) {
    engine->live.stop = stop_at_exit;
    if (!nc_process_add_loop(&engine->live)) {
        return NC_ERR_CLOSED;
    }
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_started = nc_thread_start(&engine->thread, "netcore-loop", run_thread, engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (!is_started) {
        nc_process_remove_loop(&engine->live);
    }
    return is_started ? NC_OK : NC_ERR_THREAD;
}

nc_status nc_engine_prepare(nc_error *err) {
    nc_status status = nc_process_start(err);
    return status == NC_OK ? nc_error_clear(err) : status;
}

nc_status nc_engine_new(nc_engine **out, const nc_engine_options *options, nc_error *err) {
    static const nc_engine_options defaults = {0};
    const nc_engine_options *from = options != NULL ? options : &defaults;
    nc_engine *engine = NULL;
    if (nc_poller_choose(from->poller) == NULL) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "the chosen poller is not available on this system");
    }
    nc_status status = nc_process_start(err);
    if (status != NC_OK) {
        return status;
    }
    if (nc_quirk_is_too_old(nc_quirk_libcurl_version())) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1,
                            "libcurl %s is too old: " NC_QUIRK_OLDEST_VERSION " or later is required",
                            nc_capabilities_query().curl_version);
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
            engine->loop.poller->kind->destroy(engine->loop.poller);
            free_engine(engine);
        }
    }
    if (status != NC_OK) {
        bool is_notified = err != NULL && err->status != NC_OK;
        return is_notified
                   ? status
                   : nc_error_set(err, status, 0, -1, "an engine cannot be started: %s", nc_status_text(status));
    }
    *out = engine;
    return nc_error_clear(err);
}

/* --- submitting --- */

/// The arguments of a submission.
typedef struct submission {
    nc_engine *engine;
    const nc_request *request;
    const nc_sink *sink;
    bool is_for_download; // for a download that was accepted before
    bool is_socket;       // opens a WebSocket
} submission;

static nc_status submit(const submission *asked, nc_transfer_id *out, nc_error *err) {
    nc_engine *engine = asked->engine;
    const nc_sink *sink = asked->sink;
    const nc_request *request = asked->request;
    nc_request chosen;
    if (request->http == NC_HTTP_AUTO && engine->state.http != NC_HTTP_AUTO && !asked->is_socket) {
        chosen = *request;
        chosen.http = engine->state.http;
        request = &chosen;
    }
    nc_transfer *transfer = NULL;
    nc_status status = sink != NULL && sink->on_done == NULL
                           ? nc_error_set(err, NC_ERR_USAGE, 0, -1, "the sink has no on_done callback")
                           : nc_transfer_new(&transfer, engine, request, sink, err);
    if (status != NC_OK) {
        nc_trace_pass(&engine->trace, NC_TRACE_REFUSED, 0);
        return status;
    }
    if (asked->is_socket) {
        nc_transfer_make_socket(transfer);
    }
    status = nc_commands_submit(transfer, asked->is_for_download, out);
    if (status != NC_OK) {
        nc_transfer_free(transfer);
        nc_trace_pass(&engine->trace, NC_TRACE_REFUSED, 0);
        return nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
    }
    nc_engine_drop(engine);
    return nc_error_clear(err);
}

nc_status nc_engine_submit(nc_engine *engine, const nc_request *request, const nc_sink *sink, nc_transfer_id *out,
                           nc_error *err) {
    return submit(&(submission){.engine = engine, .request = request, .sink = sink}, out, err);
}

nc_status nc_engine_submit_for_download(nc_engine *engine, const nc_request *request, const nc_sink *sink,
                                        nc_transfer_id *out, nc_error *err) {
    return submit(&(submission){.engine = engine, .request = request, .sink = sink, .is_for_download = true}, out, err);
}

nc_status nc_engine_submit_socket(nc_engine *engine, const nc_request *request, const nc_sink *sink,
                                  nc_transfer_id *out, nc_error *err) {
    return submit(&(submission){.engine = engine, .request = request, .sink = sink, .is_socket = true}, out, err);
}

bool nc_engine_is_on_loop(const nc_engine *engine) {
    // After the event loop thread has ended, another thread may have the same id.
    return pthread_equal(engine->thread, pthread_self()) != 0 &&
           !atomic_load_explicit(&engine->has_thread_ended, memory_order_relaxed);
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

nc_status nc_engine_wait(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms, nc_response **out, nc_error *err) {
    *out = NULL;
    if (nc_engine_is_on_loop(engine)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the event loop thread cannot wait for a transfer");
    }
    atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
    nc_status status = nc_commands_wait(engine, id, timeout_ms, out, err);
    nc_engine_drop(engine);
    return status;
}

/* --- closing --- */

void nc_engine_finish(nc_engine *engine) {
    request_end(engine, &engine->shared.mailbox.is_finishing);
}

// The owner joins or detaches the thread, exactly once, while it holds its reference.

void nc_engine_release(nc_engine *engine) {
    if (engine != NULL) {
        (void)pthread_detach(engine->thread);
        request_close(engine);
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
    request_close(engine);
    pthread_mutex_lock(&engine->shared.mutex);
    while (!engine->shared.has_stopped && has_time) {
        has_time = nc_condition_wait(&engine->shared.condition, &engine->shared.mutex, timeout_ms, &deadline_ns);
    }
    nc_status status = engine->shared.has_stopped ? NC_OK : NC_ERR_WAIT_TIMED_OUT;
    pthread_mutex_unlock(&engine->shared.mutex);
    // The join needs no timeout: after `has_stopped` the thread only frees its own state. It fails on the loop thread
    // itself, in a destructor of thread-specific data.
    if (status != NC_OK || pthread_join(engine->thread, NULL) != 0) {
        (void)pthread_detach(engine->thread);
    }
    nc_engine_drop(engine);
    return status;
}
