/// Recomposing URLs (RFC 3986, 5).
#ifndef NETCORE_PRIVATE_URL_PARTS_H
#define NETCORE_PRIVATE_URL_PARTS_H

#include <netcore/bytes.h>
#include <netcore/url.h>

/// Appends the target of `reference` at `base` (RFC 3986, 5.2, strict), without validation.
void nc_url_append_resolved(nc_buf *out, const nc_url_parts *base, const nc_url_parts *reference);

#endif
