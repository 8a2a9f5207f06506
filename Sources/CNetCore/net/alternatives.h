/// The engine's use of the Alt-Svc cache: what adds to it, how a hop is routed to an alternative, and its file.
#ifndef NETCORE_PRIVATE_ALTERNATIVES_H
#define NETCORE_PRIVATE_ALTERNATIVES_H

#include "net/alt_svc.h"
#include "net/saved_file.h"

#include <curl/curl.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_alternatives {
    nc_alt_svc list;
    nc_saved_file file;
} nc_alternatives;

/// A hop's route to an alternative service. libcurl keeps pointers into it until the hop ends.
typedef struct nc_detour nc_detour;

/// Reads the cache's file, if one is configured, before the event loop begins. A missing file is empty. Returns NC_OK,
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_alternatives_read(nc_engine *engine, nc_error *err);
void nc_alternatives_deinit(nc_alternatives *alternatives);

/// Stores the Alt-Svc fields of a final response head.
void nc_alternatives_learn(nc_transfer *transfer);
/// Chooses an alternative for a hop that begins, if there is one. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_alternatives_choose(nc_transfer *transfer);
/// Makes a hop whose alternative failed begin again without one. The alternative is not tried for a while. Returns
/// false if the hop had none, or was connected.
bool nc_alternatives_leave(nc_transfer *transfer);

/// Returns the value of CURLOPT_CONNECT_TO for the alternative.
struct curl_slist *nc_detour_connect_to(nc_detour *detour);
/// Returns the value of CURLOPT_HTTPHEADER: the fields and Alt-Used (RFC 7838, 5).
struct curl_slist *nc_detour_link_headers(nc_detour *detour, struct curl_slist *headers);
/// Returns a key of the alternative's host and port; never 0.
uint64_t nc_detour_key(const nc_detour *detour);
/// Returns true if it uses HTTP/3.
bool nc_detour_is_http3(const nc_detour *detour);
/// Frees it. NULL is allowed.
void nc_detour_free(nc_detour *detour);

#endif
