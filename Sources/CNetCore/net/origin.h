/// Host and port of a URL, read by the parser that will also connect, so that both mean the same place.
#ifndef NETCORE_PRIVATE_ORIGIN_H
#define NETCORE_PRIVATE_ORIGIN_H

#include "trust/pattern.h"

typedef struct nc_origin {
    nc_host_name host; // empty when it is neither a name nor an address: no certificate is for that
    uint16_t port;
} nc_origin;

/// Takes a NUL-terminated URL apart. NC_ERR_NO_MEMORY; NC_ERR_BAD_URL when it has no host or port.
NC_NODISCARD nc_status nc_origin_of(nc_origin *out, const char *url);
/// Appends a NUL-terminated URL's host, percent-decoded and with international labels as "xn--…", and gives its port,
/// unless that is NULL. NC_ERR_NO_MEMORY; NC_ERR_TOO_LARGE; NC_ERR_BAD_URL when it has none.
NC_NODISCARD nc_status nc_origin_host(nc_buf *out, uint16_t *port, const char *url);

#endif
