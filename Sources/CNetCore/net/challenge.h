/// What a challenge of a server asks for beyond its scheme (RFC 9110, 11.3). Pure.
#ifndef NETCORE_PRIVATE_CHALLENGE_H
#define NETCORE_PRIVATE_CHALLENGE_H

#include <netcore/bytes.h>

/// Whether the first digest that a WWW-Authenticate or Proxy-Authenticate field asks for has to cover the body: its qop
/// holds "auth-int", and not "auth" (RFC 7616, 3.3).
bool nc_challenge_covers_body(nc_slice value);

#endif
