/// Where things stand in the text of a URL, without taking it apart: for queueing, messages and reports.
/// Decisions about trust and credentials use libcurl's own parser, never these.
#ifndef NETCORE_PRIVATE_URL_TEXT_H
#define NETCORE_PRIVATE_URL_TEXT_H

#include <netcore/bytes.h>

/// True for http and https, any case, followed by "://"; says which.
bool nc_url_has_web_scheme(nc_slice url, bool *is_secure);
/// "host:port" as the URL spells it, without credentials; the place in messages. Empty when there is none.
nc_slice nc_url_authority(nc_slice url);
/// The "user:password@" of the authority; length 0 when there is none.
void nc_url_find_credentials(nc_slice url, size_t *at, size_t *length);

/// The length of a URL behind whose authority each byte of other than ASCII characters is percent-encoded.
size_t nc_url_escaped_length(nc_slice url);
/// Writes that URL, without a NUL, and returns its end. A host of other letters stays: it is converted by IDNA.
char *nc_url_escape(char *out, nc_slice url);

/// How much of an authority a message shows, for "%.*s".
static inline int nc_url_shown(nc_slice authority) {
    return (int)(authority.length < 96 ? authority.length : 96);
}

#endif
