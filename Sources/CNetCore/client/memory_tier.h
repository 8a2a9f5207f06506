/// Responses in memory, the least recently used evicted first. Not thread-safe: the cache's mutex guards it.
#ifndef NETCORE_PRIVATE_MEMORY_TIER_H
#define NETCORE_PRIVATE_MEMORY_TIER_H

#include "base/list.h"

#include <netcore/bytes.h>
#include <stdatomic.h>

/// A key and its hash, which is computed once for each lookup.
typedef struct nc_tier_key {
    nc_slice text;
    uint64_t hash;
} nc_tier_key;

/// An immutable entry: metadata and body. Reference-counted, thread-safe.
typedef struct nc_tier_entry {
    atomic_uint references;
    nc_slice key;
    nc_slice metadata;
    nc_slice body;
    nc_buf room; // the memory of metadata and body, if they were read from the store; otherwise they follow the key
    // In the tier only.
    nc_link used; // in nc_memory_tier.used
    struct nc_tier_entry *next;
    uint64_t hash;
} nc_tier_entry;

enum { NC_TIER_BUCKETS = 1024 };

typedef struct nc_memory_tier {
    uint64_t max_bytes;
    uint64_t bytes;
    uint64_t count;
    nc_link used; // the least recently used first
    nc_tier_entry *buckets[NC_TIER_BUCKETS];
} nc_memory_tier;

nc_tier_key nc_tier_key_of(nc_slice text);
/// Returns the key of an entry.
nc_tier_key nc_tier_entry_key(const nc_tier_entry *entry);
/// Creates an entry with copies of the bytes and one reference; NULL if memory is exhausted.
NC_NODISCARD nc_tier_entry *nc_tier_entry_new(nc_tier_key key, nc_slice metadata, nc_slice body);
/// Creates an entry whose metadata and body are in `room`, without copying them. Takes the room's memory, also after a
/// failure.
NC_NODISCARD nc_tier_entry *nc_tier_entry_in(nc_buf *room, nc_tier_key key, nc_slice metadata, nc_slice body);
nc_tier_entry *nc_tier_entry_retain(nc_tier_entry *entry);
/// Drops a reference. NULL is allowed.
void nc_tier_entry_release(nc_tier_entry *entry);

void nc_memory_tier_init(nc_memory_tier *tier, uint64_t max_bytes);
/// Removes all entries.
void nc_memory_tier_clear(nc_memory_tier *tier);
/// Returns a new reference to the entry, which then is the most recently used one; NULL if there is none.
nc_tier_entry *nc_memory_tier_get(nc_memory_tier *tier, nc_tier_key key);
/// Retains the entry, and replaces one with the same key. An entry above a quarter of the limit is not kept.
void nc_memory_tier_put(nc_memory_tier *tier, nc_tier_entry *entry);
/// Removes the entry of this key, if there is one.
void nc_memory_tier_remove(nc_memory_tier *tier, nc_tier_key key);
/// Removes the entries whose key matches a host.
void nc_memory_tier_remove_if(nc_memory_tier *tier, bool (*is_match)(nc_slice key, nc_slice host), nc_slice host);

#endif
