/// The challenges of a server or a proxy (RFC 9110, 11.6.1). Pure.
#ifndef NETCORE_PRIVATE_CHALLENGE_H
#define NETCORE_PRIVATE_CHALLENGE_H

#include <netcore/bytes.h>
#include <netcore/credentials.h>

/// Takes a token from the beginning of a text (RFC 9110, 5.6.2); empty if there is none.
nc_slice nc_challenge_take_token(nc_slice *text);
/// Takes the next parameter. Its value is without quotes, but backslash escapes in it are kept. Returns false at the
/// end. Blanks and empty list members are skipped where a recipient must accept them (RFC 9110, 5.6.1 and 11.2).
bool nc_challenge_next_parameter(nc_slice *parameters, nc_slice *name, nc_slice *value);
/// Appends the value of a parameter with its escapes decoded.
void nc_challenge_unescape(nc_buf *out, nc_slice value);
/// Returns true if any challenge of a field has this scheme.
bool nc_challenge_offers(nc_slice value, const char *scheme);

/// Returns true if the first Digest challenge of a WWW-Authenticate or Proxy-Authenticate field requires the body to be
/// covered: its qop has "auth-int" but not "auth" (RFC 7616, 3.3).
bool nc_challenge_covers_body(nc_slice value);

#endif
