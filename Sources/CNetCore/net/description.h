/// The engine's copy of a checked request, which a transfer keeps after submit returns.
#ifndef NETCORE_PRIVATE_DESCRIPTION_H
#define NETCORE_PRIVATE_DESCRIPTION_H

#include <curl/curl.h>
#include <netcore/request.h>

/// A field as libcurl sends it. The list node is part of it, so a hop's list is linked without allocation.
typedef struct nc_sent_header {
    struct curl_slist node; // data is "Name: value"
    bool is_safe_elsewhere; // may follow a cross-origin redirect
    bool describes_body;    // dropped when a redirect drops the body
    bool is_cookie;         // joined with the jar's cookies
    bool is_expectation;
    bool is_host;
    bool is_type; // Content-Type: a form has its own
} nc_sent_header;

/// Credentials in libcurl's form; NULL texts are not set.
typedef struct nc_kept_credentials {
    uint32_t schemes;
    char *user;
    char *password;
    char *token;
} nc_kept_credentials;

/// A copied proxy.
typedef struct nc_kept_proxy {
    nc_proxy_choice choice;
    char *url;
    char *except;
    nc_kept_credentials credentials;
    struct curl_slist *headers;
    bool uses_tunnel;
} nc_kept_proxy;

/// Optional settings, absent in most requests.
typedef struct nc_extras {
    nc_kept_credentials credentials;
    nc_kept_proxy proxy;
    bool has_proxy; // a proxy of this request
    char *unix_socket;
    char *body_file;
    char *save_path;
    bool keeps_dot_segments;
} nc_extras;

typedef struct nc_description {
    char *method; // NULL means GET
    char *url;
    size_t url_length;
    nc_slice body;
    nc_body_source source;   // also for a form
    nc_multipart *multipart; // kept alive by the transfer's reader; NULL without a form
    uint64_t body_length;    // may be NC_LENGTH_UNKNOWN; for a file, until it is open
    bool has_body;
    bool accepts_codings;
    bool is_head;
    bool expects_continue;
    bool expects_upgrade;
    uint8_t cookie_use; // nc_cookie_use
    bool may_pause;
    bool refuses_malformed_fields;
    bool is_elsewhere; // cross-origin from the first hop on
    uint8_t dscp;      // 0 is none
    nc_priority priority;
    nc_extras *extras; // NULL without optional settings
    nc_http_choice http;
    nc_redirect_choice redirects;
    nc_limits limits; // resolved: no field is 0
    nc_sent_header *headers;
    size_t header_count;
    struct curl_slist *connect_to;
    uint64_t places_key;      // of the overrides to other hosts, which libcurl does not distinguish; 0 without any
    struct curl_slist *fixed; // nodes that the library adds
} nc_description;

/// Returns true if the head fits HTTP/2, with all fields that are added later. nghttp2 sends no head above 64 KiB;
/// libcurl reports that as a refusal by the server, or not at all.
bool nc_request_fits_http_2(const nc_request *request);

/// Returns the bytes that nc_description_fill() needs after `out`; 0 on overflow.
size_t nc_description_size(const nc_request *request);
/// Copies a checked request into `out` and the memory at `storage`. Pure.
void nc_description_fill(nc_description *out, const nc_request *request, void *storage);

/// Returns the bytes of a proxy's texts and nodes; 0 on overflow.
size_t nc_proxy_size(const nc_proxy *proxy);
/// Copies a checked proxy: its nodes to `nodes`, its texts to `*storage`, which is advanced. Pure.
void nc_proxy_keep(nc_kept_proxy *out, const nc_proxy *from, struct curl_slist *nodes, char **storage);

/// Links the fields that a hop sends. `is_elsewhere`: a redirect has changed the origin. `drops_body`: a redirect has
/// dropped the body. `drops_cookie`: the caller's Cookie field is sent by other means.
struct curl_slist *nc_description_link_headers(nc_description *description, bool is_elsewhere, bool drops_body,
                                               bool drops_cookie);
/// Omits the caller's Expect field from now on, because a server has refused it.
void nc_description_stop_expecting(nc_description *description);
/// Returns the value of the caller's Host field; empty without one.
nc_slice nc_description_host(const nc_description *description);
/// Returns true if the caller's fields request a range (Range).
bool nc_description_asks_range(const nc_description *description);
/// Appends the values of the caller's Cookie fields to the jar's.
void nc_description_join_cookies(const nc_description *description, nc_buf *out);

#endif
