/// The challenges of a server or a proxy (RFC 9110, 11.6.1). Pure.
#ifndef NETCORE_PRIVATE_CHALLENGE_H
#define NETCORE_PRIVATE_CHALLENGE_H

#include <netcore/bytes.h>

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field, as views into the field's value.
typedef struct nc_challenge {
    nc_slice scheme;
    nc_slice parameters; // for nc_challenge_next_parameter()
} nc_challenge;

/// Takes the next challenge from the rest of a field's value. Returns false at the end, or if there is no challenge.
bool nc_challenge_next(nc_slice *rest, nc_challenge *out);
/// Takes the next parameter without quotes, with escapes kept. Returns false at the end. Accepts blanks and empty list
/// members where RFC 9110, 5.6.1 and 11.2 require that of a recipient.
bool nc_challenge_next_parameter(nc_slice *parameters, nc_slice *name, nc_slice *value);
/// Returns true if any challenge of a field has this scheme.
bool nc_challenge_offers(nc_slice value, const char *scheme);

/// Returns true if the first Digest challenge of a WWW-Authenticate or Proxy-Authenticate field requires the body to be
/// covered: its qop has "auth-int" but not "auth" (RFC 7616, 3.3).
bool nc_challenge_covers_body(nc_slice value);

#endif
