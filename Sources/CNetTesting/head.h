/// The status line, header lines and framing of one reply.
#ifndef NCT_HEAD_H
#define NCT_HEAD_H

#include "range.h"
#include "script.h"

/// Inputs of a reply's head besides its script.
typedef struct nct_head_facts {
    /// The part of the body that is sent.
    nct_range range;
    /// Bytes of the whole body.
    uint64_t body_length;
    /// Value of Content-Type to add; empty for none.
    const void *content_type;
    /// Bytes in `content_type`.
    size_t content_type_length;
} nct_head_facts;

/// Appends the interim heads and the head. Returns false if memory is exhausted.
bool nct_head_append(nct_bytes *out, const nct_script *script, const nct_head_facts *facts);

#endif
