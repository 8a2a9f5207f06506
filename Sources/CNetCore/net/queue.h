/// Slots: how many transfers go at once, in total and per host; the rest wait here, each host's in order of priority
/// and arrival, hosts in turns. What has a higher priority goes before all that has a lower one, at whatever host.
/// Confined to the loop thread.
#ifndef NETCORE_PRIVATE_QUEUE_H
#define NETCORE_PRIVATE_QUEUE_H

#include "net/transfer.h"

enum { NC_HOST_BUCKETS = 256, NC_PRIORITIES = 3 };

/// What is known of one scheme, host and port, as URLs spell them; transfers that may share a connection with others
/// have a row of their own.
struct nc_host {
    nc_host *next_in_bucket;
    nc_link ready_link;             // in a row of hosts that have both work and room
    int ready_level;                // that row's
    nc_link waiting[NC_PRIORITIES]; // the highest first
    uint64_t hash;
    size_t active_count;
    size_t waiting_count;
    bool is_multiplexed; // answered over HTTP/2 or later
    bool has_single;     // had a connection over TLS that carries one request at a time
    bool has_shared;     // had one that carries several
    uint32_t epoch;      // counts how often its connections were left behind, see nc_lane_key
    size_t key_length;
    uint8_t key[];
};

typedef struct nc_queue {
    nc_host *buckets[NC_HOST_BUCKETS];
    nc_link ready[NC_PRIORITIES];
    nc_link further[NC_PRIORITIES]; // those that wait and had a slot before, whatever their host, as they came
    bool is_suspended;              // nobody begins, and whoever has begun goes on
    size_t active_count;
    size_t waiting_count;
    size_t host_count;
} nc_queue;

void nc_queue_init(nc_queue *queue);
void nc_queue_deinit(nc_queue *queue);

/// Whether no more may wait.
bool nc_queue_is_full(const nc_queue *queue, const nc_engine *engine);
/// Puts a transfer to its host's queue; `is_first`: before those that wait already (a redirect's next hop), and also
/// when it is full. NC_OK, NC_ERR_TOO_LARGE when too many wait, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_queue_add(nc_queue *queue, nc_transfer *transfer, bool is_first);
/// Takes a waiting transfer out.
void nc_queue_remove(nc_queue *queue, nc_transfer *transfer);
/// Moves a waiting transfer to the end of its new priority's row, or notes the priority for its next hop.
void nc_queue_set_priority(nc_queue *queue, nc_transfer *transfer, nc_priority priority);
/// Gives a slot back.
void nc_queue_release_slot(nc_queue *queue, nc_transfer *transfer);
/// The host has answered one that may share a connection: over HTTP/2 many streams fit on it, over HTTP/1.1 none.
void nc_queue_found_version(nc_queue *queue, nc_transfer *transfer, nc_http_version version);
/// Whether all connections over TLS that were to be shared, and there were some, carried one request at a time.
bool nc_queue_knows_single(const nc_queue *queue, nc_slice url);
/// Takes the next transfer that may go, its slot granted; NULL when none may.
nc_transfer *nc_queue_take_ready(nc_queue *queue, const nc_engine *engine);

#endif
