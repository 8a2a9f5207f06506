/// URLs in two forms. Messages and reports use the parts of the URL as the caller wrote them. All decisions about a
/// request use the parsed URL with its origin (RFC 6454).
#ifndef NETCORE_PRIVATE_URL_TEXT_H
#define NETCORE_PRIVATE_URL_TEXT_H

#include "text/host.h"

#include <netcore/bytes.h>
#include <netcore/url.h>

/// Returns true for http and https, in any case.
bool nc_url_is_web_scheme(nc_slice scheme);
/// Returns true if the scheme is http or https, and "://" follows it.
bool nc_url_is_web(const nc_url_parts *parts);
/// Returns "host:port" as the URL spells it, without credentials, for messages. Empty if there is none.
nc_slice nc_url_host_and_port(const nc_url_parts *parts);
/// Splits a URL, and returns its nc_url_host_and_port().
nc_slice nc_url_authority(nc_slice url);

/// Returns the length of a URL in which each non-ASCII byte after the authority is percent-encoded.
size_t nc_url_escaped_length(nc_slice url);
/// Writes a URL with each non-ASCII byte after the authority percent-encoded, without a NUL. Returns the end of the
/// written text. A non-ASCII host is copied unchanged, because it is converted by IDNA later.
char *nc_url_escape(char *out, nc_slice url);

/// Returns how many bytes of an authority a message shows, as the precision of "%.*s".
static inline int nc_url_shown(nc_slice authority) {
    return (int)(authority.length < 96 ? authority.length : 96);
}

/* --- parsed URLs --- */

/// An origin: scheme, canonical host and port.
typedef struct nc_origin {
    nc_canonical_host host; // its text may point into the parsed URL
    uint16_t port;
    bool is_secure; // https; otherwise http
} nc_origin;

/// A parsed URL. A request's URL is parsed once, and all decisions about the request read the result. The slices point
/// into the parsed text.
///
/// The struct must not be copied, because the slice of the canonical host may point into the struct itself.
typedef struct nc_url {
    nc_slice text;
    nc_url_parts parts;     // as written
    nc_slice host_and_port; // as written, without credentials, for messages
    nc_origin origin;       // without a host if `status` is an error
    nc_status status;       // NC_OK, or the reason that the URL has no origin
} nc_url;

/// Parses a URL, and always fills `out`. A text that is not an absolute http or https URL has no origin.
///
/// Returns `out->status`, which is the result of nc_origin_read(). Pure; call from any thread.
nc_status nc_url_parse(nc_url *out, nc_slice text, nc_error *err);

/// Parses the origin of an absolute http or https URL.
///
/// The port is a number: "080" is 80. A missing or empty port is the scheme's default. Credentials are ignored.
/// Allocates nothing for ASCII hosts. Returns NC_OK, NC_ERR_BAD_SCHEME, NC_ERR_BAD_URL, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_NODISCARD nc_status nc_origin_read(nc_origin *out, nc_slice url, nc_error *err);

/// Returns true if scheme, host and port are equal. Pure; call from any thread.
bool nc_origin_is_equal(const nc_origin *a, const nc_origin *b);

#endif
