/// The record of the request queue: hosts, and the transfers that wait for a slot.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_QUEUE_RECORD_H
#define NETCORE_PRIVATE_QUEUE_RECORD_H

#include "base/list.h"
#include "state/transfer_record.h"

enum { NC_HOST_BUCKETS = 256, NC_PRIORITIES = 3 };

/// The state of one scheme, host and port, compared as URLs spell them. Transfers that cannot share a connection are in
/// different queues.
struct nc_host {
    nc_host *next_in_bucket;
    nc_link ready_link;             // in the list of hosts that have waiting transfers and a free slot
    int ready_level;                // the priority of that list
    nc_link waiting[NC_PRIORITIES]; // the highest priority first
    uint64_t hash;
    size_t active_count;
    size_t waiting_count;
    bool is_multiplexed; // has responded over HTTP/2 or HTTP/3
    bool has_single;     // had a TLS connection for one request at a time
    bool has_shared;     // had a multiplexed TLS connection
    uint32_t epoch;      // how often its connections were abandoned, see nc_conn_pool_key
    size_t key_length;
    uint8_t key[];
};

typedef struct nc_queue {
    nc_host *buckets[NC_HOST_BUCKETS];
    nc_link ready[NC_PRIORITIES];
    nc_link
        waiting_hops[NC_PRIORITIES]; // waiting transfers of all hosts that had a slot before, in the order of arrival
    bool is_suspended;               // no transfer is started, and running transfers continue
    size_t active_count;
    size_t waiting_count;
    size_t host_count;
} nc_queue;

#endif
