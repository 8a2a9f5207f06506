/// The engine's configuration: cookies, proxy, netrc, HSTS, Alt-Svc, DNS server and HTTP version. It is copied when the
/// engine is created, and then constant.
#ifndef NETCORE_PRIVATE_ENGINE_CONFIG_H
#define NETCORE_PRIVATE_ENGINE_CONFIG_H

#include "request/request_copy.h"

#include <netcore/engine_options.h>

typedef struct nc_engine_config {
    nc_cookie_choice cookies;
    nc_address_family family;
    nc_http_choice http;
    bool uses_netrc;
    bool uses_hsts;
    bool uses_alt_svc;
    char *cookie_file; // NULL for an empty text
    char *netrc_file;
    char *hsts_file;
    char *alt_svc_file;
    char *doh_url;
    bool has_proxy;
    nc_copied_proxy proxy;
    void *storage;
} nc_engine_config;

/// Checks and copies the options. Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_engine_config_init(nc_engine_config *state, const nc_engine_options *options, nc_error *err);
/// Checks that libcurl can read the netrc file. libcurl would ignore a missing file, and would block on a named pipe. A
/// line longer than `max_line_bytes` is an error. Returns NC_OK, NC_ERR_FILE.
NC_NODISCARD nc_status nc_engine_config_check_files(const nc_engine_config *state, const nc_file_ops *files,
                                                    size_t max_line_bytes, nc_error *err);
/// Wipes and frees the copies.
void nc_engine_config_deinit(nc_engine_config *state);

#endif
