/// What an engine remembers of the world between requests, where it was asked to: proxy, .netrc, HSTS, Alt-Svc, the
/// DNS server. Copied when the engine is made and never changed.
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
    char *cookie_file; // NULL where a text is empty
    char *netrc_file;
    char *hsts_file;
    char *alt_svc_file;
    char *doh_url;
    bool has_proxy;
    nc_kept_proxy proxy;
    void *storage;
} nc_state;

/// Checks and copies. NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_state_init(nc_state *state, const nc_engine_options *options, nc_error *err);
/// Whether what libcurl reads can be: it would leave out a netrc file that is missing, and wait for a named pipe.
/// NC_OK, NC_ERR_FILE.
NC_NODISCARD nc_status nc_state_check_files(const nc_state *state, const nc_file_ops *files, nc_error *err);
/// Frees what was copied, and wipes it.
void nc_state_deinit(nc_state *state);

#endif
