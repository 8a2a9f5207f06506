/// The canonical form of a URL.
#ifndef NETCORE_PRIVATE_KEY_URL_H
#define NETCORE_PRIVATE_KEY_URL_H

#include "store/key_writer.h"

/// A canonical host with brackets is at most this long.
enum { KEY_HOST_BYTES = 256 };

/// The pieces of a URL that are written, in order. User information and fragment are omitted.
typedef struct key_url {
    nc_slice scheme;
    nc_slice userinfo;
    nc_slice host;
    nc_slice port; // without its colon
    nc_slice rest; // path and query
    bool has_port;
    bool needs_slash;
    uint8_t written[KEY_HOST_BYTES]; // holds the host if its canonical form is not the text of the URL
} key_url;

/// Splits a URL. The pieces point into it; the host may point into `out`, which must then not be moved.
///
/// Returns NC_OK; NC_ERR_BAD_URL if the URL has no scheme or host, or holds a control character or space;
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_key_url_cut(key_url *out, nc_slice url, nc_error *err);

/// Writes a length and the URL. Takes at most the URL's bytes, a length, a slash, and the host's bytes if the host is
/// in `written`.
void nc_key_url_put(key_writer *out, const key_url *url);

#endif
