/// Finds parts of a URL's text without parsing it, for queues, messages and reports. Decisions about trust and
/// credentials use libcurl's parser, never these functions.
#ifndef NETCORE_PRIVATE_URL_TEXT_H
#define NETCORE_PRIVATE_URL_TEXT_H

#include <netcore/bytes.h>

/// Returns true for http and https, in any case, followed by "://". Sets which one it is.
bool nc_url_has_web_scheme(nc_slice url, bool *is_secure);
/// Returns "host:port" as the URL spells it, without credentials, for messages. Empty if there is none.
nc_slice nc_url_authority(nc_slice url);
/// Finds the "user:password@" of the authority; length 0 if there is none.
void nc_url_find_credentials(nc_slice url, size_t *at, size_t *length);

/// Returns the length of a URL in which each non-ASCII byte after the authority is percent-encoded.
size_t nc_url_escaped_length(nc_slice url);
/// Writes that URL, without a NUL, and returns its end. A non-ASCII host is kept, and converted by IDNA later.
char *nc_url_escape(char *out, nc_slice url);

/// Returns how much of an authority a message shows, for "%.*s".
static inline int nc_url_shown(nc_slice authority) {
    return (int)(authority.length < 96 ? authority.length : 96);
}

#endif
