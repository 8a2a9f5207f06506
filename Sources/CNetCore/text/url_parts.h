/// A URL taken apart, and put together again (RFC 3986, 3 and 5).
#ifndef NETCORE_PRIVATE_URL_PARTS_H
#define NETCORE_PRIVATE_URL_PARTS_H

#include <netcore/bytes.h>

/// A URI reference in its five parts (RFC 3986, 3). A part that is absent differs from one that is empty.
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

/// Takes a reference apart; every text has parts.
nc_url_parts nc_url_split(nc_slice text);

/// Appends what `reference` means when it is read at `base` (RFC 3986, 5.2, strict), whatever bytes they hold.
void nc_url_append_resolved(nc_buf *out, const nc_url_parts *base, const nc_url_parts *reference);

#endif
