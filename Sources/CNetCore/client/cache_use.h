/// How one flight uses the cache: its lookup, and what it stores.
#ifndef NETCORE_PRIVATE_CACHE_USE_H
#define NETCORE_PRIVATE_CACHE_USE_H

#include "client/cache_identity.h"

/// The client's thread only. Must not be moved.
typedef struct nc_cache_use {
    nc_http_cache *cache;
    nc_cache_policy policy;
    nc_cache_question question; // its request has the caller's fields only
    nc_request asked;           // views point into the template of the flight
    nc_buf scope;
    nc_cache_request request;
    nc_cache_identity identity;
    bool has_key;
    nc_buf key; // of the URL
    uint64_t moment;
    nc_cached *cached; // the response that the lookup found
    bool is_own;       // this user may use it, and its Vary fields match the request
    nc_cache_reason miss;
    nc_cache_decision decision;
    int64_t sent_at_ms;
    bool is_unconditional; // the request was sent again, because a 304 was for another response
} nc_cache_use;

/// Prepares the use for a request, whose texts must stay valid. The owner is in `use->scope` if `has_scope` is set.
void nc_cache_use_init(nc_cache_use *use, nc_engine *engine, const nc_request *request, bool has_scope);
void nc_cache_use_deinit(nc_cache_use *use);

/// Looks for the stored response. Sets `cached`, `is_own` and `miss`.
void nc_cache_use_find(nc_cache_use *use);
/// Returns the stored response that may be used or revalidated; NULL if there is none.
const nc_cache_stored *nc_cache_use_stored(const nc_cache_use *use);

/// A response from the network, with its fields as an array.
typedef struct nc_arrived {
    const nc_response *response;
    nc_cache_response head;
    nc_header fields[NC_CACHED_MAX_FIELDS + 1]; // and a Date, if there was none
    char date[NC_CACHE_DATE_BYTES];
    bool is_complete; // false if there are too many fields
} nc_arrived;

void nc_arrived_read(nc_arrived *out, const nc_response *response, int64_t sent_at_ms, int64_t received_at_ms);

/// Stores a response, if the rules allow it. Otherwise removes the stored one, if the response makes it obsolete.
/// Returns true if the response was stored.
bool nc_cache_use_store(nc_cache_use *use, const nc_arrived *arrived);
/// Replaces the stored response by one with the fields of a 304 or of a response to HEAD. Returns true if it was
/// stored. `use->cached` becomes the new response if it was stored, or if the rules forbid to store it.
bool nc_cache_use_freshen(nc_cache_use *use, const nc_arrived *arrived);
/// Removes the stored response that was found.
void nc_cache_use_remove(nc_cache_use *use);
/// Invalidates the stored responses for a URL: those of this user and those for requests without credentials.
void nc_cache_use_invalidate(nc_cache_use *use, nc_slice url);

#endif
