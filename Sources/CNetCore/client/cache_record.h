/// The cache: both tiers under one mutex, and the changes that a response in flight may not undo.
#ifndef NETCORE_PRIVATE_CACHE_RECORD_H
#define NETCORE_PRIVATE_CACHE_RECORD_H

#include "client/memory_tier.h"
#include "digest/keyed_hash.h"

#include <netcore/http_cache.h>
#include <pthread.h>

enum { NC_CACHE_CHANGES = 1024, NC_CACHE_MAX_UNREMOVED_BYTES = 1048576 };

/// A change of a key: an invalidation, or a response that was stored.
typedef struct nc_cache_change {
    uint64_t hash;      // of the key
    uint64_t moment;    // of the change
    uint64_t requested; // the moment of the request whose response was stored; 0 for an invalidation
} nc_cache_change;

struct nc_http_cache {
    // Constant.
    nc_cache_store store; // if `has_store`
    bool has_store;
    uint64_t max_body_bytes;
    uint8_t key[NC_KEYED_HASH_KEY_BYTES];
    bool keeps_key; // the key is stored in the store
    nc_random random;

    // Guarded by the mutex.
    pthread_mutex_t mutex;
    nc_memory_tier tier;
    nc_memory_tier unremoved; // entries, without their bytes, that the store could not remove
    bool is_store_unusable;   // there were too many of them: the store is not used until all its entries are removed
    nc_http_cache_stats stats;
    uint64_t moment;
    uint64_t known_since; // the changes after this moment are in `changes`
    nc_cache_change changes[NC_CACHE_CHANGES];
    uint64_t last_changes[NC_CACHE_CHANGES]; // the moment of the last change of a key of each bucket
    size_t next_change;
};

/// Returns the moment of a request, before its lookup.
uint64_t nc_http_cache_begin(nc_http_cache *cache);
/// Returns a reference to the entry of a key; NULL if there is none, or if the store fails.
nc_tier_entry *nc_http_cache_get(nc_http_cache *cache, nc_slice key);
/// Stores an entry that belongs to the URL with the key `url_key`. Does nothing if one of both keys was invalidated, or
/// a later response was stored, since the moment of the request. If the store fails, an older entry is removed. Returns
/// true if the entry was stored.
bool nc_http_cache_put(nc_http_cache *cache, nc_tier_entry *entry, nc_slice host, nc_slice url_key, uint64_t moment);
/// Removes an entry.
void nc_http_cache_remove(nc_http_cache *cache, nc_slice key);
/// Removes an entry. Responses that are in flight now will not be stored there.
void nc_http_cache_invalidate(nc_http_cache *cache, nc_slice key);
/// Stores the key of the hashes again if it was removed with all entries. Reading it marks it as recently used.
void nc_http_cache_keep_key(nc_http_cache *cache);

#endif
