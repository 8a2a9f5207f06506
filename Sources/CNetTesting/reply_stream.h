/// The bytes of a reply. They are computed for each position when they are sent, so that a long reply is not buffered.
///
/// A reply consists of a head, a body (chunked or not), a tail, and a unit that is repeated endlessly. Each may be
/// empty.
#ifndef NCT_OUTGOING_H
#define NCT_OUTGOING_H

#include "request.h"
#include "script.h"

/// One reply. A zeroed struct means that there is no reply.
typedef struct nct_reply_stream {
    /// Its script; owned.
    nct_script *script;
    /// Interim heads and head.
    nct_bytes head;
    /// Body of an echo, taken from the request.
    nct_bytes body;
    /// Offset in the body of the part that is sent.
    uint64_t body_offset;
    /// Length of that part, without framing.
    uint64_t body_length;
    /// Length of that part, with framing.
    uint64_t framed_length;
    /// Length of the whole reply.
    uint64_t total_length;
    /// Number of bytes to send before the ending.
    uint64_t limit;
    /// Number of bytes sent so far.
    uint64_t sent;
} nct_reply_stream;

/// Begins a reply to `request`, which is NULL if no request was parsed. Takes ownership of `script`. Returns false if
/// memory is exhausted.
bool nct_reply_stream_begin(nct_reply_stream *reply_stream, nct_script *script, nct_request *request);

/// Fills `bytes` with the bytes after `sent`, up to `limit`. Returns their number; 0 if a file ended too early.
size_t nct_reply_stream_read(const nct_reply_stream *reply_stream, uint8_t *bytes, size_t capacity);

/// Frees the members, and zeroes the struct.
void nct_reply_stream_deinit(nct_reply_stream *reply_stream);

#endif
