/// The upgrade of http URLs by the HSTS cache (RFC 6797), and the http requests that the policy or the engine refuses.
#ifndef NETCORE_PRIVATE_HSTS_STATE_H
#define NETCORE_PRIVATE_HSTS_STATE_H

#include "http/hsts.h"
#include "state/state_file_writer.h"

typedef struct nc_transfer nc_transfer;

typedef struct nc_hsts_state {
    nc_hsts list;
    nc_state_file_writer file;
} nc_hsts_state;

/// Reads the cache's file, if one is configured, before the event loop begins. A missing file is empty. Returns NC_OK,
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_hsts_state_read(nc_engine *engine, nc_error *err);
void nc_hsts_state_deinit(nc_hsts_state *hsts);

/// Stores the Strict-Transport-Security field of a final head.
void nc_hsts_state_learn(nc_transfer *transfer);
/// Appends a NUL-terminated http URL as https, with a NUL after its end, if the cache covers its host; otherwise
/// nothing. Returns NC_OK, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_hsts_state_secure(nc_buf *out, const nc_engine *engine, nc_slice url);
/// Changes the URL of a new hop to https if the cache covers its host. Returns NC_OK, NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_hsts_state_apply(nc_transfer *transfer);

/* --- refused http requests --- */

/// Records NC_ERR_PLAINTEXT_REFUSED and notifies the policy's observer if the hop's URL is http, and the engine refuses
/// http or a rule with pins covers the host. The transfer must have its pool. Returns NC_OK for all other hops.
NC_NODISCARD nc_status nc_plaintext_check(nc_transfer *transfer);

#endif
