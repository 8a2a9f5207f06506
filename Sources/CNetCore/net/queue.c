#include "net/queue.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/fnv.h"
#include "base/trace.h"
#include "net/engine_state.h"
#include "net/url_text.h"

#include <string.h>

/// Hosts that are kept without transfers.
enum { MAX_IDLE_HOSTS = 1024, MAX_KEY_BYTES = 300 };

void nc_queue_init(nc_queue *queue) {
    *queue = (nc_queue){0};
    for (int level = 0; level < NC_PRIORITIES; level++) {
        nc_list_init(&queue->ready[level]);
        nc_list_init(&queue->further[level]);
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

static nc_slice without_default_port(nc_slice authority, bool is_secure) {
    const nc_slice spellings[] = {nc_slice_of(":"), nc_slice_of(is_secure ? ":443" : ":80")};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        size_t length = spellings[i].length;
        if (authority.length > length &&
            memcmp(authority.data + authority.length - length, spellings[i].data, length) == 0) {
            return nc_slice_make(authority.data, authority.length - length);
        }
    }
    return authority;
}

/// Writes the key: "s" (https) or "p" (http) and the lower-case authority without a default port. The letter is in
/// upper case for transfers on exclusive connections and for HTTP/1, because multiplexing does not raise their limit.
/// Names too long to be real share a key by their prefix.
static size_t make_key(uint8_t *key, nc_slice url, bool shares, uint64_t *hash) {
    bool is_secure;
    size_t length = 0;
    (void)nc_url_has_web_scheme(url, &is_secure);
    nc_slice authority = without_default_port(nc_url_authority(url), is_secure);
    key[length++] = is_secure ? (shares ? 's' : 'S') : (shares ? 'p' : 'P');
    for (size_t i = 0; i < authority.length && length < MAX_KEY_BYTES; i++) {
        key[length++] = nc_ascii_lower(authority.data[i]);
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

bool nc_queue_knows_single(const nc_queue *queue, nc_slice url) {
    uint8_t key[MAX_KEY_BYTES];
    uint64_t hash;
    size_t length = make_key(key, url, true, &hash);
    const nc_host *host = find(queue, key, length, hash);
    return host != NULL && host->has_single && !host->has_shared;
}

static nc_host *host_for(nc_queue *queue, nc_slice url, bool shares) {
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
    // Accepted transfers continue, however full the queue is.
    if (!is_first && nc_queue_is_full(queue, transfer->engine)) {
        return NC_ERR_TOO_LARGE;
    }
    bool shares = !transfer->is_apart && nc_handle_may_be_multiplexed(transfer);
    nc_host *host = host_for(queue, nc_transfer_url(transfer), shares);
    if (host == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    transfer->host = host;
    nc_link *row = &host->waiting[level_of(transfer->priority)];
    nc_list_insert(is_first ? row : row->previous, &transfer->link);
    if (transfer->has_begun) {
        nc_list_append(&queue->further[level_of(transfer->priority)], &transfer->further_link);
    }
    host->waiting_count++;
    queue->waiting_count++;
    update_ready(queue, host, transfer->engine);
    return NC_OK;
}

void nc_queue_remove(nc_queue *queue, nc_transfer *transfer) {
    nc_list_remove(&transfer->link);
    nc_list_remove(&transfer->further_link);
    transfer->host->waiting_count--;
    queue->waiting_count--;
    update_ready(queue, transfer->host, transfer->engine);
    transfer->host = NULL;
}

void nc_queue_release_slot(nc_queue *queue, nc_transfer *transfer) {
    if (!transfer->has_slot) {
        return;
    }
    transfer->has_slot = false;
    transfer->host->active_count--;
    queue->active_count--;
    update_ready(queue, transfer->host, transfer->engine);
    transfer->host = NULL;
}

void nc_queue_found_version(nc_queue *queue, nc_transfer *transfer, nc_http_version version) {
    bool is_multiplexed = version >= NC_HTTP_VERSION_2;
    if (transfer->host != NULL && transfer->host->is_multiplexed != is_multiplexed) {
        transfer->host->is_multiplexed = is_multiplexed;
        update_ready(queue, transfer->host, transfer->engine);
    }
}

void nc_queue_set_priority(nc_queue *queue, nc_transfer *transfer, nc_priority priority) {
    if (transfer->priority == priority) {
        return; // It keeps its position within its priority.
    }
    transfer->priority = priority;
    atomic_store_explicit(&transfer->shown_priority, (unsigned)priority, memory_order_relaxed);
    if (transfer->phase == NC_PHASE_SLOT) {
        nc_list_remove(&transfer->link);
        nc_list_append(&transfer->host->waiting[level_of(priority)], &transfer->link);
        if (transfer->has_begun) {
            nc_list_remove(&transfer->further_link);
            nc_list_append(&queue->further[level_of(priority)], &transfer->further_link);
        }
        update_ready(queue, transfer->host, transfer->engine);
    }
}

/// Returns the first transfer of the first host.
static nc_transfer *first_ready(const nc_queue *queue) {
    for (int level = 0; level < NC_PRIORITIES; level++) {
        if (!nc_list_is_empty(&queue->ready[level])) {
            const nc_host *host = NC_CONTAINER_OF(queue->ready[level].next, nc_host, ready_link);
            return NC_CONTAINER_OF(host->waiting[level].next, nc_transfer, link);
        }
    }
    return NULL;
}

/// Returns the first transfer that had a slot before, and whose host has room. There are few, because each was in
/// flight before.
static nc_transfer *first_further(const nc_queue *queue, const nc_engine *engine) {
    for (int level = 0; level < NC_PRIORITIES; level++) {
        const nc_link *row = &queue->further[level];
        for (nc_link *link = row->next; link != row; link = link->next) {
            nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, further_link);
            if (has_room(transfer->host, engine)) {
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
    nc_transfer *transfer = queue->is_suspended ? first_further(queue, engine) : first_ready(queue);
    if (transfer == NULL) {
        return NULL;
    }
    nc_host *host = transfer->host;
    nc_list_remove(&transfer->link);
    nc_list_remove(&transfer->further_link);
    nc_list_remove(&host->ready_link);
    host->waiting_count--;
    queue->waiting_count--;
    host->active_count++;
    queue->active_count++;
    transfer->has_slot = true;
    transfer->has_begun = true;
    // To the end of the list: hosts take turns.
    update_ready(queue, host, engine);
    nc_trace_pass(&engine->trace, NC_TRACE_SLOT_GRANTED, transfer->id);
    return transfer;
}
