/// The engine in two halves: what only the loop thread touches, and what is touched under the mutex.
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
    // Set before the thread starts and never changed.
    uint32_t max_in_flight;
    uint32_t max_per_host;
    uint32_t max_streams;
    uint32_t max_idle_connections;
    uint32_t max_waiting;
    nc_capabilities capabilities;
    unsigned libcurl_version; // as 0x075801: asking libcurl takes thousands of instructions
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
    nc_strict strict; // the loop's
    nc_alternatives alternatives;
    pthread_t thread;
    atomic_bool has_left; // the thread calls nobody any more, and its name may become another one's

    atomic_uint references; // the owner's, the loop's, one for each waiter
    nc_live_loop live;

    struct {
        nc_poller *poller;
        nc_sockets sockets;
        nc_timers timers;
        nc_queue queue;
        nc_link lanes;
        nc_link turns; // of flows
        nc_gather gather;
        size_t lane_count;
        int64_t clock_ahead_s;   // the time of day before the monotonic one: the most since it was last set back
        uint32_t clock_set_back; // how often it was
        nc_pace send_pace;       // of all transfers together
        nc_pace receive_pace;
        uint64_t connection_count;
        uint64_t now_ns;       // see nc_engine_read_clock()
        uint64_t looked_ns;    // when the last look at the sockets began
        size_t transfer_count; // accepted and not ended
        size_t download_count; // the same, when the mail was last read
        bool has_ended_some;   // on_done was called in this round
        bool wants_drain;
        bool is_finishing;
        bool is_closing;
    } loop;

    struct {
        pthread_mutex_t mutex;
        pthread_cond_t condition; // a transfer without sink has ended, or the loop has
        nc_mailbox mailbox;
        nc_registry registry;
        nc_link downloads; // nc_download.link
        size_t download_count;
        uint64_t last_download_id;
        bool has_sealed;  // changes of the jar are not saved any more
        bool is_ended;    // nc_engine_wake() sends its callers elsewhere
        bool has_stopped; // nothing of the caller's is called any more
    } shared;
};

/// Reads the clock anew: once a round, and where a hop begins and ends, whose moments are reported.
static inline void nc_engine_read_clock(nc_engine *engine) {
    engine->loop.now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
}

/// The time of day in seconds since 1970, which may jump.
static inline int64_t nc_engine_now_s(const nc_engine *engine) {
    return engine->clock.realtime_ns(engine->clock.ctx) / 1000000000;
}

/// Looks whether the time of day was set back. libcurl counts by it for how long it has known an address, and keeps it
/// for a minute: from a clock that is set back by years for as many years. Lanes of before therefore take nothing new.
void nc_engine_heed_clock(nc_engine *engine);

/// Whether libcurl is older than 8.0, where much of HTTP/2 was written anew.
static inline bool nc_engine_has_libcurl_7(const nc_engine *engine) {
    return engine->libcurl_version < 0x080000;
}

/// The loop's idea of now, at most one round old.
static inline uint64_t nc_engine_now(const nc_engine *engine) {
    return engine->loop.now_ns;
}

/// Submits for a download, which was accepted before: also while the engine takes nothing new and waits for what it
/// has.
NC_NODISCARD nc_status nc_engine_submit_held(nc_engine *engine, const nc_request *request, const nc_sink *sink,
                                             nc_transfer_id *out, nc_error *err);
/// The thread's body.
void *nc_loop_main(void *engine);
/// Drops one reference; the last one frees the engine.
void nc_engine_drop(nc_engine *engine);

#endif
