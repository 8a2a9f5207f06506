/// The record of a connection pool. Event loop thread only.
#ifndef NETCORE_PRIVATE_CONNECTION_POOL_RECORD_H
#define NETCORE_PRIVATE_CONNECTION_POOL_RECORD_H

#include "base/worker.h"
#include "event_loop/timers.h"
#include "state/easy_handle_record.h"
#include "state/mailbox.h"
#include "trust/handshake.h"
#include "trust/identity.h"
#include "trust/policy.h"
#include "trust/verified_chain_cache.h"

typedef enum nc_roots_state { NC_ROOTS_NOT_LOADED, NC_ROOTS_LOADING, NC_ROOTS_READY, NC_ROOTS_FAILED } nc_roots_state;

struct nc_conn_pool {
    nc_link link;
    nc_engine *engine;
    nc_trust *trust;
    CURLM *multi;
    CURLSH *share;
    bool is_exclusive; // for this and the next five members, see nc_conn_pool_key
    uint8_t dscp;      // 0 for none
    uint64_t proxy_key;
    uint64_t user_key;
    uint64_t endpoint_key;
    uint32_t epoch;
    uint32_t clock_set_back; // nc_engine.loop.clock_set_back at its creation
    bool has_single;         // if `endpoint_key` is not 0: had a connection for one request at a time
    bool has_shared;         // if `endpoint_key` is not 0: had a multiplexed connection
    nc_timer timer;
    nc_easy_handle *free_handles;
    size_t free_handle_count;
    size_t active_count;          // transfers of the pool that wait for authorities or are in libcurl
    long kept_connections;        // the limit last set in libcurl
    nc_link running;              // transfers in libcurl
    nc_link socketless;           // connecting handles without a socket that libcurl waits for
    size_t source_count;          // transfers of `running` with nc_transfer_has_source()
    bool is_firing;               // `timer` is calling libcurl
    uint64_t step_count;          // number of calls of libcurl, and of deliveries and reads of bytes within them
    uint64_t call_count;          // number of calls of libcurl
    bool has_buffered_candidates; // a handle in `running` may have may_have_buffered_data set
    bool has_ended_connection;    // an HTTP/2 connection has ended, and other transfers of `running` may use it
    bool is_nudging;              // libcurl is being called for `has_buffered_candidates`
    bool is_removing_hop;         // a hop and its name resolution are being removed from libcurl
    uint64_t used_ns;
    bool has_unread_messages; // libcurl was called since its messages were last read
    bool is_broken;           // libcurl has failed: running transfers fail, and no transfer is started

    nc_roots_state roots_state;
    nc_root_store *roots;
    nc_identity *identity;
    nc_error roots_error;
    nc_verified_chain_cache verified_chains; // chains that were verified with `roots`
    nc_report_limiter reports;               // what was reported to the policy's observer
    nc_link awaiting_roots;
    // Only the worker thread uses the following members until its result is in the mailbox.
    nc_work work;
    nc_worker_result result;
    nc_root_store *loaded_roots;
    nc_identity *loaded_identity;
    nc_error load_error;
};

/// Counts received bytes. Returns the number of bytes since nc_conn_pool.step_count last changed.
static inline size_t nc_conn_streams_count(const nc_conn_pool *conn_pool, nc_undelivered_count *count, size_t bytes) {
    if (count->step != conn_pool->step_count) {
        *count = (nc_undelivered_count){.step = conn_pool->step_count};
    }
    count->bytes += bytes;
    return count->bytes;
}

#endif
