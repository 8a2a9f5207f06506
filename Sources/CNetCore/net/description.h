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
    bool is_cookie;         // joined with those of a jar
    bool is_expectation;
    bool is_host;
    bool is_type; // of the body: a form brings its own
} nc_sent_header;

/// Credentials as libcurl takes them; NULL texts are not set.
typedef struct nc_kept_credentials {
    uint32_t schemes;
    char *user;
    char *password;
    char *token;
} nc_kept_credentials;

/// A proxy, copied.
typedef struct nc_kept_proxy {
    nc_proxy_choice choice;
    char *url;
    char *except;
    nc_kept_credentials credentials;
    struct curl_slist *headers;
    bool uses_tunnel;
} nc_kept_proxy;

/// What most requests do without.
typedef struct nc_extras {
    nc_kept_credentials credentials;
    nc_kept_proxy proxy;
    bool has_proxy; // of its own
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
    nc_body_source source;   // of a form too
    nc_multipart *multipart; // kept by the transfer's reader; NULL without a form
    uint64_t body_length;    // NC_LENGTH_UNKNOWN; of a file not before it is open
    bool has_body;
    bool accepts_codings;
    bool is_head;
    bool expects_continue;
    bool expects_upgrade;
    uint8_t cookie_use; // nc_cookie_use
    bool may_pause;
    bool refuses_malformed_fields;
    bool is_elsewhere; // from the first hop on
    uint8_t dscp;      // 0 is none
    nc_priority priority;
    nc_extras *extras; // NULL when there are none
    nc_http_choice http;
    nc_redirect_choice redirects;
    nc_limits limits; // resolved: no field is 0
    nc_sent_header *headers;
    size_t header_count;
    struct curl_slist *connect_to;
    uint64_t places_key;      // of those that lead elsewhere, which libcurl takes for one; 0 without any
    struct curl_slist *fixed; // the nodes that the library adds of its own
} nc_description;

/// Whether HTTP/2 takes the head, whatever is added to it: nghttp2 sends none of more than 64 KiB, which libcurl calls
/// the server's refusal, or does not notice.
bool nc_request_fits_http_2(const nc_request *request);

/// How many bytes nc_description_fill() needs behind `out`; 0 when that overflows.
size_t nc_description_size(const nc_request *request);
/// Copies a checked request into `out` and the memory at `storage`. Pure.
void nc_description_fill(nc_description *out, const nc_request *request, void *storage);

/// How many bytes a proxy's texts and nodes take; 0 when that overflows.
size_t nc_proxy_size(const nc_proxy *proxy);
/// Copies a checked proxy: its nodes to `nodes`, its texts to `*storage`, which moves on. Pure.
void nc_proxy_keep(nc_kept_proxy *out, const nc_proxy *from, struct curl_slist *nodes, char **storage);

/// Links the fields that a hop sends. `is_elsewhere`: a redirect has left the origin; `drops_body`: or the body;
/// `drops_cookie`: the caller's own Cookie field goes another way.
struct curl_slist *nc_description_link_headers(nc_description *description, bool is_elsewhere, bool drops_body,
                                               bool drops_cookie);
/// Leaves the caller's Expect field out from now on: a server has refused it.
void nc_description_stop_expecting(nc_description *description);
/// The value of the caller's own Host field; empty without one.
nc_slice nc_description_host(const nc_description *description);
/// Whether the caller's fields ask for a part (Range).
bool nc_description_asks_range(const nc_description *description);
/// Appends the values of the caller's own Cookie fields to those of a jar.
void nc_description_join_cookies(const nc_description *description, nc_buf *out);

#endif
