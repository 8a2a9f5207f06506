/// Limits how many transfers run concurrently, in total and per host: each needs a slot. The others wait in the queue
/// of their host, ordered by priority and arrival. Hosts with the same priority take turns. A higher priority at any
/// host precedes all lower ones. Event loop thread only.
#ifndef NETCORE_PRIVATE_HOST_QUEUE_H
#define NETCORE_PRIVATE_HOST_QUEUE_H

#include "state/queue_record.h"

void nc_queue_init(nc_queue *queue);
void nc_queue_deinit(nc_queue *queue);

/// Returns true if no more transfers may wait.
bool nc_queue_is_full(const nc_queue *queue, const nc_engine *engine);
/// Adds a transfer to its host's queue. A further hop is added with `is_first`, before the waiting ones of its priority
/// and even if the queue is full. Returns NC_OK, NC_ERR_TOO_LARGE if too many wait, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_queue_add(nc_queue *queue, nc_transfer *transfer, bool is_first);
/// Removes a waiting transfer.
void nc_queue_remove(nc_queue *queue, nc_transfer *transfer);
/// Changes a transfer's priority. A waiting transfer moves to the end of its new priority. For a running one, the
/// priority applies to its next hop.
void nc_queue_set_priority(nc_queue *queue, nc_transfer *transfer, nc_priority priority);
/// Releases the transfer's slot, if it has one.
void nc_queue_release_slot(nc_queue *queue, nc_transfer *transfer);
/// Records the HTTP version of a response whose hop may share a connection. With HTTP/2 or later, the host may have as
/// many transfers in flight as a connection has streams.
void nc_queue_found_version(nc_queue *queue, nc_transfer *transfer, nc_http_version version);
/// Returns true if the host has had TLS connections, and each of them carried only one request at a time.
bool nc_queue_knows_single(const nc_queue *queue, const nc_url *url);
/// Removes the next transfer that may start from its queue, and gives it a slot. Returns NULL if there is none.
nc_transfer *nc_queue_take_ready(nc_queue *queue, const nc_engine *engine);

#endif
