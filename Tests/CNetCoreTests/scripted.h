/// The scripted exchange: one transfer for each feature of the engine, all concurrent, and the expected results.
///
///     scenario_servers stage;
///     scenario_transfer parts[SCENARIO_TRANSFERS];
///     scenario_start(&stage);
///     scenario_submit(&stage, engine, parts);      // submits all
///     scenario_check(&parts[i], false, "");       // after its end
///     scenario_stop(&stage);
#ifndef NETCORE_TEST_SCRIPTED_H
#define NETCORE_TEST_SCRIPTED_H

#include "torture.h"

/// The transfers of the exchange.
typedef enum scenario_kind {
    SCENARIO_PULLED,    // POST over TLS from a source that is empty once, redirected with its body, trailers
    SCENARIO_FILED,     // PUT of a file through a proxy, the response saved to another
    SCENARIO_DIGEST,    // a 401 with a challenge
    SCENARIO_ZIPPED,    // gzip over TLS, to a reader that pauses twice
    SCENARIO_RETURNED,  // sends a file, receives gzip, to a reader that pauses twice
    SCENARIO_TUNNEL,    // TLS through CONNECT
    SCENARIO_LIMITED,   // a server that never responds, and a limit of one millisecond
    SCENARIO_REFUSED,   // a redirect from https to http
    SCENARIO_CANCELLED, // a server that never responds, and a cancel
    SCENARIO_TRANSFERS,
} scenario_kind;

/// Servers and files, shared by any number of exchanges.
typedef struct scenario_servers {
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
} scenario_servers;

/// One transfer of an exchange.
typedef struct scenario_transfer {
    torture_fetch fetch; // first, because it is also the context of torture_sink()
    scenario_servers *stage;
    nc_engine *engine;
    scenario_kind kind;
    nc_transfer_id id;
    size_t sent;
    bool has_been_late;
    uint32_t rests;
    size_t received;
    bool is_wrong;
} scenario_transfer;

/// Starts the servers and writes the files.
void scenario_start(scenario_servers *stage);
/// Undoes scenario_start().
void scenario_stop(scenario_servers *stage);

/// Starts an engine for the exchange with its policy and a file of cookies. The caller provides the trace and the
/// client.
nc_engine *scenario_engine(const scenario_servers *stage, nc_trace trace, nc_loop_client client);

/// Scripts the servers again and submits all parts. Each ends with an on_done for its `fetch`.
///
/// Returns the number of accepted parts, from the first. It is below the total only if memory ran out.
size_t scenario_submit(scenario_servers *stage, nc_engine *engine, scenario_transfer parts[SCENARIO_TRANSFERS]);

/// Fails unless the part ended correctly. `may_be_cancelled` allows a cancel by another thread; `when` is for the
/// message.
void scenario_check(const scenario_transfer *part, bool may_be_cancelled, const char *when);
/// Releases the part.
void scenario_transfer_deinit(scenario_transfer *part);

/// Fails unless the stage's directory has only the expected files. Removes the saved ones.
void scenario_check_files(const scenario_servers *stage);

/// Returns the part's name, for messages.
const char *scenario_name(scenario_kind kind);

#endif
