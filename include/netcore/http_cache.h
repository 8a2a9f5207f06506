/// A private HTTP cache (RFC 9111) for the calls of clients (client.h).
///
/// Responses are kept in memory, and in a store if there is one: on disk (store.h) or of the caller (cache_store.h). A
/// response is never returned to another user. Users are distinguished by:
/// - credentials, Authorization and fields with secret names, such as X-Api-Key (secret_name.h)
/// - the Cookie field and the jar's cookies, if the stored response belongs to a request with cookies
/// - a scope that the caller names; it replaces the two above
///
/// Only keyed hashes of these texts are stored.
///
///     nc_http_cache *cache;  nc_client *client;
///     nc_cache_policy policy = NC_CACHE_POLICY_INIT;
///     if (nc_http_cache_new(&cache, &(nc_http_cache_options){.store = store}, &err) == NC_OK &&
///         nc_client_new(&client, engine, &(nc_client_options){.cache = cache}, &err) == NC_OK)
///         status = nc_client_send(client, &request, &(nc_call_options){.cache = &policy}, NULL, &call, &err);
///     …  nc_client_close(client);  nc_http_cache_free(cache);
#ifndef NETCORE_HTTP_CACHE_H
#define NETCORE_HTTP_CACHE_H

#include <netcore/base.h>
#include <netcore/cache_rules.h>
#include <netcore/cache_store.h>
#include <netcore/hooks.h>
#include <netcore/status.h>
#include <netcore/store.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The default of nc_http_cache_options.max_memory_bytes: 16 MiB.
#define NC_HTTP_CACHE_DEFAULT_MEMORY_BYTES (UINT64_C(16) * 1024 * 1024)
/// The default of nc_http_cache_options.max_body_bytes: 16 MiB.
#define NC_HTTP_CACHE_DEFAULT_BODY_BYTES (UINT64_C(16) * 1024 * 1024)
/// The size of nc_http_cache_options.hash_key, in bytes.
#define NC_HTTP_CACHE_KEY_BYTES 32

/// A cache. Thread-safe; several clients may use it.
typedef struct nc_http_cache nc_http_cache;

/// Options of a cache, copied. All zero is a cache in memory.
typedef struct nc_http_cache_options {
    /// The store on disk; borrowed until the cache is freed. NULL keeps responses in memory only, or in `cache_store`.
    nc_store *NC_NULLABLE store;
    /// Limit of the responses in memory, in bytes; 0 means NC_HTTP_CACHE_DEFAULT_MEMORY_BYTES. The least recently used
    /// ones are evicted. A response above a quarter of it is kept in the store only.
    uint64_t max_memory_bytes;
    /// The largest body to store, in bytes; 0 means NC_HTTP_CACHE_DEFAULT_BODY_BYTES.
    uint64_t max_body_bytes;
    /// The key of the hashes of users: NC_HTTP_CACHE_KEY_BYTES secret random bytes. NULL creates a key and keeps it in
    /// the store. If the store loses the key, stored responses that belong to a user are no longer found.
    const uint8_t *NC_NULLABLE hash_key;
    /// Source of random bytes; NULL means the system's.
    const nc_random *NC_NULLABLE random;
    /// A store of the caller instead of `store`; copied.
    const nc_cache_store *NC_NULLABLE cache_store;
} nc_http_cache_options;

/// Counters of a cache since it was created, and its contents in memory. An entry is a response, or an index of the
/// responses of one URL that have Vary fields. One request may look up or store several entries.
typedef struct nc_http_cache_stats {
    /// Entries in memory.
    uint64_t memory_entries;
    /// Their bytes.
    uint64_t memory_bytes;
    /// Lookups that found an entry in memory.
    uint64_t memory_hits;
    /// Lookups that found an entry in the store.
    uint64_t store_hits;
    /// Lookups that found none.
    uint64_t misses;
    /// Entries that were stored.
    uint64_t puts;
    /// Entries that the store could not keep, for example because the disk was full.
    uint64_t failed_puts;
    /// Lookups for which the store failed or returned a damaged entry. They are misses too.
    uint64_t failed_gets;
} nc_http_cache_stats;

/// Creates a cache. May wait for the store.
///
/// - out:     owned by the caller; release it with nc_http_cache_free() after the last client that uses it.
/// - options: NULL means all zero.
/// Returns NC_OK, also if the store fails; NC_ERR_USAGE for two stores or a store without one of its functions;
/// NC_ERR_NO_MEMORY; NC_ERR_UNSUPPORTED if there are no random bytes.
/// Call from any thread.
NC_API NC_NODISCARD nc_status nc_http_cache_new(nc_http_cache *NC_NULLABLE *NC_NONNULL out,
                                                const nc_http_cache_options *NC_NULLABLE options,
                                                nc_error *NC_NULLABLE err);

/// Frees a cache and releases a store of the caller. The responses in the store stay. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_http_cache_free(nc_http_cache *NC_NULLABLE cache);

/// Removes all responses, also those of the store. Responses to requests in flight are not stored.
///
/// Returns NC_OK, or the error of the store, which may still have some of them.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_http_cache_clear(nc_http_cache *cache, nc_error *NC_NULLABLE err);

/// Removes all responses for the URLs of a host, with any port. Responses to requests in flight are not stored.
///
/// - host: as in a URL (nc_url_canonical_host()).
/// Returns NC_OK, the statuses of nc_url_canonical_host(), or the error of the store.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_http_cache_remove_host(nc_http_cache *cache, nc_slice host, nc_error *NC_NULLABLE err);

/// Returns the counters.
///
/// Thread-safe.
NC_API nc_http_cache_stats nc_http_cache_figures(nc_http_cache *cache);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
