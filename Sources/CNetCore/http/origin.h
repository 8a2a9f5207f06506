/// The origin of a URL (RFC 6454): scheme, canonical host and port.
#ifndef NETCORE_PRIVATE_ORIGIN_H
#define NETCORE_PRIVATE_ORIGIN_H

#include "http/host.h"

typedef struct nc_origin {
    nc_canonical_host host; // may be in the parsed URL
    uint16_t port;
    bool is_secure; // https; otherwise http
} nc_origin;

/// Parses the origin of an absolute http or https URL.
///
/// The port is a number: "080" is 80. A missing or empty port is the scheme's default. Credentials are ignored.
/// Allocates nothing for ASCII hosts. Returns NC_OK, NC_ERR_BAD_SCHEME, NC_ERR_BAD_URL, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_NODISCARD nc_status nc_origin_read(nc_origin *out, nc_slice url, nc_error *err);

/// Returns true if scheme, host and port are equal. Pure; call from any thread.
bool nc_origin_is_equal(const nc_origin *a, const nc_origin *b);

#endif
