/// A request, checked and copied: what a transfer keeps after submit has returned.
#ifndef NETCORE_PRIVATE_DESCRIPTION_H
#define NETCORE_PRIVATE_DESCRIPTION_H

#include <curl/curl.h>
#include <netcore/request.h>

/// A field as libcurl sends it. The list node is ours, so that a hop's list is made by linking, never by allocating.
typedef struct nc_sent_header {
    struct curl_slist node; // data is "Name: value"
    bool is_safe_elsewhere; // may follow a redirect to another origin
    bool describes_body;    // goes when a redirect drops the body
} nc_sent_header;

typedef struct nc_description {
    char *method; // NULL means GET
    char *url;
    size_t url_length;
    nc_slice body;
    bool has_body;
    bool accepts_codings;
    bool is_head;
    nc_http_choice http;
    nc_redirect_choice redirects;
    nc_limits limits; // resolved: no field is 0
    nc_sent_header *headers;
    size_t header_count;
    struct curl_slist *connect_to;
    struct curl_slist *fixed; // the nodes that the library adds of its own
} nc_description;

/// Refuses what must not reach the wire: NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_BAD_METHOD, NC_ERR_BAD_HEADER,
/// NC_ERR_UNSUPPORTED, NC_ERR_USAGE, NC_ERR_TOO_LARGE; err->offset is the byte at fault. Pure.
NC_NODISCARD nc_status nc_request_check(const nc_request *request, nc_error *err);

/// How many bytes nc_description_fill() needs behind `out`; 0 when that overflows.
size_t nc_description_size(const nc_request *request);
/// Copies a checked request into `out` and the memory at `storage`. Pure.
void nc_description_fill(nc_description *out, const nc_request *request, void *storage);

/// Links the fields that a hop sends. `is_elsewhere`: a redirect has left the origin; `drops_body`: or the body.
struct curl_slist *nc_description_link_headers(nc_description *description, bool is_elsewhere, bool drops_body);

#endif
