/// A prepared copy of a scripted reply. Connections share it, with a reference count.
#ifndef NCT_SCRIPT_H
#define NCT_SCRIPT_H

#include "bytes.h"
#include "nettesting/reply.h"
#include "socket.h"

#include <stdatomic.h>

/// A prepared reply. After nct_script_new() only the count changes.
typedef struct nct_script {
    /// Number of owners.
    atomic_size_t references;
    /// Interim heads.
    nct_bytes interim;
    /// Location and the script's header lines, NUL-terminated.
    nct_bytes lines;
    /// Body from the script.
    nct_bytes body;
    /// The last chunk and the trailer.
    nct_bytes tail;
    /// Text that is repeated endlessly after the tail; NULL for none.
    const char *unit;
    /// The `Basic …` credentials that a request must have; empty if none are required.
    nct_bytes credentials;
    /// The reply to requests without the credentials; owned.
    struct nct_script *challenge;
    /// If not 0, the body is a pattern of this length, and `body` is not used.
    uint64_t pattern_length;
    /// If not 0, the length of a chunk.
    size_t chunk_bytes;
    /// If `is_cut` is set, the number of bytes to send before `ending`.
    uint64_t cut_after;
    /// If not 0, the size of the pieces in which the reply is sent.
    size_t drip_bytes;
    /// Milliseconds between two pieces.
    uint32_t drip_ms;
    /// Status code.
    unsigned status;
    /// How the connection ends.
    nct_ending ending;
    /// Whether the reply waits for the request's body.
    nct_early early;
    /// The part that never ends.
    nct_endless endless;
    /// `cut_after` applies.
    bool is_cut;
    /// `cut_after` counts from the body's first byte.
    bool is_cut_in_body;
    /// The request's body is sent as the reply's body.
    bool is_echo;
    /// The reply has no generated head. It is sent completely also for HEAD.
    bool is_raw;
    /// The status forbids a body (1xx, 204, 304), or an endless part precedes the body.
    bool is_bodiless;
    /// The endless part is in the body.
    bool is_endless_body;
    /// The script's lines define how the body ends.
    bool is_framed;
    /// The script's lines have Content-Type.
    bool is_typed;
    /// Range is supported.
    bool answers_ranges;
    /// The body comes from the file.
    bool has_file;
    /// The descriptor; owned when `has_file` is set.
    int file;
    /// Offset in the file where the body begins.
    uint64_t file_offset;
    /// Bytes to send.
    uint64_t file_length;
    /// Milliseconds before the reply begins.
    uint32_t delay_ms;
    /// The reply is chosen again when the request's body has arrived, which is kept.
    bool awaits_body;
    /// The steps of a WebSocket; owned.
    nct_socket_part *socket_parts;
    /// Number of steps.
    size_t socket_part_count;
    /// The reply to requests that are no WebSocket handshake; owned. NULL if the script has no WebSocket.
    struct nct_script *no_upgrade;
} nct_script;

/// Prepares a reply. Returns NULL if memory is exhausted. Release it with nct_script_release().
nct_script *nct_script_new(const nct_reply *reply);

/// Adds an owner and returns the script.
nct_script *nct_script_retain(nct_script *script);

/// Removes an owner. NULL is allowed.
void nct_script_release(nct_script *script);

#endif
