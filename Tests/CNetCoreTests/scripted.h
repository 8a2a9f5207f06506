/// The scripted exchange: one of each thing that the engine does, all at once, and what each must come to.
///
///     scripted_stage stage;
///     scripted_part parts[SCRIPTED_PARTS];
///     scripted_set(&stage);
///     scripted_begin(&stage, engine, parts);      // submits all
///     scripted_check(&parts[i], false, "");       // after its end
///     scripted_strike(&stage);
#ifndef NETCORE_TEST_SCRIPTED_H
#define NETCORE_TEST_SCRIPTED_H

#include "torture.h"

/// What the exchange is made of; each is one transfer.
typedef enum scripted_kind {
    SCRIPTED_PULLED,   // POST over TLS from a source that once has nothing, redirected with its body, trailers
    SCRIPTED_FILED,    // PUT of a file through a proxy, the reply saved to another
    SCRIPTED_DIGEST,   // a 401 answered
    SCRIPTED_ZIPPED,   // gzip over TLS, to a reader that rests twice
    SCRIPTED_RETURNED, // a file sent, gzip back, to a reader that rests twice
    SCRIPTED_TUNNEL,   // TLS through CONNECT
    SCRIPTED_LIMITED,  // a server that never answers, and a limit of one millisecond
    SCRIPTED_REFUSED,  // a redirect from https to http
    SCRIPTED_HUNTED,   // a server that never answers, and a cancel
    SCRIPTED_PARTS,
} scripted_kind;

/// Servers and files; the same for any number of exchanges.
typedef struct scripted_stage {
    nct_server *plain;
    nct_server *tls;
    nct_proxy *proxy;
    nc_trust *trust;
    nc_buf upload;
    nc_buf page;
    nc_buf zipped;
    char directory[64];
    char upload_path[96];
    char saved_path[96];
    char jar_path[96];
} scripted_stage;

/// One transfer of an exchange.
typedef struct scripted_part {
    torture_fetch fetch; // first, because it is also the context of torture_sink()
    scripted_stage *stage;
    nc_engine *engine;
    scripted_kind kind;
    nc_transfer_id id;
    size_t sent;
    bool has_been_late;
    uint32_t rests;
    size_t received;
    bool is_wrong;
} scripted_part;

/// Starts the servers and writes the files.
void scripted_set(scripted_stage *stage);
/// Undoes scripted_set().
void scripted_strike(scripted_stage *stage);

/// An engine for the exchange: its policy, a jar in a file; the trace and the client are the caller's.
nc_engine *scripted_engine(const scripted_stage *stage, nc_trace trace, nc_loop_client client);

/// Scripts the servers anew and submits all parts; each ends with an on_done for its `fetch`.
///
/// Returns how many were accepted: the first so many (fewer than all only when memory runs out).
size_t scripted_begin(scripted_stage *stage, nc_engine *engine, scripted_part parts[SCRIPTED_PARTS]);

/// Fails unless the part ended as it must. `may_be_cancelled`: somebody else may have ended it; `when`: for the
/// message.
void scripted_check(const scripted_part *part, bool may_be_cancelled, const char *when);
/// Releases what the part holds.
void scripted_part_deinit(scripted_part *part);

/// Fails unless the stage's directory holds nothing but what belongs there; removes what was saved.
void scripted_check_files(const scripted_stage *stage);

/// The part's name, for messages.
const char *scripted_name(scripted_kind kind);

#endif
