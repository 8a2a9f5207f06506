#include "transfer/host_queue.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/list.h"
#include "base/trace.h"
#include "curl/easy_handle.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"

#include <string.h>

/// How many hosts without transfers are kept, and how long a host's key may be.
enum { MAX_IDLE_HOSTS = 1024, MAX_KEY_BYTES = 300 };

void nc_queue_init(nc_queue *queue) {
    *queue = (nc_queue){0};
    for (int level = 0; level < NC_PRIORITIES; level++) {
        nc_list_init(&queue->ready[level]);
        nc_list_init(&queue->waiting_hops[level]);
    }
}

void nc_queue_deinit(nc_queue *queue) {
    for (size_t i = 0; i < NC_HOST_BUCKETS; i++) {
        while (queue->buckets[i] != NULL) {
            nc_host *host = queue->buckets[i];
            queue->buckets[i] = host->next_in_bucket;
            nc_free(host);
        }
    }
}

/// Writes the key: "s" (https) or "p" (http), the port and the canonical host. The letter is in upper case for
/// transfers on exclusive connections and for HTTP/1, because multiplexing does not raise their limit.
static size_t make_key(uint8_t *key, const nc_url *url, bool shares, uint64_t *hash) {
    const nc_origin *origin = &url->origin;
    // libcurl will refuse a URL without an origin.
    nc_slice host = url->status == NC_OK ? origin->host.text : url->host_and_port;
    size_t length = 0;
    key[length++] = origin->is_secure ? (shares ? 's' : 'S') : (shares ? 'p' : 'P');
    key[length++] = (uint8_t)(origin->port >> 8);
    key[length++] = (uint8_t)origin->port;
    for (size_t i = 0; i < host.length && length < MAX_KEY_BYTES; i++) {
        key[length++] = host.data[i];
    }
    *hash = nc_fnv_add(NC_FNV_START, nc_slice_make(key, length));
    return length;
}

static void forget_idle_hosts(nc_queue *queue) {
    for (size_t i = 0; i < NC_HOST_BUCKETS; i++) {
        nc_host **link = &queue->buckets[i];
        while (*link != NULL) {
            nc_host *host = *link;
            if (host->active_count == 0 && host->waiting_count == 0) {
                *link = host->next_in_bucket;
                queue->host_count--;
                nc_free(host);
            } else {
                link = &host->next_in_bucket;
            }
        }
    }
}

static nc_host *find(const nc_queue *queue, const uint8_t *key, size_t length, uint64_t hash) {
    nc_host *host = queue->buckets[hash % NC_HOST_BUCKETS];
    while (host != NULL && (host->hash != hash || host->key_length != length || memcmp(host->key, key, length) != 0)) {
        host = host->next_in_bucket;
    }
    return host;
}

bool nc_queue_knows_single(const nc_queue *queue, const nc_url *url) {
    uint8_t key[MAX_KEY_BYTES];
    uint64_t hash;
    size_t length = make_key(key, url, true, &hash);
    const nc_host *host = find(queue, key, length, hash);
    return host != NULL && host->has_single && !host->has_shared;
}

static nc_host *host_for(nc_queue *queue, const nc_url *url, bool shares) {
    uint8_t key[MAX_KEY_BYTES];
    uint64_t hash;
    size_t length = make_key(key, url, shares, &hash);
    nc_host *known = find(queue, key, length, hash);
    if (known != NULL) {
        return known;
    }
    if (queue->host_count >= MAX_IDLE_HOSTS + queue->active_count + queue->waiting_count) {
        forget_idle_hosts(queue);
    }
    nc_host *host = nc_alloc_zeroed(1, sizeof *host + length);
    if (host == NULL) {
        return NULL;
    }
    for (int level = 0; level < NC_PRIORITIES; level++) {
        nc_list_init(&host->waiting[level]);
    }
    host->hash = hash;
    host->key_length = length;
    memcpy(host->key, key, length);
    host->next_in_bucket = queue->buckets[hash % NC_HOST_BUCKETS];
    queue->buckets[hash % NC_HOST_BUCKETS] = host;
    queue->host_count++;
    return host;
}

static bool has_room(const nc_host *host, const nc_engine *engine) {
    uint32_t limit = engine->max_per_host;
    if (host->is_multiplexed && engine->max_streams > limit) {
        limit = engine->max_streams;
    }
    return host->active_count < limit;
}

static int level_of(nc_priority priority) {
    return priority == NC_PRIORITY_HIGH ? 0 : priority == NC_PRIORITY_LOW ? 2 : 1;
}

/// Returns the highest priority that waits at a host, or NC_PRIORITIES if none waits.
static int first_level(const nc_host *host) {
    int level = 0;
    while (level < NC_PRIORITIES && nc_list_is_empty(&host->waiting[level])) {
        level++;
    }
    return level;
}

static void update_ready(nc_queue *queue, nc_host *host, const nc_engine *engine) {
    bool is_listed = host->ready_link.next != NULL;
    int level = has_room(host, engine) ? first_level(host) : NC_PRIORITIES;
    if (is_listed && level != host->ready_level) {
        nc_list_remove(&host->ready_link);
        is_listed = false;
    }
    if (!is_listed && level < NC_PRIORITIES) {
        host->ready_level = level;
        nc_list_append(&queue->ready[level], &host->ready_link);
    }
}

