/// An in-memory cache of values by key, with least-recently-used eviction by cost.
///
/// It is the tier before a store: the same keys, bodies and metadata, lost with the process. If the cost of all values
/// exceeds the hard limit, values are evicted down to the soft limit, so that not every put evicts. A value stays valid
/// while it is referenced, even after its eviction. The cache implements a lifetime, but no policy of freshness.
///
///     nc_memory_cache_options options = {.hard_limit_bytes = 32 << 20};
///     if (nc_memory_cache_new(&cache, &options, &err) == NC_OK)
///         status = nc_memory_cache_put(cache, &(nc_store_draft){.key = key}, body, &err);
///     const nc_memory_value *value = nc_memory_cache_get(cache, key);
///     if (value != NULL) use(nc_memory_value_body(value)), nc_memory_value_release(value);
#ifndef NETCORE_MEMORY_CACHE_H
#define NETCORE_MEMORY_CACHE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <netcore/status.h>
#include <netcore/store.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The default of nc_memory_cache_options.hard_limit_bytes: 32 MiB.
#define NC_MEMORY_CACHE_DEFAULT_BYTES (UINT64_C(32) * 1024 * 1024)
/// The cost of a value in addition to its key, metadata and body, in bytes.
#define NC_MEMORY_CACHE_OVERHEAD 128

/// Options of a cache. All zero selects the defaults. Copied.
typedef struct nc_memory_cache_options {
    /// Limit of the cost of all values, in bytes; 0 means NC_MEMORY_CACHE_DEFAULT_BYTES.
    uint64_t hard_limit_bytes;
    /// Cost to evict down to, in bytes, unless the new value alone costs more; 0 means three quarters of the hard
    /// limit.
    uint64_t soft_limit_bytes;
    /// Limit of one value, in percent of the hard limit, 1 to 100; 0 means NC_STORE_DEFAULT_MAX_SHARE.
    uint32_t max_share;
    /// Clock; NULL means the system's.
    const nc_clock *NC_NULLABLE clock;
    /// Source of the hash seed, which protects against chosen keys; NULL means the system's.
    const nc_random *NC_NULLABLE random;
} nc_memory_cache_options;

/// A cache. Thread-safe.
typedef struct nc_memory_cache nc_memory_cache;

/// An immutable, reference-counted value. Thread-safe.
typedef struct nc_memory_value nc_memory_value;

/// Contents of a cache, and counters since it was created.
typedef struct nc_memory_cache_stats {
    /// Values.
    uint64_t values;
    /// Their cost, in bytes.
    uint64_t cost_bytes;
    /// The hard limit, in bytes.
    uint64_t hard_limit_bytes;
    /// Lookups that found a value.
    uint64_t hits;
    /// Lookups that found none.
    uint64_t misses;
    /// Values evicted to make room.
    uint64_t evictions;
} nc_memory_cache_stats;

/// Creates an empty cache.
///
/// - out: owned by the caller; release it with nc_memory_cache_free().
/// Returns NC_OK, NC_ERR_USAGE (a share above 100, a soft limit above the hard one, or no random bytes from the
/// system), NC_ERR_THREAD, NC_ERR_NO_MEMORY.
/// Call from any thread.
NC_API NC_NODISCARD nc_status nc_memory_cache_new(nc_memory_cache *NC_NULLABLE *NC_NONNULL out,
                                                  const nc_memory_cache_options *options, nc_error *NC_NULLABLE err);

/// Frees a cache. NULL is allowed. Referenced values stay valid.
///
/// Confined: one thread at a time.
NC_API void nc_memory_cache_free(nc_memory_cache *NC_NULLABLE cache);

/// Returns the value of a key and marks it as most recently used; NULL if there is none or its lifetime has ended.
///
/// Release it with nc_memory_value_release(). Allocates nothing.
/// Thread-safe.
NC_API const nc_memory_value *NC_NULLABLE nc_memory_cache_get(nc_memory_cache *cache, nc_slice key);

/// Puts a value and replaces an older one with the same key. Key, metadata and body are copied.
///
/// - draft: host and tags are ignored.
/// Returns NC_OK, NC_ERR_USAGE for an empty key, NC_ERR_TOO_LARGE for a value above its share, NC_ERR_NO_MEMORY. After
/// an error the older value stays.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_memory_cache_put(nc_memory_cache *cache, const nc_store_draft *draft, nc_slice body,
                                                  nc_error *NC_NULLABLE err);

/// Removes a value. Returns false if there was none.
///
/// Thread-safe.
NC_API bool nc_memory_cache_remove(nc_memory_cache *cache, nc_slice key);

/// Evicts the least recently used values until the rest costs at most `cost_bytes`; 0 removes all.
///
/// For programs that are notified of memory pressure.
/// Thread-safe.
NC_API void nc_memory_cache_trim(nc_memory_cache *cache, uint64_t cost_bytes);

/// Returns the contents and counters of the cache.
///
/// Thread-safe.
NC_API nc_memory_cache_stats nc_memory_cache_figures(nc_memory_cache *cache);

/// Returns the body of a value, borrowed from it.
///
/// Pure; call from any thread.
NC_API nc_slice nc_memory_value_body(const nc_memory_value *value);

/// Returns the metadata of a value, borrowed from it.
///
/// Pure; call from any thread.
NC_API nc_slice nc_memory_value_metadata(const nc_memory_value *value);

/// Returns the creation time of a value, in milliseconds since 1970.
///
/// Pure; call from any thread.
NC_API int64_t nc_memory_value_created_at_ms(const nc_memory_value *value);

/// Releases a value. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_memory_value_release(const nc_memory_value *NC_NULLABLE value);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
