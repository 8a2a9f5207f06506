/// The HTTP handshake of a WebSocket client (RFC 6455, 4.1), without I/O.
#ifndef NETCORE_PRIVATE_WEBSOCKET_HANDSHAKE_H
#define NETCORE_PRIVATE_WEBSOCKET_HANDSHAKE_H

#include "websocket/deflate.h"

#include <netcore/hooks.h>
#include <netcore/response.h>

/// The size of a key with its NUL: 16 bytes in base64.
enum { NC_WS_KEY_BYTES = 25 };

/// Writes a random Sec-WebSocket-Key. Returns NC_OK, NC_ERR_UNSUPPORTED (the random source fails), NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_ws_key_make(char key[NC_WS_KEY_BYTES], const nc_random *random, nc_error *err);

/// Appends the Sec-WebSocket-Accept that belongs to a key, with a NUL. Returns NC_OK, NC_ERR_NO_MEMORY,
/// NC_ERR_UNSUPPORTED (OpenSSL has no SHA-1).
NC_NODISCARD nc_status nc_ws_accept_make(nc_buf *out, const char *key, nc_error *err);

/// What the client asked for.
typedef struct nc_ws_offer {
    const char *key;
    nc_slice protocols; // value of Sec-WebSocket-Protocol; empty if the client has offered none
    bool offers_deflate;
} nc_ws_offer;

/// Checks a 101 response against the offer.
///
/// - terms: the negotiated compression.
/// Returns NC_OK, NC_ERR_BAD_UPGRADE, NC_ERR_NO_MEMORY, NC_ERR_UNSUPPORTED.
NC_NODISCARD nc_status nc_ws_handshake_check(const nc_ws_offer *offer, const nc_response *response,
                                             nc_ws_deflate_terms *terms, nc_error *err);

#endif
