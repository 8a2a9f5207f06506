/// Keys of the cache, and the identity of the user that a request is sent for.
#ifndef NETCORE_PRIVATE_CACHE_IDENTITY_H
#define NETCORE_PRIVATE_CACHE_IDENTITY_H

#include "client/cache_entry.h"
#include "client/cache_record.h"

#include <netcore/engine.h>

enum { NC_SCOPE_BYTES = 128 };

/// The identity of a request's user. Its texts are hashes.
typedef struct nc_cache_identity {
    char scope[NC_SCOPE_BYTES]; // of the key; the same for all requests without credentials
    bool is_shared;             // the scope contains no hash
    uint8_t owner[NC_CACHED_OWNER_BYTES];
    size_t owner_length; // 0 without cookies
    char trust[2 * NC_KEYED_HASH_BYTES + 1];
} nc_cache_identity;

/// What determines the identity.
typedef struct nc_cache_question {
    nc_http_cache *cache;
    nc_engine *engine;
    const nc_request *request;
    bool has_scope; // the caller names the owner
    nc_slice scope; // empty: all users share the response
} nc_cache_question;

/// Determines the identity. Returns false if it is unknown, so that the request cannot use the cache: without a scope,
/// the engine's netrc file or a client certificate may identify the user; or a trust observer makes decisions.
bool nc_cache_identify(nc_cache_identity *out, const nc_cache_question *question);

/// What a key is for.
typedef struct nc_key_question {
    const nc_cache_question *from;
    const nc_cache_identity *identity;
    nc_slice url;
    bool is_anonymous;    // the key of requests without credentials
    bool toggles_codings; // the key of requests that treat content codings differently
    // The key of a response with a Vary field; otherwise `vary` is NULL.
    const nc_slice *vary;
    uint64_t generation;
} nc_key_question;

/// Appends a key. Returns NC_OK or an error, after which `out` is unchanged.
NC_NODISCARD nc_status nc_cache_make_key(nc_buf *out, const nc_key_question *question);

#endif