bool nc_queue_is_full(const nc_queue *queue, const nc_engine *engine) {
    return queue->waiting_count >= engine->max_waiting;
}

nc_status nc_queue_add(nc_queue *queue, nc_transfer *transfer, bool is_first) {
    // A further hop of an accepted transfer is added even if the queue is full.
    if (!is_first && nc_queue_is_full(queue, transfer->engine)) {
        return NC_ERR_TOO_LARGE;
    }
    bool shares = !transfer->is_exclusive && nc_protocol_may_be_multiplexed(transfer);
    nc_host *host = host_for(queue, &transfer->target.url, shares);
    if (host == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    transfer->schedule.host = host;
    nc_link *row = &host->waiting[level_of(transfer->schedule.priority)];
    nc_list_insert(is_first ? row : row->previous, &transfer->link);
    if (transfer->schedule.has_begun) {
        nc_list_append(&queue->waiting_hops[level_of(transfer->schedule.priority)],
                       &transfer->schedule.waiting_hop_link);
    }
    host->waiting_count++;
    queue->waiting_count++;
    update_ready(queue, host, transfer->engine);
    return NC_OK;
}

void nc_queue_remove(nc_queue *queue, nc_transfer *transfer) {
    nc_list_remove(&transfer->link);
    nc_list_remove(&transfer->schedule.waiting_hop_link);
    transfer->schedule.host->waiting_count--;
    queue->waiting_count--;
    update_ready(queue, transfer->schedule.host, transfer->engine);
    transfer->schedule.host = NULL;
}

void nc_queue_release_slot(nc_queue *queue, nc_transfer *transfer) {
    if (!transfer->schedule.has_slot) {
        return;
    }
    transfer->schedule.has_slot = false;
    transfer->schedule.host->active_count--;
    queue->active_count--;
    update_ready(queue, transfer->schedule.host, transfer->engine);
    transfer->schedule.host = NULL;
}

void nc_queue_found_version(nc_queue *queue, nc_transfer *transfer, nc_http_version version) {
    bool is_multiplexed = version >= NC_HTTP_VERSION_2;
    if (transfer->schedule.host != NULL && transfer->schedule.host->is_multiplexed != is_multiplexed) {
        transfer->schedule.host->is_multiplexed = is_multiplexed;
        update_ready(queue, transfer->schedule.host, transfer->engine);
    }
}

void nc_queue_set_priority(nc_queue *queue, nc_transfer *transfer, nc_priority priority) {
    if (transfer->schedule.priority == priority) {
        return; // It keeps its position within its priority.
    }
    transfer->schedule.priority = priority;
    atomic_store_explicit(&transfer->published_priority, (unsigned)priority, memory_order_relaxed);
    if (transfer->phase == NC_PHASE_SLOT) {
        nc_list_remove(&transfer->link);
        nc_list_append(&transfer->schedule.host->waiting[level_of(priority)], &transfer->link);
        if (transfer->schedule.has_begun) {
            nc_list_remove(&transfer->schedule.waiting_hop_link);
            nc_list_append(&queue->waiting_hops[level_of(priority)], &transfer->schedule.waiting_hop_link);
        }
        update_ready(queue, transfer->schedule.host, transfer->engine);
    }
}

/// Returns the first transfer of the first ready host, from the highest priority on.
static nc_transfer *first_ready(const nc_queue *queue) {
    for (int level = 0; level < NC_PRIORITIES; level++) {
        if (!nc_list_is_empty(&queue->ready[level])) {
            const nc_host *host = NC_CONTAINER_OF(queue->ready[level].next, nc_host, ready_link);
            return NC_CONTAINER_OF(host->waiting[level].next, nc_transfer, link);
        }
    }
    return NULL;
}

/// Returns the first transfer that had a slot before, and whose host has room. The search is short: only few transfers
/// wait here, because each was in flight before.
static nc_transfer *first_waiting_hop(const nc_queue *queue, const nc_engine *engine) {
    for (int level = 0; level < NC_PRIORITIES; level++) {
        const nc_link *row = &queue->waiting_hops[level];
        for (nc_link *link = row->next; link != row; link = link->next) {
            nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, schedule.waiting_hop_link);
            if (has_room(transfer->schedule.host, engine)) {
                return transfer;
            }
        }
    }
    return NULL;
}

nc_transfer *nc_queue_take_ready(nc_queue *queue, const nc_engine *engine) {
    if (queue->active_count >= engine->max_in_flight) {
        return NULL;
    }
    nc_transfer *transfer = queue->is_suspended ? first_waiting_hop(queue, engine) : first_ready(queue);
    if (transfer == NULL) {
        return NULL;
    }
    nc_host *host = transfer->schedule.host;
    nc_list_remove(&transfer->link);
    nc_list_remove(&transfer->schedule.waiting_hop_link);
    nc_list_remove(&host->ready_link);
    host->waiting_count--;
    queue->waiting_count--;
    host->active_count++;
    queue->active_count++;
    transfer->schedule.has_slot = true;
    transfer->schedule.has_begun = true;
    // The host moves to the end of the ready list, so that hosts take turns.
    update_ready(queue, host, engine);
    nc_trace_pass(&engine->trace, NC_TRACE_SLOT_GRANTED, transfer->id);
    return transfer;
}
