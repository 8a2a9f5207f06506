/// One prepared reply, copied once and shared between connections by a reference count.
#ifndef NCT_SCRIPT_H
#define NCT_SCRIPT_H

#include "bytes.h"
#include "nettesting/reply.h"

#include <stdatomic.h>

/// A prepared reply. After nct_script_new() only the count changes.
typedef struct nct_script {
    /// Owners.
    atomic_size_t references;
    /// Heads sent before the head.
    nct_bytes interim;
    /// Location and the script's header lines, NUL-terminated.
    nct_bytes lines;
    /// Body from the script.
    nct_bytes body;
    /// The last chunk and the trailer.
    nct_bytes tail;
    /// Repeated endlessly after the tail; NULL for nothing.
    const char *unit;
    /// `Basic …` that a request must have; empty for none.
    nct_bytes credentials;
    /// Sent to requests without the credentials; owned.
    struct nct_script *challenge;
    /// If not 0, the pattern's length, instead of `body`.
    uint64_t pattern_length;
    /// If not 0, the length of a chunk.
    size_t chunk_bytes;
    /// If `is_cut` is set, the bytes to send before `ending`.
    uint64_t cut_after;
    /// If not 0, the bytes to send at a time.
    size_t drip_bytes;
    /// Milliseconds between them.
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
    /// The request's body is the reply's.
    bool is_echo;
    /// There is no head, and HEAD is ignored.
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
} nct_script;

/// Prepares a reply. Returns NULL if memory is exhausted. Release it with nct_script_release().
nct_script *nct_script_new(const nct_reply *reply);

/// Adds an owner and returns the script.
nct_script *nct_script_retain(nct_script *script);

/// Removes an owner. NULL is allowed.
void nct_script_release(nct_script *script);

#endif
