/// A reply on its way: a pure function from a position to the bytes there, so
/// that nothing of it is ever buffered.
///
/// It is a head, a body (framed in chunks or not), a tail, and then a unit that
/// never ends, each of them maybe empty.
#ifndef NCT_OUTGOING_H
#define NCT_OUTGOING_H

#include "request.h"
#include "script.h"

/// One reply; zeroed is none.
typedef struct nct_outgoing {
    /// What it was made from; owned.
    nct_script *script;
    /// Interim heads and head.
    nct_bytes head;
    /// Body of an echo; taken from the request.
    nct_bytes body;
    /// Offset in the body where the part that is sent begins.
    uint64_t body_offset;
    /// Bytes of that part, without framing.
    uint64_t body_length;
    /// Bytes of that part, with framing.
    uint64_t framed_length;
    /// Bytes of the whole reply.
    uint64_t total_length;
    /// Bytes sent before the ending.
    uint64_t limit;
    /// Bytes sent.
    uint64_t sent;
} nct_outgoing;

/// Begins a reply to `request`, or to nothing when NULL, and takes ownership of
/// `script`; false when memory ran out.
bool nct_outgoing_begin(nct_outgoing *outgoing, nct_script *script, nct_request *request);

/// Fills `bytes` with what follows `sent`, up to `limit`; returns how many, 0
/// when a file has ended too early.
size_t nct_outgoing_read(const nct_outgoing *outgoing, uint8_t *bytes, size_t capacity);

/// Frees what it holds and leaves none.
void nct_outgoing_deinit(nct_outgoing *outgoing);

#endif
