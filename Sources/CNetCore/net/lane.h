/// A lane: the connections, name cache and TLS sessions of one trust policy.
///
/// libcurl reuses connections and sessions across verify callbacks and cannot close one idle connection, so what was
/// checked under one policy is kept apart from every other by construction. Confined to the loop thread.
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
    bool is_apart;      // its connections carry one transfer at a time
    uint8_t dscp;       // the class of service of its connections; 0 is none
    uint64_t proxy_key; // see nc_access_proxy_key()
    uint64_t user_key;  // see nc_access_user_key()
    uint64_t place_key; // of where its hops are sent: nc_detour_key(), nc_description.places_key, or 0
    uint32_t epoch;     // nc_host.epoch of those whose hops it takes
    uint32_t made_at;   // nc_engine.loop.clock_set_back then
    bool has_single;    // on ways to other places: had a connection that carries one request at a time
    bool has_shared;    // had one that carries several
    nc_timer timer;
    nc_handle *free_handles;
    size_t free_handle_count;
    size_t active_count;   // transfers that are in it, waiting for roots or with libcurl
    long kept_connections; // what libcurl was last told to keep
    nc_link running;       // those with libcurl
    nc_link socketless;    // handles that connect, and that libcurl waits for no socket of
    size_t source_count;   // of these, those with a source for their body
    bool is_firing;        // `timer`
    unsigned idle_turns;   // of `timer` in a row, at once, in which libcurl gave and took nothing
    uint64_t steps;        // calls of libcurl, and whatever it gave or took in them
    uint64_t acts;         // calls of libcurl
    bool has_unsure;       // of `running`, one may be nc_handle.is_unsure
    bool has_over;         // a connection of HTTP/2 is over, and others of `running` may be on it
    bool is_nudging;       // libcurl is called for the sake of those
    bool is_leaving;       // a hop is taken back from libcurl, and what it asked for names
    uint64_t used_ns;
    bool is_dirty;  // libcurl was called since its messages were last read
    bool is_broken; // libcurl gave up on it: what runs fails, nothing new begins

    nc_roots_state roots_state;
    nc_root_store *roots;
    nc_identity *identity;
    nc_error roots_error;
    nc_known_chains known;  // that verified with `roots`
    nc_report_gate reports; // what the policy's observer was told
    nc_link awaiting_roots;
    // The worker's until the answer is back in the mailbox.
    nc_work work;
    nc_answer answer;
    nc_root_store *loaded_roots;
    nc_identity *loaded_identity;
    nc_error load_error;
};

/// What tells the lanes of an engine apart.
typedef struct nc_lane_key {
    nc_trust *trust;
    bool is_apart;
    uint8_t dscp;
    uint64_t proxy_key;
    uint64_t user_key;
    uint64_t place_key;
    uint32_t epoch; // libcurl goes on joining a connection that is dead; nobody joins one of another lane
} nc_lane_key;

/// Finds the lane for a key or makes it; NULL with `err` filled when that fails.
nc_lane *nc_lane_for(nc_engine *engine, nc_lane_key key, nc_error *err);
/// Closes a lane with no transfer in it, and all its connections.
void nc_lane_close(nc_lane *lane);

/// A transfer comes into the lane.
void nc_lane_enter(nc_lane *lane);
/// A transfer of the lane's is done with.
void nc_lane_leave(nc_lane *lane);

/// Queues the transfer until the authorities are there; it then goes on or fails by itself.
void nc_lane_await_roots(nc_lane *lane, nc_transfer *transfer);
/// Whether a secure hop has to wait for nc_lane_await_roots().
bool nc_lane_needs_roots(const nc_lane *lane);

/// Counts bytes that came; returns how many there are since the lane's last step.
static inline size_t nc_lane_count_unheeded(const nc_lane *lane, nc_unheeded *count, size_t bytes) {
    if (count->step != lane->steps) {
        *count = (nc_unheeded){.step = lane->steps};
    }
    count->bytes += bytes;
    return count->bytes;
}

/// Something happened on a socket of the lane's (CURL_CSELECT_ bits), or CURL_SOCKET_TIMEOUT with 0.
void nc_lane_act(nc_lane *lane, curl_socket_t fd, int events);
/// Whether another transfer of the lane's is on the same connection.
bool nc_lane_is_shared_by_others(const nc_lane *lane, const nc_transfer *transfer);
/// Has libcurl look at all streams under way: it tells the end of a connection of HTTP/2 to the one that read it, and
/// to others when something more comes, which may be never.
void nc_lane_doubt_streams(nc_lane *lane);
/// The same, for a connection that is over (nc_tls_is_over()): its transfers are ended when libcurl does not do it.
void nc_lane_end_streams(nc_lane *lane);
/// Takes a hop's handle back from libcurl. It is freed unless it is kept for other hops.
void nc_lane_take_back(nc_lane *lane, nc_handle *handle, bool is_kept);
/// Ends the hops that libcurl is done with.
void nc_lane_collect(nc_lane *lane);
/// True when the lane is of no more use and nothing is in it.
bool nc_lane_is_spent(const nc_lane *lane);

#endif
