/// The status line, header lines and framing of one reply.
#ifndef NCT_HEAD_H
#define NCT_HEAD_H

#include "range.h"
#include "script.h"

/// The values, in addition to the script, that determine the head of a reply.
typedef struct nct_head_facts {
    /// The part of the body that is sent.
    nct_range range;
    /// Length of the whole body in bytes.
    uint64_t body_length;
    /// Value of Content-Type to add; empty for none.
    const void *content_type;
    /// Bytes in `content_type`.
    size_t content_type_length;
    /// The key of a WebSocket handshake to accept; NULL for none.
    const nct_bytes *socket_key;
    /// Adds "Connection: close".
    bool announces_close;
} nct_head_facts;

/// Appends the interim heads and the head. Returns false if memory is exhausted.
bool nct_head_append(nct_bytes *out, const nct_script *script, const nct_head_facts *facts);

#endif
