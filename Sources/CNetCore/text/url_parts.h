/// Splitting and recomposing URLs (RFC 3986, 3 and 5).
#ifndef NETCORE_PRIVATE_URL_PARTS_H
#define NETCORE_PRIVATE_URL_PARTS_H

#include <netcore/bytes.h>

/// A URI reference in its five parts (RFC 3986, 3). An absent part differs from an empty one.
typedef struct nc_url_parts {
    nc_slice scheme;
    nc_slice authority;
    nc_slice path;
    nc_slice query;
    nc_slice fragment;
    bool has_authority;
    bool has_query;
    bool has_fragment;
} nc_url_parts;

/// Splits a reference. Every text can be split.
nc_url_parts nc_url_split(nc_slice text);

/// Appends the target of `reference` at `base` (RFC 3986, 5.2, strict), without validation.
void nc_url_append_resolved(nc_buf *out, const nc_url_parts *base, const nc_url_parts *reference);

#endif
