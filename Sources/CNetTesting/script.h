/// One reply made ready: copied once, shared by reference count between
/// connections.
#ifndef NCT_SCRIPT_H
#define NCT_SCRIPT_H

#include "bytes.h"
#include "nettesting/reply.h"

#include <stdatomic.h>

/// A reply made ready; nothing in it changes after nct_script_new() but the
/// count.
typedef struct nct_script {
    /// Owners.
    atomic_size_t references;
    /// Heads sent before the head.
    nct_bytes interim;
    /// Location and the script's header lines, NUL-terminated.
    nct_bytes lines;
    /// Body as given.
    nct_bytes body;
    /// What follows the body: the last chunk and the trailer.
    nct_bytes tail;
    /// What follows the tail again and again; NULL for nothing.
    const char *unit;
    /// `Basic …` that a request must show; empty for none.
    nct_bytes credentials;
    /// Sent to who does not show it; owned.
    struct nct_script *challenge;
    /// When not 0, the pattern's length, instead of `body`.
    uint64_t pattern_length;
    /// When not 0, the length of a chunk.
    size_t chunk_bytes;
    /// When `is_cut` is set, the bytes sent before `ending`.
    uint64_t cut_after;
    /// When not 0, the bytes sent at a time.
    size_t drip_bytes;
    /// Milliseconds between them.
    uint32_t drip_ms;
    /// Status code.
    unsigned status;
    /// What follows.
    nct_ending ending;
    /// Whether the request's body is waited for.
    nct_early early;
    /// What never ends.
    nct_endless endless;
    /// `cut_after` counts.
    bool is_cut;
    /// It counts from the body's first byte.
    bool is_cut_in_body;
    /// The request's body is the reply's.
    bool is_echo;
    /// There is no head, and HEAD is not respected.
    bool is_raw;
    /// The status forbids a body (1xx, 204, 304), or what never ends comes before
    /// the body.
    bool is_bodiless;
    /// What never ends is part of the body.
    bool is_endless_body;
    /// The script's lines say how the body ends.
    bool is_framed;
    /// The script's lines hold Content-Type.
    bool is_typed;
    /// Range is respected.
    bool answers_ranges;
    /// The body is the file's.
    bool has_file;
    /// The descriptor; owned when `has_file` is set.
    int file;
    /// Where in it the body begins.
    uint64_t file_offset;
    /// Bytes of it.
    uint64_t file_length;
    /// Milliseconds before the reply begins.
    uint32_t delay_ms;
} nct_script;

/// Makes a reply ready; NULL when memory ran out. Give it up with
/// nct_script_release().
nct_script *nct_script_new(const nct_reply *reply);

/// Adds an owner and returns the script.
nct_script *nct_script_retain(nct_script *script);

/// Gives up one ownership; NULL is harmless.
void nct_script_release(nct_script *script);

#endif
