#include "client/memory_tier.h"

#include "base/alloc.h"
#include "base/fnv.h"

#include <string.h>

/// The cost of an entry in addition to its bytes.
enum { OVERHEAD_BYTES = 256 };

/* --- entries --- */

nc_tier_key nc_tier_key_of(nc_slice text) {
    return (nc_tier_key){text, nc_fnv_add(NC_FNV_START, text)};
}

nc_tier_key nc_tier_entry_key(const nc_tier_entry *entry) {
    return (nc_tier_key){entry->key, entry->hash};
}

nc_tier_entry *nc_tier_entry_new(nc_tier_key key, nc_slice metadata, nc_slice body) {
    size_t bytes = sizeof(nc_tier_entry);
    if (!nc_size_add(&bytes, bytes, key.text.length) || !nc_size_add(&bytes, bytes, metadata.length) ||
        !nc_size_add(&bytes, bytes, body.length)) {
        return NULL;
    }
    nc_tier_entry *entry = nc_alloc(bytes);
    if (entry == NULL) {
        return NULL;
    }
    uint8_t *at = (uint8_t *)(entry + 1);
    *entry = (nc_tier_entry){.room = nc_buf_init(0), .hash = key.hash};
    atomic_init(&entry->references, 1);
    const nc_slice parts[] = {key.text, metadata, body};
    nc_slice *const copies[] = {&entry->key, &entry->metadata, &entry->body};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].length > 0) {
            memcpy(at, parts[i].data, parts[i].length);
        }
        *copies[i] = nc_slice_make(at, parts[i].length);
        at += parts[i].length;
    }
    return entry;
}

nc_tier_entry *nc_tier_entry_in(nc_buf *room, nc_tier_key key, nc_slice metadata, nc_slice body) {
    nc_tier_entry *entry = nc_tier_entry_new(key, nc_slice_of(""), nc_slice_of(""));
    if (entry == NULL) {
        nc_buf_deinit(room);
        return NULL;
    }
    entry->metadata = metadata;
    entry->body = body;
    entry->room = *room;
    *room = nc_buf_init(0);
    return entry;
}

nc_tier_entry *nc_tier_entry_retain(nc_tier_entry *entry) {
    atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
    return entry;
}

void nc_tier_entry_release(nc_tier_entry *entry) {
    if (entry != NULL && atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) == 1) {
        nc_buf_deinit(&entry->room);
        nc_free(entry);
    }
}

static uint64_t cost(const nc_tier_entry *entry) {
    uint64_t bytes = (uint64_t)entry->metadata.length + entry->body.length;
    return OVERHEAD_BYTES + entry->key.length + (entry->room.capacity > bytes ? entry->room.capacity : bytes);
}

/* --- the tier --- */

void nc_memory_tier_init(nc_memory_tier *tier, uint64_t max_bytes) {
    *tier = (nc_memory_tier){.max_bytes = max_bytes};
    nc_list_init(&tier->used);
}

/// Returns where the pointer to the entry of this key is, or would be.
static nc_tier_entry **place_of(nc_memory_tier *tier, nc_tier_key key) {
    nc_tier_entry **place = &tier->buckets[nc_fnv_fold(key.hash) % NC_TIER_BUCKETS];
    while (*place != NULL && !((*place)->hash == key.hash && nc_slice_is_equal((*place)->key, key.text))) {
        place = &(*place)->next;
    }
    return place;
}

static void remove_at(nc_memory_tier *tier, nc_tier_entry **place) {
    nc_tier_entry *entry = *place;
    *place = entry->next;
    nc_list_remove(&entry->used);
    tier->bytes -= cost(entry);
    tier->count--;
    nc_tier_entry_release(entry);
}

static void remove_oldest(nc_memory_tier *tier) {
    nc_tier_entry *oldest = NC_CONTAINER_OF(tier->used.next, nc_tier_entry, used);
    remove_at(tier, place_of(tier, nc_tier_entry_key(oldest)));
}

void nc_memory_tier_clear(nc_memory_tier *tier) {
    while (!nc_list_is_empty(&tier->used)) {
        remove_oldest(tier);
    }
}

nc_tier_entry *nc_memory_tier_get(nc_memory_tier *tier, nc_tier_key key) {
    nc_tier_entry *entry = *place_of(tier, key);
    if (entry == NULL) {
        return NULL;
    }
    nc_list_remove(&entry->used);
    nc_list_append(&tier->used, &entry->used);
    return nc_tier_entry_retain(entry);
}

void nc_memory_tier_remove(nc_memory_tier *tier, nc_tier_key key) {
    nc_tier_entry **place = place_of(tier, key);
    if (*place != NULL) {
        remove_at(tier, place);
    }
}

void nc_memory_tier_remove_if(nc_memory_tier *tier, bool (*is_match)(nc_slice key, nc_slice host), nc_slice host) {
    nc_link *next;
    for (nc_link *link = tier->used.next; link != &tier->used; link = next) {
        nc_tier_entry *entry = NC_CONTAINER_OF(link, nc_tier_entry, used);
        next = link->next;
        if (is_match(entry->key, host)) {
            remove_at(tier, place_of(tier, nc_tier_entry_key(entry)));
        }
    }
}

void nc_memory_tier_put(nc_memory_tier *tier, nc_tier_entry *entry) {
    uint64_t bytes = cost(entry);
    nc_memory_tier_remove(tier, nc_tier_entry_key(entry));
    if (bytes > tier->max_bytes / 4) {
        return;
    }
    while (tier->bytes > tier->max_bytes - bytes) {
        remove_oldest(tier);
    }
    nc_tier_entry **place = place_of(tier, nc_tier_entry_key(entry));
    *place = nc_tier_entry_retain(entry);
    entry->next = NULL;
    nc_list_append(&tier->used, &entry->used);
    tier->bytes += bytes;
    tier->count++;
}
