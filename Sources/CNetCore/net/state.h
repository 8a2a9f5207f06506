/// The engine configuration: proxy, netrc, HSTS, Alt-Svc, DNS server. Copied when the engine is created, and constant.
#ifndef NETCORE_PRIVATE_STATE_H
#define NETCORE_PRIVATE_STATE_H

#include "net/description.h"

#include <netcore/engine_options.h>

typedef struct nc_state {
    nc_cookie_choice cookies;
    nc_address_family family;
    bool uses_netrc;
    bool uses_hsts;
    bool uses_alt_svc;
    char *cookie_file; // NULL for an empty text
    char *netrc_file;
    char *hsts_file;
    char *alt_svc_file;
    char *doh_url;
    bool has_proxy;
    nc_kept_proxy proxy;
    void *storage;
} nc_state;

/// Checks and copies the options. Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_state_init(nc_state *state, const nc_engine_options *options, nc_error *err);
/// Checks that libcurl can read its files: it would ignore a missing netrc file, and block on a named pipe. Returns
/// NC_OK, NC_ERR_FILE.
NC_NODISCARD nc_status nc_state_check_files(const nc_state *state, const nc_file_ops *files, nc_error *err);
/// Frees the copies, and wipes them.
void nc_state_deinit(nc_state *state);

#endif
