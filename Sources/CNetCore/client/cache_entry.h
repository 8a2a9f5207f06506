/// The metadata of a cache entry: a stored response without its body, or an index of the responses of one URL that have
/// Vary fields.
#ifndef NETCORE_PRIVATE_CACHE_ENTRY_H
#define NETCORE_PRIVATE_CACHE_ENTRY_H

#include "base/pool.h"
#include "client/memory_tier.h"

#include <netcore/cache_rules.h>
#include <netcore/response.h>

enum {
    NC_CACHED_MAX_FIELDS = 1024,
    NC_CACHED_OWNER_BYTES = 32,
    NC_INDEX_MAX_CHOICES = 8,
};

/// A stored response, decoded. Its texts point into the entry.
typedef struct nc_cached {
    nc_tier_entry *entry; // a reference
    nc_http_version http_version;
    nc_slice url;   // without credentials
    nc_slice owner; // a keyed hash of the cookies; empty for a shared response
    nc_cache_stored stored;
    nc_header fields[]; // stored.header_count of them
} nc_cached;

/// What is stored about a response.
typedef struct nc_cached_draft {
    uint16_t status;
    nc_http_version http_version;
    nc_slice url;
    nc_slice owner;
    nc_cache_freshness freshness;
    const nc_header *headers;
    size_t header_count;
} nc_cached_draft;

/// The Vary fields of the responses of one URL, the most recently stored first.
typedef struct nc_variant_index {
    uint64_t generation; // random; part of the keys of the responses, so that those of a removed index are not found
    size_t count;
    nc_slice choices[NC_INDEX_MAX_CHOICES]; // values of Vary
} nc_variant_index;

/// Appends the metadata of a response. Check the buffer's status.
void nc_cached_write(nc_buf *out, const nc_cached_draft *draft);
/// Decodes a response. Takes the reference to `entry`. Returns NULL, and drops the reference, if the entry is not a
/// response or memory is exhausted.
NC_NODISCARD nc_cached *nc_cached_read(nc_tier_entry *entry);
/// Frees a decoded response. NULL is allowed.
void nc_cached_free(nc_cached *cached);

/// Returns the response for the caller, with its current age in the Age field (RFC 9111, 4): the whole, its head, a 304
/// or a part, as the decision requires. NULL if memory is exhausted.
NC_NODISCARD nc_response *nc_cached_response(nc_pool *pool, const nc_cached *cached, const nc_cache_decision *decision,
                                             int64_t now_ms);
/// Returns the 504 response to a request with only-if-cached. NULL if memory is exhausted.
NC_NODISCARD nc_response *nc_cached_gateway_timeout(nc_pool *pool, nc_slice url);

/// Appends the metadata of an index. Check the buffer's status.
void nc_variant_index_write(nc_buf *out, const nc_variant_index *index);
/// Decodes an index. Its texts point into `metadata`. Returns false if the metadata is not an index.
bool nc_variant_index_read(nc_variant_index *out, nc_slice metadata);
/// Adds a Vary field, or moves it to the front. Returns false if nothing was changed.
bool nc_variant_index_add(nc_variant_index *index, nc_slice vary);

#endif
