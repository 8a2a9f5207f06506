/// The store of a cache: on disk, or of the caller with a checksum for each entry.
#ifndef NETCORE_PRIVATE_CHECKED_STORE_H
#define NETCORE_PRIVATE_CHECKED_STORE_H

#include <netcore/cache_store.h>

/// A found entry. The slices point into the buffer that it was read into.
typedef struct nc_checked_entry {
    nc_slice metadata;
    nc_slice body;
} nc_checked_entry;

/// Reads an entry into `room`, which is empty. Removes a damaged entry. Returns NC_OK, NC_ERR_NOT_CACHED for a miss, or
/// another status if the store failed or the entry was damaged.
NC_NODISCARD nc_status nc_checked_store_get(nc_checked_entry *out, const nc_cache_store *store, nc_slice key,
                                            nc_buf *room);
/// Puts an entry. Returns NC_OK or the reason why it was not put.
NC_NODISCARD nc_status nc_checked_store_put(const nc_cache_store *store, const nc_cache_store_entry *entry);
/// Removes an entry. Returns false if the store may still have it.
NC_NODISCARD bool nc_checked_store_remove(const nc_cache_store *store, nc_slice key);
/// Removes the entries of a host, or all entries if it is empty. Fills `err` also if the store does not.
NC_NODISCARD nc_status nc_checked_store_remove_all(const nc_cache_store *store, nc_slice host, nc_error *err);

#endif
