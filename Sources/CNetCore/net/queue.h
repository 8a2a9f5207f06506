/// Slots: limits how many transfers run concurrently, in total and per host. The others wait here: each host's by
/// priority and arrival, hosts in turns. A higher priority precedes all lower ones, at any host. Event loop thread
/// only.
#ifndef NETCORE_PRIVATE_QUEUE_H
#define NETCORE_PRIVATE_QUEUE_H

#include "net/transfer.h"

enum { NC_HOST_BUCKETS = 256, NC_PRIORITIES = 3 };

/// The state of one scheme, host and port, as URLs spell them. Transfers that may share a connection have their own
/// queue.
struct nc_host {
    nc_host *next_in_bucket;
    nc_link ready_link;             // in a list of hosts that have both waiting transfers and room
    int ready_level;                // the priority of that list
    nc_link waiting[NC_PRIORITIES]; // the highest priority first
    uint64_t hash;
    size_t active_count;
    size_t waiting_count;
    bool is_multiplexed; // responded over HTTP/2 or later
    bool has_single;     // had a TLS connection for one request at a time
    bool has_shared;     // had a multiplexed one
    uint32_t epoch;      // how often its connections were abandoned, see nc_lane_key
    size_t key_length;
    uint8_t key[];
};

typedef struct nc_queue {
    nc_host *buckets[NC_HOST_BUCKETS];
    nc_link ready[NC_PRIORITIES];
    nc_link further[NC_PRIORITIES]; // waiting transfers that had a slot before, of all hosts, in order of arrival
    bool is_suspended;              // no transfer is started; running ones continue
    size_t active_count;
    size_t waiting_count;
    size_t host_count;
} nc_queue;

void nc_queue_init(nc_queue *queue);
void nc_queue_deinit(nc_queue *queue);

/// Returns true if no more transfers may wait.
bool nc_queue_is_full(const nc_queue *queue, const nc_engine *engine);
/// Adds a transfer to its host's queue. `is_first`: before all waiting ones (a redirect's next hop), and also if the
/// queue is full. Returns NC_OK, NC_ERR_TOO_LARGE if too many wait, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_queue_add(nc_queue *queue, nc_transfer *transfer, bool is_first);
/// Removes a waiting transfer.
void nc_queue_remove(nc_queue *queue, nc_transfer *transfer);
/// Moves a waiting transfer to the end of its new priority, or stores the priority for its next hop.
void nc_queue_set_priority(nc_queue *queue, nc_transfer *transfer, nc_priority priority);
/// Returns a slot.
void nc_queue_release_slot(nc_queue *queue, nc_transfer *transfer);
/// Records the HTTP version of a response that may share a connection: with HTTP/2 many streams fit on one, with
/// HTTP/1.1 none.
void nc_queue_found_version(nc_queue *queue, nc_transfer *transfer, nc_http_version version);
/// Returns true if there were TLS connections to be shared, and all of them carried one request at a time.
bool nc_queue_knows_single(const nc_queue *queue, nc_slice url);
/// Takes the next transfer that may start, with a slot; NULL if there is none.
nc_transfer *nc_queue_take_ready(nc_queue *queue, const nc_engine *engine);

#endif
