/// The engine's list of hosts that asked for https alone: what adds to it, what asks it, and its file.
#ifndef NETCORE_PRIVATE_STRICT_H
#define NETCORE_PRIVATE_STRICT_H

#include "net/hsts.h"
#include "net/saved_file.h"

typedef struct nc_transfer nc_transfer;

typedef struct nc_strict {
    nc_hsts list;
    nc_saved_file file;
} nc_strict;

/// Reads the list's file, if there is to be one; before the loop begins. A file that is missing is empty; otherwise
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_strict_read(nc_engine *engine, nc_error *err);
void nc_strict_deinit(nc_strict *strict);

/// A final head has come: takes in what it asks for.
void nc_strict_learn(nc_transfer *transfer);
/// Appends a NUL-terminated URL as https, NUL-terminated behind its end, if it is http and its host asked for that;
/// nothing otherwise. NC_OK, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_strict_secure(nc_buf *out, const nc_engine *engine, nc_slice url);
/// A hop begins: makes its URL https where its host asked for that. NC_OK, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_strict_upgrade(nc_transfer *transfer);

#endif
