/// A scripted WebSocket (RFC 6455): what the server sends after the handshake, and which messages it waits for.
///
///     static const nct_socket_step steps[] = {
///         {.action = NCT_SOCKET_TEXT, .bytes = "welcome", .length = 7}, {.action = NCT_SOCKET_ECHO}};
///     nct_reply reply = {.socket_steps = steps, .socket_step_count = 2};
///     nct_server_script(server, "/chat", &reply);
#ifndef NETTESTING_SOCKET_H
#define NETTESTING_SOCKET_H

#include "base.h"

NCT_ASSUME_NONNULL_BEGIN

/// What a step does.
typedef NCT_ENUM(nct_socket_action){
    /// Sends a text message.
    NCT_SOCKET_TEXT = 0,
    /// Sends a binary message.
    NCT_SOCKET_BINARY = 1,
    /// Sends a ping of at most 125 bytes.
    NCT_SOCKET_PING = 2,
    /// Sends bytes unchanged, for example a malformed frame.
    NCT_SOCKET_BYTES = 3,
    /// Waits for a message of the client.
    NCT_SOCKET_WAIT = 4,
    /// Sends each message back, until the client closes.
    NCT_SOCKET_ECHO = 5,
    /// Sends a close frame, and drops messages until the client closes too. The bytes are the reason.
    NCT_SOCKET_CLOSE = 6,
    /// Ends the connection without a close frame.
    NCT_SOCKET_END = 7,
    /// Like NCT_SOCKET_END, with RST.
    NCT_SOCKET_RESET = 8,
    /// Neither reads nor sends until nct_server_release_stalled(), as with NCT_STALL.
    NCT_SOCKET_STALL = 9,
} nct_socket_action;

/// A step of a scripted WebSocket. After the last step, messages are dropped until the client closes. Pings of the
/// client are answered between the steps. A malformed frame of the client, or one above 16 MiB, is answered with a
/// close frame (1002 or 1009).
typedef struct nct_socket_step {
    /// What the step does.
    nct_socket_action action;
    /// The code of a close frame; 0 for none.
    uint16_t code;
    /// The payload, copied.
    const void *NCT_NULLABLE bytes;
    /// Bytes in `bytes`.
    size_t length;
} nct_socket_step;

NCT_ASSUME_NONNULL_END

#endif
