/// The engine's use of the HSTS cache: what adds to it, HSTS upgrades, and its file.
#ifndef NETCORE_PRIVATE_STRICT_H
#define NETCORE_PRIVATE_STRICT_H

#include "net/hsts.h"
#include "net/saved_file.h"

typedef struct nc_transfer nc_transfer;

typedef struct nc_strict {
    nc_hsts list;
    nc_saved_file file;
} nc_strict;

/// Reads the cache's file, if one is configured, before the event loop begins. A missing file is empty. Returns NC_OK,
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_strict_read(nc_engine *engine, nc_error *err);
void nc_strict_deinit(nc_strict *strict);

/// Stores the Strict-Transport-Security field of a final head.
void nc_strict_learn(nc_transfer *transfer);
/// Appends a NUL-terminated http URL as https, with a NUL after its end, if the cache covers its host; otherwise
/// nothing. Returns NC_OK, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_strict_secure(nc_buf *out, const nc_engine *engine, nc_slice url);
/// Changes the URL of a new hop to https if the cache covers its host. Returns NC_OK, NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_strict_upgrade(nc_transfer *transfer);

#endif
