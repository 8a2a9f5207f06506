/// What is answered: replies made ready once, found by path, shared by reference count between connections.
#ifndef NCT_SCRIPT_H
#define NCT_SCRIPT_H

#include "bytes.h"
#include "nettesting.h"

#include <pthread.h>
#include <stdatomic.h>

/// A reply made ready; nothing in it changes after nct_script_new() but the count.
typedef struct nct_script {
    /// Owners.
    atomic_size_t references;
    /// Status line and header lines; without the framing and the final empty line when `is_echo` is set.
    nct_bytes head;
    /// Body as given.
    nct_bytes body;
    /// When not 0, the pattern's length, instead of `body`.
    uint64_t pattern_length;
    /// When not 0, the length of a chunk.
    size_t chunk_bytes;
    /// When `is_cut` is set, the bytes sent before `ending`.
    uint64_t cut_after;
    /// What follows.
    nct_ending ending;
    /// `cut_after` counts.
    bool is_cut;
    /// The request's body is the reply's.
    bool is_echo;
    /// There is no head, and HEAD is not respected.
    bool is_raw;
    /// The status forbids a body (1xx, 204, 304).
    bool is_bodiless;
    /// The script's lines say how the body ends.
    bool is_framed;
    /// The script's lines hold Content-Type.
    bool is_typed;
} nct_script;

/// Replies by path; zeroed storage after nct_scripts_init().
typedef struct nct_scripts {
    /// Guards the rows.
    pthread_mutex_t mutex;
    /// Chains by hash of the path.
    struct nct_script_row *rows[1024];
    /// Answers what has no script; owned.
    nct_script *fallback;
} nct_scripts;

/// Makes a reply ready; NULL when memory ran out. Give it up with nct_script_release().
nct_script *nct_script_new(const nct_reply *reply);

/// Adds an owner and returns the script.
nct_script *nct_script_retain(nct_script *script);

/// Gives up one ownership; NULL is harmless.
void nct_script_release(nct_script *script);

/// Appends Content-Length or Transfer-Encoding, as the script wants it, and the empty line.
bool nct_script_append_framing(const nct_script *script, nct_bytes *head, uint64_t body_length);

/// Makes an empty table; false when memory ran out.
bool nct_scripts_init(nct_scripts *scripts);

/// Frees every row.
void nct_scripts_deinit(nct_scripts *scripts);

/// Sets the reply of a path and takes ownership of `script`; false when memory ran out.
bool nct_scripts_set(nct_scripts *scripts, const char *path, nct_script *script);

/// The reply for a path, or that of "*", or 404; retained for the caller.
nct_script *nct_scripts_find(nct_scripts *scripts, const void *path, size_t length);

#endif
