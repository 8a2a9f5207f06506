/// The canonical form of a URL.
#ifndef NETCORE_PRIVATE_KEY_URL_H
#define NETCORE_PRIVATE_KEY_URL_H

#include "store/key_writer.h"

/// The pieces of a URL that are written, in order; the rest of it is not sent.
typedef struct key_url {
    nc_slice scheme;
    nc_slice userinfo;
    nc_slice host;
    nc_slice port; // with its colon
    nc_slice rest; // path and query
    bool needs_slash;
} key_url;

/// Takes a URL apart; NC_ERR_BAD_URL when it has no scheme or host, or holds a control character or space.
NC_NODISCARD nc_status nc_key_url_cut(key_url *out, nc_slice url, nc_error *err);

/// Writes its length and the URL; no more bytes than it had, but for a length and a slash.
void nc_key_url_put(key_writer *out, const key_url *url);

#endif
