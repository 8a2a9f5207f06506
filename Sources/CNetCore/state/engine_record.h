/// The record of an engine: constant members, members of the event loop thread (`loop`), and members that the mutex
/// guards (`shared`).
#ifndef NETCORE_PRIVATE_ENGINE_RECORD_H
#define NETCORE_PRIVATE_ENGINE_RECORD_H

#include "base/pool.h"
#include "base/worker.h"
#include "event_loop/process.h"
#include "event_loop/sockets.h"
#include "request/engine_config.h"
#include "state/alt_svc_cache.h"
#include "state/cookies.h"
#include "state/hsts_state.h"
#include "state/mailbox.h"
#include "state/queue_record.h"
#include "state/registry.h"

#include <pthread.h>
#include <stdatomic.h>

/// The functions that libcurl, timers and the worker thread call. libcurl passes them the nc_easy_handle, and
/// close_socket the engine.
typedef struct nc_transfer_events {
    curl_write_callback on_header;
    curl_write_callback on_body;
    curl_read_callback on_upload;
    curl_seek_callback on_seek;
    curl_trailer_callback on_trailers;
    curl_debug_callback on_debug;
    curl_xferinfo_callback on_progress;
    curl_prereq_callback on_connected;
    curl_opensocket_callback open_socket;
    curl_closesocket_callback close_socket;
    void (*pool_timer_due)(nc_timer *timer);
    void (*roots_ready)(nc_conn_pool *conn_pool);
    void (*files_opened)(nc_transfer *transfer);
    void (*files_closed)(nc_transfer *transfer);
    void (*part_opened)(nc_transfer *transfer);
} nc_transfer_events;

struct nc_engine {
    // Set before the thread starts, and constant.
    uint32_t max_in_flight;
    uint32_t max_per_host;
    uint32_t max_streams;
    uint32_t max_idle_connections;
    uint32_t max_waiting;
    nc_capabilities capabilities;
    unsigned libcurl_version;   // see nc_quirk_libcurl_version()
    bool quic_appends_trailers; // see nc_quirk_appends_trailers()
    nc_clock clock;
    nc_file_ops files;
    nc_trace trace;
    nc_loop_client client;
    const nc_transfer_events *events;
    nc_trust *trust;
    bool refuses_plaintext;
    nc_pool *pool;
    nc_worker *worker;
    nc_engine_config state;
    nc_cookies cookies;
    nc_hsts_state hsts; // event loop thread only
    nc_alt_svc_cache alternatives;
    pthread_t thread;
    atomic_bool has_thread_ended; // no callback will run, and another thread may get the thread's id

    atomic_uint references; // of the owner, of the event loop and of each waiter
    nc_live_loop live;

    struct {
        nc_poller *poller;
        nc_sockets sockets;
        nc_timers timers;
        nc_queue queue;
        nc_link conn_pools;
        nc_link ended;          // transfers whose on_done was not called yet, in the order of their ends
        unsigned libcurl_calls; // depth of calls of libcurl on the stack, in which callbacks may run
        nc_link turns;          // decoders that continue in the next round
        nc_write_buffer write_buffer;
        size_t conn_pool_count;
        int64_t clock_ahead_s;   // wall clock minus monotonic clock: the maximum since the wall clock was last set back
        uint32_t clock_set_back; // how often the wall clock was set back
        nc_pace send_pace;       // shared by all transfers
        nc_pace receive_pace;
        uint64_t connection_count;
        uint64_t now_ns;       // see nc_engine_read_clock()
        uint64_t polled_ns;    // when the last poll began
        size_t transfer_count; // transfers that were accepted and have not ended
        size_t download_count; // shared.download_count at the last read of the mailbox
        bool has_ended_some;   // on_done was called in this round
        bool wants_drain;
        bool is_finishing;
        bool is_closing;
    } loop;

    struct {
        pthread_mutex_t mutex;
        pthread_cond_t condition; // signals that a transfer without sink or the event loop has ended
        nc_mailbox mailbox;
        nc_registry registry;
        nc_link downloads; // nc_download.link
        size_t download_count;
        void (*cancel_downloads)(nc_engine *engine); // when the engine closes; NULL before the first download
        uint64_t last_download_id;
        bool has_sealed;  // the jar's changes are no longer saved
        bool is_ended;    // nc_engine_wake() must not use the engine any more
        bool has_stopped; // no callback is called any more
    } shared;
};

/// Reads the clock: once per round, and when a hop begins or ends, because those times are reported exactly.
static inline void nc_engine_read_clock(nc_engine *engine) {
    engine->loop.now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
}

/// Returns the wall clock in seconds since 1970, which may jump.
static inline int64_t nc_engine_now_s(const nc_engine *engine) {
    return engine->clock.realtime_ns(engine->clock.ctx) / 1000000000;
}

/// Returns the event loop's current time, at most one round old.
static inline uint64_t nc_engine_now(const nc_engine *engine) {
    return engine->loop.now_ns;
}

/// Called before and after each call of libcurl that may call back. In between, on_done is not called.
static inline void nc_engine_enter_libcurl(nc_engine *engine) {
    engine->loop.libcurl_calls++;
}

static inline void nc_engine_leave_libcurl(nc_engine *engine) {
    engine->loop.libcurl_calls--;
}

/// Submits the request of a WebSocket handshake, a GET with a body source of NC_SOCKET_BODY_BYTES.
///
/// The source is only read after the 101, and what it gives is sent as it is. The bytes after the 101 go to on_body.
/// The limits of the request apply until the 101.
NC_NODISCARD nc_status nc_engine_submit_socket(nc_engine *engine, const nc_request *request, const nc_sink *sink,
                                               nc_transfer_id *out, nc_error *err);
/// The announced length of a WebSocket's endless body. Nothing depends on its value.
#define NC_SOCKET_BODY_BYTES ((uint64_t)INT64_MAX / 2)

/// Submits a request of an accepted download, even if the engine is finishing and accepts no other requests.
NC_NODISCARD nc_status nc_engine_submit_for_download(nc_engine *engine, const nc_request *request, const nc_sink *sink,
                                                     nc_transfer_id *out, nc_error *err);
/// Runs rounds until the engine is closed or finished, and releases what belongs to the event loop.
void nc_loop_run(nc_engine *engine);
/// Releases one reference. The last one frees the engine.
void nc_engine_drop(nc_engine *engine);

#endif
