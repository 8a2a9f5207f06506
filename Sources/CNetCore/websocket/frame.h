/// Writes the frames of a WebSocket client (RFC 6455, 5.2).
#ifndef NETCORE_PRIVATE_WEBSOCKET_FRAME_H
#define NETCORE_PRIVATE_WEBSOCKET_FRAME_H

#include <netcore/bytes.h>
#include <netcore/hooks.h>

enum {
    NC_WS_CONTINUATION = 0,
    NC_WS_TEXT = 1,
    NC_WS_BINARY = 2,
    NC_WS_CLOSE = 8,
    NC_WS_PING = 9,
    NC_WS_PONG = 10,
};

enum { NC_WS_MAX_CONTROL_BYTES = 125, NC_WS_MAX_HEAD_BYTES = 14 };

/// A frame without its payload.
typedef struct nc_ws_frame {
    uint8_t opcode; // NC_WS_*
    bool is_final;
    bool is_compressed; // RSV1
} nc_ws_frame;

/// Mask keys that are read from the random source in advance. All zero at the start.
typedef struct nc_ws_keys {
    uint8_t bytes[64];
    uint8_t left;
} nc_ws_keys;

/// Appends a masked frame. A failure of memory is sticky in `out`, which then has a partial frame. Returns false if
/// the random source fails; nothing was appended.
NC_NODISCARD bool nc_ws_frame_append(nc_buf *out, nc_ws_frame frame, nc_slice payload, nc_ws_keys *keys,
                                     const nc_random *random);

/// Returns true for a code that a close frame may have (RFC 6455, 7.4).
bool nc_ws_close_code_is_valid(uint16_t code);

#endif
