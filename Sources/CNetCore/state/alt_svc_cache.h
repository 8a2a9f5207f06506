/// The engine's use of the Alt-Svc cache: learning from responses, routing hops to alternatives, and the cache's file.
#ifndef NETCORE_PRIVATE_ALT_SVC_CACHE_H
#define NETCORE_PRIVATE_ALT_SVC_CACHE_H

#include "http/alt_svc.h"
#include "state/state_file_writer.h"

#include <curl/curl.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_alt_svc_cache {
    nc_alt_svc list;
    nc_alt_svc races; // origins whose QUIC has raced with TCP (quic_race.h); in memory only
    nc_state_file_writer file;
} nc_alt_svc_cache;

/// A hop's route to an alternative service. libcurl keeps pointers into it until the hop ends.
typedef struct nc_alt_svc_route nc_alt_svc_route;

/// Reads the cache's file, if one is configured, before the event loop begins. A missing file is empty. Returns NC_OK,
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_alt_svc_cache_read(nc_engine *engine, nc_error *err);
void nc_alt_svc_cache_deinit(nc_alt_svc_cache *alternatives);

/// Finds the origin of the hop's URL. Returns false for http, and for an invalid host.
bool nc_alt_svc_cache_find_origin(nc_alt_svc_endpoint *out, const nc_transfer *transfer);
/// The maximum length of a head's joined Alt-Svc fields.
enum { NC_ALT_SVC_MAX_FIELD_BYTES = 64 * 1024 };
/// Joins the head's Alt-Svc fields. Returns true if there are any.
bool nc_alt_svc_cache_join_fields(nc_buf *out, const nc_response *response);
/// Stores the Alt-Svc fields of a final response head.
void nc_alt_svc_cache_learn(nc_transfer *transfer);
/// Chooses an alternative for a hop that begins, if there is one. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_alt_svc_cache_choose(nc_transfer *transfer);
/// Makes a hop whose alternative failed begin again without one, and excludes the alternative for a while. Returns
/// false if the hop had none, or was connected.
bool nc_alt_svc_cache_abandon(nc_transfer *transfer);

/// Returns the value of CURLOPT_CONNECT_TO for the alternative.
struct curl_slist *nc_alt_svc_route_connect_to(nc_alt_svc_route *alt_route);
/// Returns the value of CURLOPT_HTTPHEADER: the fields and Alt-Used (RFC 7838, 5).
struct curl_slist *nc_alt_svc_route_link_headers(nc_alt_svc_route *alt_route, struct curl_slist *headers);
/// Returns a key of the alternative's host and port; never 0.
uint64_t nc_alt_svc_route_key(const nc_alt_svc_route *alt_route);
/// Returns true if the route uses HTTP/3.
bool nc_alt_svc_route_is_http3(const nc_alt_svc_route *alt_route);
/// Frees it. NULL is allowed.
void nc_alt_svc_route_free(nc_alt_svc_route *alt_route);

#endif
