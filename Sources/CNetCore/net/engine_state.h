/// The engine in two halves: fields of the event loop thread, and fields that the mutex guards.
#ifndef NETCORE_PRIVATE_ENGINE_STATE_H
#define NETCORE_PRIVATE_ENGINE_STATE_H

#include "base/pool.h"
#include "base/worker.h"
#include "net/alternatives.h"
#include "net/cookies.h"
#include "net/gather.h"
#include "net/lane.h"
#include "net/mailbox.h"
#include "net/process.h"
#include "net/queue.h"
#include "net/registry.h"
#include "net/sockets.h"
#include "net/state.h"
#include "net/strict.h"

#include <pthread.h>
#include <stdatomic.h>

struct nc_engine {
    // Set before the thread starts, and constant.
    uint32_t max_in_flight;
    uint32_t max_per_host;
    uint32_t max_streams;
    uint32_t max_idle_connections;
    uint32_t max_waiting;
    nc_capabilities capabilities;
    unsigned libcurl_version; // such as 0x075801: asking libcurl takes thousands of instructions
    nc_clock clock;
    nc_file_ops files;
    nc_trace trace;
    nc_loop_client client;
    nc_trust *trust;
    bool refuses_plaintext;
    nc_pool *pool;
    nc_worker *worker;
    nc_state state;
    nc_cookies cookies;
    nc_strict strict; // event loop thread only
    nc_alternatives alternatives;
    pthread_t thread;
    atomic_bool has_left; // no callback is running, and the thread's id may be reused

    atomic_uint references; // the owner's, the event loop's and one per waiter
    nc_live_loop live;

    struct {
        nc_poller *poller;
        nc_sockets sockets;
        nc_timers timers;
        nc_queue queue;
        nc_link lanes;
        nc_link turns; // decoders that continue in the next round
        nc_gather gather;
        size_t lane_count;
        int64_t clock_ahead_s;   // wall clock minus monotonic clock: the maximum since the wall clock was last set back
        uint32_t clock_set_back; // how often it was set back
        nc_pace send_pace;       // shared by all transfers
        nc_pace receive_pace;
        uint64_t connection_count;
        uint64_t now_ns;       // see nc_engine_read_clock()
        uint64_t looked_ns;    // when the last poll began
        size_t transfer_count; // accepted and not ended
        size_t download_count; // the same, at the last read of the mailbox
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
        uint64_t last_download_id;
        bool has_sealed;  // the jar's changes are no longer saved
        bool is_ended;    // nc_engine_wake() must not use the engine any more
        bool has_stopped; // no callback is called any more
    } shared;
};

/// Reads the clock: once per round, and when a hop begins or ends, because these times are reported.
static inline void nc_engine_read_clock(nc_engine *engine) {
    engine->loop.now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
}

/// Returns the wall clock in seconds since 1970, which may jump.
static inline int64_t nc_engine_now_s(const nc_engine *engine) {
    return engine->clock.realtime_ns(engine->clock.ctx) / 1000000000;
}

/// Detects that the wall clock was set back. libcurl uses it to expire cached addresses after a minute, so a clock that
/// is set back by years would keep them for years. Earlier connection pools therefore accept no new transfers.
void nc_engine_heed_clock(nc_engine *engine);

/// Returns the event loop's current time, at most one round old.
static inline uint64_t nc_engine_now(const nc_engine *engine) {
    return engine->loop.now_ns;
}

/// Submits a request of an accepted download, also while the engine accepts nothing new and drains.
NC_NODISCARD nc_status nc_engine_submit_held(nc_engine *engine, const nc_request *request, const nc_sink *sink,
                                             nc_transfer_id *out, nc_error *err);
/// The main function of the thread.
void *nc_loop_main(void *engine);
/// Releases one reference. The last one frees the engine.
void nc_engine_drop(nc_engine *engine);

#endif
