/// A caller's own store for an HTTP cache (http_cache.h), for example in memory, in Redis or in two tiers.
///
/// A store keeps entries under keys. It does not interpret their bytes.
///
/// - An error of a store counts as a miss. It never fails a request.
/// - The cache adds a checksum to each entry. An entry that is truncated, changed, or stored under another key is a
///   miss, and is removed. The checksum does not detect tampering.
/// - A store may lose any entry at any time. It has its own limits.
///
///     nc_status get(void *ctx, nc_slice key, nc_buf *room, nc_cache_store_found *out, nc_error *err) {
///         const item *found = find(ctx, key);
///         if (found == NULL) return NC_ERR_NOT_CACHED;
///         nc_buf_append(room, found->metadata);
///         nc_buf_append(room, found->body);
///         out->metadata_bytes = found->metadata.length;
///         return NC_OK;
///     }
///     nc_cache_store mine = {.ctx = &items, .get = get, .put = put, .remove = remove, .remove_all = remove_all};
///     status = nc_http_cache_new(&cache, &(nc_http_cache_options){.cache_store = &mine}, &err);
///
/// **Threads.** The cache calls the functions on the threads of its clients and of the callers of nc_http_cache_new(),
/// nc_http_cache_clear() and nc_http_cache_remove_host(), also concurrently. It holds no lock during the call. While a
/// function waits, all calls of that client wait. The functions must not call the cache or wait for a call of its
/// clients.
#ifndef NETCORE_CACHE_STORE_H
#define NETCORE_CACHE_STORE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/store.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// An entry to put. All bytes are borrowed for the call.
typedef struct nc_cache_store_entry {
    /// Key, 1 to NC_STORE_MAX_KEY_BYTES bytes. Compare all of its bytes: two keys may have the same hash.
    nc_slice key;
    /// Canonical host of the response's URL (nc_url_canonical_host()), for `remove_all`; may be empty.
    nc_slice host;
    /// First part of the entry.
    nc_slice metadata;
    /// Second part of the entry; may be empty.
    nc_slice body;
} nc_cache_store_entry;

/// The position of an entry in the buffer that it was read into. All zero before the call.
typedef struct nc_cache_store_found {
    /// Position of the metadata: 0 unless other bytes precede it.
    size_t metadata_at;
    /// Length of the metadata. The body follows, to the end of the buffer.
    size_t metadata_bytes;
} nc_cache_store_found;

/// Finds an entry and appends its metadata and its body to `room`.
///
/// - room: empty. It belongs to the cache and has a limit. The cache checks its status, so `get` need not check each
///         append.
/// - err:  may be filled after a failure, here and in the other functions.
/// Returns NC_OK, NC_ERR_NOT_CACHED for a miss, or another status for a failure.
typedef nc_status (*nc_cache_store_get_fn)(void *NC_NULLABLE ctx, nc_slice key, nc_buf *room, nc_cache_store_found *out,
                                           nc_error *err);

/// Puts an entry and replaces an older one with the same key. Each lookup finds the old entry, the new one or none,
/// never a part or a mixture.
///
/// Returns NC_OK, or the reason why the entry was not put. After a failure, the cache removes the older entry.
typedef nc_status (*nc_cache_store_put_fn)(void *NC_NULLABLE ctx, const nc_cache_store_entry *entry, nc_error *err);

/// Removes an entry. After NC_OK, no lookup finds it.
///
/// Returns NC_OK, also if there is no such entry, or the reason why it may still be there. After a failure, the cache
/// does not use the entry, and tries to remove it again at the next lookup.
typedef nc_status (*nc_cache_store_remove_fn)(void *NC_NULLABLE ctx, nc_slice key, nc_error *err);

/// Removes the entries of a host, or all entries.
///
/// - host: canonical; empty for all entries.
/// Returns NC_OK, or the reason why some may still be there. nc_http_cache_clear() or nc_http_cache_remove_host()
/// returns it to its caller.
typedef nc_status (*nc_cache_store_remove_all_fn)(void *NC_NULLABLE ctx, nc_slice host, nc_error *err);

/// Releases the store.
typedef void (*nc_cache_store_release_fn)(void *NC_NULLABLE ctx);

/// A store: functions and their context.
typedef struct nc_cache_store {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// Finds an entry.
    nc_cache_store_get_fn get;
    /// Puts an entry.
    nc_cache_store_put_fn put;
    /// Removes an entry.
    nc_cache_store_remove_fn remove;
    /// Removes the entries of a host, or all.
    nc_cache_store_remove_all_fn remove_all;
    /// Called once by nc_http_cache_free(), after all other functions; may be NULL. Not called if nc_http_cache_new()
    /// fails.
    nc_cache_store_release_fn NC_NULLABLE release;
    /// True: `get` itself detects damaged entries and entries of other keys, as nc_store does. The cache then adds no
    /// checksum.
    bool checks_entries;
} nc_cache_store;

/// Returns the functions for a store on disk, for example as the second tier of a store of the caller.
///
/// - store: borrowed; `release` does not free it.
/// Pure; call from any thread.
NC_API nc_cache_store nc_cache_store_on_disk(nc_store *store);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
