/// The scripted exchange: one transfer for each feature of the engine, all concurrent, and the expected results.
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

/// The transfers of the exchange.
typedef enum scripted_kind {
    SCRIPTED_PULLED,   // POST over TLS from a source that is empty once, redirected with its body, trailers
    SCRIPTED_FILED,    // PUT of a file through a proxy, the response saved to another
    SCRIPTED_DIGEST,   // a 401 with a challenge
    SCRIPTED_ZIPPED,   // gzip over TLS, to a reader that pauses twice
    SCRIPTED_RETURNED, // sends a file, receives gzip, to a reader that pauses twice
    SCRIPTED_TUNNEL,   // TLS through CONNECT
    SCRIPTED_LIMITED,  // a server that never responds, and a limit of one millisecond
    SCRIPTED_REFUSED,  // a redirect from https to http
    SCRIPTED_HUNTED,   // a server that never responds, and a cancel
    SCRIPTED_PARTS,
} scripted_kind;

/// Servers and files, shared by any number of exchanges.
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

/// Starts an engine for the exchange with its policy and a file of cookies. The caller provides the trace and the
/// client.
nc_engine *scripted_engine(const scripted_stage *stage, nc_trace trace, nc_loop_client client);

/// Scripts the servers again and submits all parts. Each ends with an on_done for its `fetch`.
///
/// Returns the number of accepted parts, from the first. It is below the total only if memory ran out.
size_t scripted_begin(scripted_stage *stage, nc_engine *engine, scripted_part parts[SCRIPTED_PARTS]);

/// Fails unless the part ended correctly. `may_be_cancelled` allows a cancel by another thread; `when` is for the
/// message.
void scripted_check(const scripted_part *part, bool may_be_cancelled, const char *when);
/// Releases the part.
void scripted_part_deinit(scripted_part *part);

/// Fails unless the stage's directory has only the expected files. Removes the saved ones.
void scripted_check_files(const scripted_stage *stage);

/// Returns the part's name, for messages.
const char *scripted_name(scripted_kind kind);

#endif
