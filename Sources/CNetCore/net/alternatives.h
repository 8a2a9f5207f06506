/// The engine's list of where else origins may be had: what adds to it, what takes a hop there, and its file.
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

/// A hop's way to another place than its URL names. libcurl keeps pointers into it for as long as the hop lasts.
typedef struct nc_detour nc_detour;

/// Reads the list's file, if there is to be one; before the loop begins. A file that is missing is empty; otherwise
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_alternatives_read(nc_engine *engine, nc_error *err);
void nc_alternatives_deinit(nc_alternatives *alternatives);

/// A final head has come: takes in what it says of other places.
void nc_alternatives_learn(nc_transfer *transfer);
/// A hop begins, and has none: finds its detour, if there is to be one. NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_alternatives_choose(nc_transfer *transfer);
/// A hop whose detour led nowhere begins anew without; false where it took none, or was connected. The place is not
/// tried for a while.
bool nc_alternatives_leave(nc_transfer *transfer);

/// What the hop is to be told of its detour, as libcurl's options want it: CURLOPT_CONNECT_TO.
struct curl_slist *nc_detour_connect_to(nc_detour *detour);
/// The same for CURLOPT_HTTPHEADER: the fields, and one that says where they go (RFC 7838, 5).
struct curl_slist *nc_detour_link_headers(nc_detour *detour, struct curl_slist *headers);
/// Tells the places apart that detours lead to; never 0.
uint64_t nc_detour_key(const nc_detour *detour);
/// Whether it leads to HTTP/3.
bool nc_detour_is_http3(const nc_detour *detour);
/// Frees it, if it is not NULL.
void nc_detour_free(nc_detour *detour);

#endif
