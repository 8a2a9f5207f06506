/// A reply as a function from a position to the bytes there, so that nothing is buffered.
///
/// It consists of a head, a body (chunked or not), a tail, and a unit that repeats endlessly. Each may be empty.
#ifndef NCT_OUTGOING_H
#define NCT_OUTGOING_H

#include "request.h"
#include "script.h"

/// One reply. A zeroed struct is none.
typedef struct nct_outgoing {
    /// Its script; owned.
    nct_script *script;
    /// Interim heads and head.
    nct_bytes head;
    /// Body of an echo; moved from the request.
    nct_bytes body;
    /// Offset in the body of the part that is sent.
    uint64_t body_offset;
    /// Bytes of that part, without framing.
    uint64_t body_length;
    /// Bytes of that part, with framing.
    uint64_t framed_length;
    /// Bytes of the whole reply.
    uint64_t total_length;
    /// Bytes to send before the ending.
    uint64_t limit;
    /// Bytes sent.
    uint64_t sent;
} nct_outgoing;

/// Begins a reply to `request`, or to none if it is NULL. Takes ownership of `script`. Returns false if memory is
/// exhausted.
bool nct_outgoing_begin(nct_outgoing *outgoing, nct_script *script, nct_request *request);

/// Fills `bytes` with the bytes after `sent`, up to `limit`. Returns their number; 0 if a file ended too early.
size_t nct_outgoing_read(const nct_outgoing *outgoing, uint8_t *bytes, size_t capacity);

/// Frees what it holds, and zeroes it.
void nct_outgoing_deinit(nct_outgoing *outgoing);

#endif
