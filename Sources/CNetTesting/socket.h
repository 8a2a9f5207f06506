/// The server's side of a scripted WebSocket, without I/O: it takes bytes from an input buffer and appends bytes to an
/// output buffer.
#ifndef NCT_SOCKET_H
#define NCT_SOCKET_H

#include "bytes.h"
#include "nettesting/socket.h"
#include "request.h"

/// A prepared step.
typedef struct nct_socket_part {
    /// What it does.
    nct_socket_action action;
    /// The bytes to send, with the head of their frame; empty for none.
    nct_bytes frame;
} nct_socket_part;

/// The state of a WebSocket. A zeroed struct is one whose handshake has just ended.
typedef struct nct_socket {
    /// Bytes to send.
    nct_bytes out;
    /// The index of the next step.
    size_t step;
    /// A message has arrived that no step has waited for.
    bool has_message;
    /// A close frame was sent.
    bool has_closed;
    /// Nothing follows the bytes to send.
    bool is_over;
    /// The connection ends with RST.
    bool is_reset;
    /// After the bytes to send, the connection stalls. The caller clears it.
    bool is_stalling;
} nct_socket;

/// Prepares a step. Returns false if memory is exhausted.
bool nct_socket_part_init(nct_socket_part *part, const nct_socket_step *step);

/// Returns true if a request is a handshake that the server accepts.
bool nct_socket_is_handshake(const nct_request *request);

/// Appends the fields of the 101 that accepts a key. Returns false if memory is exhausted.
bool nct_socket_append_fields(nct_bytes *out, const nct_bytes *key);

/// Takes input and performs steps, until more input is needed, much output waits, or the WebSocket stalls or is over.
/// Returns false if memory is exhausted.
bool nct_socket_advance(nct_socket *socket, const nct_socket_part *parts, size_t count, nct_bytes *in);

#endif
