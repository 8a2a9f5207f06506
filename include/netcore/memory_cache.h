/// Values in memory by key: what was used longest ago goes first, and what they cost decides when.
///
/// The tier in front of a store: the same keys, bodies and metadata, gone with the process. When all values together
/// cost more than the hard limit, the oldest go until they cost no more than the soft one, so that room is made for
/// many at once. A value that is found stays valid for whoever holds it, whatever becomes of its key. The cache refuses
/// to decide what is fresh: it knows a lifetime, no policy.
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

/// Bytes of all values together, unless told otherwise: 32 MiB.
#define NC_MEMORY_CACHE_DEFAULT_BYTES (UINT64_C(32) * 1024 * 1024)
/// What a value costs beside its key, metadata and body: bytes.
#define NC_MEMORY_CACHE_OVERHEAD 128

/// How a cache is made; all zero is enough. Copied.
typedef struct nc_memory_cache_options {
    /// What all values may cost together: bytes; 0 means NC_MEMORY_CACHE_DEFAULT_BYTES.
    uint64_t hard_limit_bytes;
    /// What they cost at most when the hard limit was passed, unless the value just put costs more by itself: bytes;
    /// 0 means three quarters of it.
    uint64_t soft_limit_bytes;
    /// Percent of the hard limit that one value may cost, 1 to 100; 0 means NC_STORE_DEFAULT_MAX_SHARE.
    uint32_t max_share;
    /// Where time comes from; NULL means the system.
    const nc_clock *NC_NULLABLE clock;
    /// Where the seed against chosen keys comes from; NULL means the system.
    const nc_random *NC_NULLABLE random;
} nc_memory_cache_options;

/// A cache. Thread-safe.
typedef struct nc_memory_cache nc_memory_cache;

/// A value that somebody holds; it never changes. Thread-safe.
typedef struct nc_memory_value nc_memory_value;

/// What a cache holds, and what happened since it was made.
typedef struct nc_memory_cache_stats {
    /// Values.
    uint64_t values;
    /// What they cost: bytes.
    uint64_t cost_bytes;
    /// The hard limit: bytes.
    uint64_t hard_limit_bytes;
    /// Look-ups that found a value.
    uint64_t hits;
    /// Look-ups that did not.
    uint64_t misses;
    /// Values that went to make room.
    uint64_t evictions;
} nc_memory_cache_stats;

/// Makes an empty cache.
///
/// - out: owned by the caller; release with nc_memory_cache_free().
/// Returns NC_OK, NC_ERR_USAGE for a share over 100 or a soft limit over the hard one, or when the system has no random
/// bytes, NC_ERR_THREAD, NC_ERR_NO_MEMORY. Call from any thread.
NC_API NC_NODISCARD nc_status nc_memory_cache_new(nc_memory_cache *NC_NULLABLE *NC_NONNULL out,
                                                  const nc_memory_cache_options *options, nc_error *NC_NULLABLE err);

/// Frees a cache; NULL is allowed. Values that are held stay valid.
///
/// Confined: one thread at a time.
NC_API void nc_memory_cache_free(nc_memory_cache *NC_NULLABLE cache);

/// Finds a value, which is the last one used then; NULL where there is none, or where its lifetime is over.
///
/// The caller releases it with nc_memory_value_release(). Allocates nothing. Thread-safe.
NC_API const nc_memory_value *NC_NULLABLE nc_memory_cache_get(nc_memory_cache *cache, nc_slice key);

/// Puts a value in the place of an older one with this key; key, metadata and body are copied.
///
/// - draft: host and tags are not kept.
/// Returns NC_OK, NC_ERR_USAGE for an empty key, NC_ERR_TOO_LARGE for what is over its share, NC_ERR_NO_MEMORY; then an
/// older value stays. Thread-safe.
NC_API NC_NODISCARD nc_status nc_memory_cache_put(nc_memory_cache *cache, const nc_store_draft *draft, nc_slice body,
                                                  nc_error *NC_NULLABLE err);

/// Removes a value; false when there was none.
///
/// Thread-safe.
NC_API bool nc_memory_cache_remove(nc_memory_cache *cache, nc_slice key);

/// Removes what was used longest ago until the rest costs no more than this; 0 removes everything.
///
/// For programs that hear that memory is short. Thread-safe.
NC_API void nc_memory_cache_trim(nc_memory_cache *cache, uint64_t cost_bytes);

/// Tells what the cache holds and what happened.
///
/// Thread-safe.
NC_API nc_memory_cache_stats nc_memory_cache_figures(nc_memory_cache *cache);

/// The body of a value; borrowed from it.
///
/// Pure; call from any thread.
NC_API nc_slice nc_memory_value_body(const nc_memory_value *value);

/// The metadata of a value; borrowed from it.
///
/// Pure; call from any thread.
NC_API nc_slice nc_memory_value_metadata(const nc_memory_value *value);

/// When a value was made: milliseconds since 1970.
///
/// Pure; call from any thread.
NC_API int64_t nc_memory_value_created_at_ms(const nc_memory_value *value);

/// Lets go of a value; NULL is allowed.
///
/// Thread-safe.
NC_API void nc_memory_value_release(const nc_memory_value *NC_NULLABLE value);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
