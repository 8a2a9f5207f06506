/// A connection pool: the connections, name cache and TLS sessions of one trust policy.
///
/// libcurl reuses connections and sessions across verify callbacks, and cannot close a single idle connection. So each
/// trust policy has its own pool. Event loop thread only.
#ifndef NETCORE_PRIVATE_LANE_H
#define NETCORE_PRIVATE_LANE_H

#include "base/worker.h"
#include "net/handle.h"
#include "net/mailbox.h"
#include "net/timers.h"
#include "trust/identity.h"
#include "trust/known_chains.h"
#include "trust/policy.h"
#include "trust/report.h"

typedef enum nc_roots_state { NC_ROOTS_NOT_ASKED, NC_ROOTS_ASKED, NC_ROOTS_READY, NC_ROOTS_FAILED } nc_roots_state;

struct nc_lane {
    nc_link link;
    nc_engine *engine;
    nc_trust *trust;
    CURLM *multi;
    CURLSH *share;
    bool is_apart;      // its connections are exclusive
    uint8_t dscp;       // of its connections; 0 is none
    uint64_t proxy_key; // see nc_access_proxy_key()
    uint64_t user_key;  // see nc_access_user_key()
    uint64_t place_key; // of the route of its hops: nc_detour_key(), nc_description.places_key, or 0
    uint32_t epoch;     // nc_host.epoch of its hops
    uint32_t made_at;   // nc_engine.loop.clock_set_back at its creation
    bool has_single;    // with other routes: had a connection for one request at a time
    bool has_shared;    // had a multiplexed one
    nc_timer timer;
    nc_handle *free_handles;
    size_t free_handle_count;
    size_t active_count;   // its transfers that wait for authorities or are in libcurl
    long kept_connections; // the limit last set in libcurl
    nc_link running;       // transfers in libcurl
    nc_link socketless;    // connecting handles without a socket that libcurl waits for
    size_t source_count;   // of these, those with a body source
    bool is_firing;        // `timer`
    unsigned idle_turns;   // consecutive immediate calls of `timer` in which libcurl delivered and took nothing
    uint64_t steps;        // calls of libcurl, and everything it delivered or took in them
    uint64_t acts;         // calls of libcurl
    bool has_unsure;       // one of `running` may be nc_handle.is_unsure
    bool has_over;         // an HTTP/2 connection is over, and others of `running` may use it
    bool is_nudging;       // libcurl is being called for `has_unsure`
    bool is_leaving;       // a hop is being removed from libcurl, and its name resolution too
    uint64_t used_ns;
    bool is_dirty;  // libcurl was called since its messages were last read
    bool is_broken; // libcurl has failed: running transfers fail, none is started

    nc_roots_state roots_state;
    nc_root_store *roots;
    nc_identity *identity;
    nc_error roots_error;
    nc_known_chains known;  // verified with `roots`
    nc_report_gate reports; // what was reported to the policy's observer
    nc_link awaiting_roots;
    // The worker thread's until the result is in the mailbox.
    nc_work work;
    nc_answer answer;
    nc_root_store *loaded_roots;
    nc_identity *loaded_identity;
    nc_error load_error;
};

/// Distinguishes the pools of an engine.
typedef struct nc_lane_key {
    nc_trust *trust;
    bool is_apart;
    uint8_t dscp;
    uint64_t proxy_key;
    uint64_t user_key;
    uint64_t place_key;
    uint32_t epoch; // libcurl keeps using a dead connection, but never one of another pool
} nc_lane_key;

/// Returns the pool of a key, and creates it if needed. Returns NULL with `err` filled on failure.
nc_lane *nc_lane_for(nc_engine *engine, nc_lane_key key, nc_error *err);
/// Closes a pool without transfers, and all its connections.
void nc_lane_close(nc_lane *lane);

/// Counts a transfer that enters the pool.
void nc_lane_enter(nc_lane *lane);
/// Counts a transfer that leaves the pool.
void nc_lane_leave(nc_lane *lane);

/// Queues the transfer until the authorities are loaded. It then continues or fails by itself.
void nc_lane_await_roots(nc_lane *lane, nc_transfer *transfer);
/// Returns true if a secure hop must wait for nc_lane_await_roots().
bool nc_lane_needs_roots(const nc_lane *lane);

/// Counts received bytes. Returns their number since the pool's last step.
static inline size_t nc_lane_count_unheeded(const nc_lane *lane, nc_unheeded *count, size_t bytes) {
    if (count->step != lane->steps) {
        *count = (nc_unheeded){.step = lane->steps};
    }
    count->bytes += bytes;
    return count->bytes;
}

/// Handles an event of a socket (CURL_CSELECT_* bits), or CURL_SOCKET_TIMEOUT with 0.
void nc_lane_act(nc_lane *lane, curl_socket_t fd, int events);
/// Returns true if another transfer of the pool uses the same connection.
bool nc_lane_is_shared_by_others(const nc_lane *lane, const nc_transfer *transfer);
/// Makes libcurl check all streams in flight. It reports the end of an HTTP/2 connection only to the transfer that read
/// it. The others would learn of it when more bytes arrive, possibly never.
void nc_lane_doubt_streams(nc_lane *lane);
/// The same for a connection that is over (nc_tls_is_over()): its transfers are ended if libcurl does not do it.
void nc_lane_end_streams(nc_lane *lane);
/// Removes a hop's handle from libcurl. It is freed unless it is kept for other hops.
void nc_lane_take_back(nc_lane *lane, nc_handle *handle, bool is_kept);
/// Ends the hops that libcurl is done with.
void nc_lane_collect(nc_lane *lane);
/// Returns true if the pool is empty and no longer useful.
bool nc_lane_is_spent(const nc_lane *lane);

#endif
