/// The challenges of a server or a proxy (RFC 9110, 11.6.1). Pure.
#ifndef NETCORE_PRIVATE_CHALLENGE_H
#define NETCORE_PRIVATE_CHALLENGE_H

#include <netcore/bytes.h>

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field; views into the field's value.
typedef struct nc_challenge {
    nc_slice scheme;
    nc_slice parameters; // read them with nc_challenge_next_parameter()
} nc_challenge;

/// Takes the next challenge from the rest of a field's value; false at the end, or at what is no challenge.
bool nc_challenge_next(nc_slice *rest, nc_challenge *out);
/// Takes the next parameter, its quotes left out and its escapes not undone; false at the end. Blanks and empty list
/// members are allowed wherever RFC 9110, 5.6.1 and 11.2 allow a recipient to meet them.
bool nc_challenge_next_parameter(nc_slice *parameters, nc_slice *name, nc_slice *value);
/// Whether a field offers this scheme, in any of its challenges.
bool nc_challenge_offers(nc_slice value, const char *scheme);

/// Whether the first digest that a WWW-Authenticate or Proxy-Authenticate field asks for has to cover the body: its qop
/// holds "auth-int", and not "auth" (RFC 7616, 3.3).
bool nc_challenge_covers_body(nc_slice value);

#endif
