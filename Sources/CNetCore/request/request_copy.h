/// The engine's copy of a checked request, which a transfer uses after submit has returned.
#ifndef NETCORE_PRIVATE_REQUEST_COPY_H
#define NETCORE_PRIVATE_REQUEST_COPY_H

#include <curl/curl.h>
#include <netcore/credentials.h>
#include <netcore/proxy.h>
#include <netcore/request.h>

/// A header field as libcurl sends it. It contains its list node, so a hop's list is linked without allocating memory.
typedef struct nc_sent_header {
    struct curl_slist node;    // data is "Name: value"
    bool is_safe_cross_origin; // is also sent after a cross-origin redirect
    bool describes_body;       // dropped when a redirect drops the body
    bool is_cookie;            // Cookie: joined with the jar's cookies
    bool is_expectation;
    bool is_host;
    bool is_type; // Content-Type: not sent with a form, which has its own
} nc_sent_header;

/// Credentials as C strings for libcurl; NULL for a text that is not set.
typedef struct nc_copied_credentials {
    uint32_t schemes;
    char *user;
    char *password;
    char *token;
} nc_copied_credentials;

/// The copy of a proxy's settings.
typedef struct nc_copied_proxy {
    nc_proxy_choice choice;
    char *url;
    char *except;
    nc_copied_credentials credentials;
    struct curl_slist *headers;
    bool uses_tunnel;
} nc_copied_proxy;

/// The copy of a request's trailers.
typedef struct nc_copied_trailers {
    size_t count;
    const char *texts;  // for each field: name, NUL, value, NUL
    char *announcement; // "Trailer: …"
    nc_trailer_fn compute;
    void *ctx;
} nc_copied_trailers;

/// Settings that most requests do not have.
typedef struct nc_copied_options {
    nc_copied_credentials credentials;
    nc_copied_proxy proxy;
    bool has_proxy; // the request has its own proxy
    char *unix_socket;
    char *body_file;
    char *save_path;
    nc_copied_trailers trailers;
    bool keeps_dot_segments;
} nc_copied_options;

typedef struct nc_request_copy {
    char *method; // NULL means GET
    char *url;
    size_t url_length;
    nc_slice body;
    nc_body_source source;   // also for a form
    nc_multipart *multipart; // retained by the transfer's reader; NULL without a form
    uint64_t body_offset;    // first byte to send
    uint64_t body_length;    // bytes to send, or NC_LENGTH_UNKNOWN, as for a file that is not open yet
    bool has_body;
    bool accepts_codings;
    bool accepts_transfer_codings;
    bool is_head;
    bool expects_continue;
    bool expects_upgrade;
    bool is_socket;     // the request opens a WebSocket; see nc_request_copy_make_socket()
    uint8_t cookie_use; // nc_cookie_use
    bool may_pause;
    bool refuses_malformed_fields;
    bool is_cross_origin; // the first hop already counts as cross-origin
    bool ignores_netrc;
    uint8_t dscp; // 0 is none
    nc_priority priority;
    nc_copied_options *options; // NULL without optional settings
    nc_http_choice http;
    nc_redirect_choice redirects;
    nc_limits limits; // with the defaults filled in: no member is 0
    nc_sent_header *headers;
    size_t header_count;
    struct curl_slist *connect_to;
    uint64_t endpoints_key;   // key of the overrides to other hosts, which libcurl does not compare; 0 without any
    struct curl_slist *fixed; // fields that the library adds
} nc_request_copy;

/// Returns true if the head, with all fields that are added later, is short enough for HTTP/2. nghttp2 sends no head
/// above 64 KiB. libcurl reports that as a refusal by the server, or not at all.
bool nc_request_fits_http_2(const nc_request *request);

/// Returns the length of the body in memory or of the source, without the bytes before `body_offset`.
uint64_t nc_request_body_length(const nc_request *request);
/// Returns the bytes that nc_request_copy_fill() needs after `out`; 0 on overflow.
size_t nc_request_copy_size(const nc_request *request);
/// Copies a checked request into `out` and the memory at `storage`. Pure.
void nc_request_copy_fill(nc_request_copy *out, const nc_request *request, void *storage);

/// Returns the bytes of a proxy's texts and nodes; 0 on overflow.
size_t nc_proxy_size(const nc_proxy *proxy);
/// Copies a checked proxy. Its list nodes are in `nodes`, its texts at `*storage`, which is advanced. Pure.
void nc_copied_proxy_fill(nc_copied_proxy *out, const nc_proxy *from, struct curl_slist *nodes, char **storage);

/// Returns the bytes of the texts of trailers.
size_t nc_trailers_size(const nc_trailers *trailers);
/// Copies checked trailers. Their texts are at `*storage`, which is advanced. Pure.
void nc_copied_trailers_fill(nc_copied_trailers *out, const nc_trailers *from, char **storage);

/// Links the fields that a hop sends. `is_cross_origin`: a redirect has changed the origin. `drops_body`: a redirect
/// has dropped the body. `drops_cookie`: the caller's Cookie field is sent by other means.
struct curl_slist *nc_request_copy_link_headers(nc_request_copy *copy, bool is_cross_origin, bool drops_body,
                                                bool drops_cookie);
/// Makes the request one that opens a WebSocket: over HTTP/1.1, without a length of its endless body, which begins
/// after a 101. The fields of the handshake are also sent after a cross-origin redirect.
void nc_request_copy_make_socket(nc_request_copy *description);
/// Omits the caller's Expect field from now on. Called after a server has refused it.
void nc_request_copy_stop_expecting(nc_request_copy *copy);
/// Returns the value of the caller's Host field; empty without one.
nc_slice nc_request_copy_host(const nc_request_copy *copy);
/// Returns true if the caller's fields request a range (Range).
bool nc_request_copy_has_range(const nc_request_copy *copy);
/// Appends the values of the caller's Cookie fields to the jar's cookies in `out`.
void nc_request_copy_join_cookies(const nc_request_copy *copy, nc_buf *out);

/* --- checks --- */

/// The maximum number of header fields of one request or one proxy.
enum { NC_MAX_SENT_HEADERS = 1000 };

/// Returns true if a text contains no NUL and has at most `max_bytes` bytes.
bool nc_check_is_text(nc_slice text, size_t max_bytes);
/// Checks that a name is a token (RFC 9110, 5.6.2), and that a value has no CR, LF or NUL.
NC_NODISCARD nc_status nc_check_header(const nc_header *header, nc_error *err);
/// Checks a field as nc_check_header() does, and that no blanks surround its value.
NC_NODISCARD nc_status nc_check_field(const nc_header *header, nc_error *err);
/// Checks the request's trailers, and the request's body and other fields with regard to them.
NC_NODISCARD nc_status nc_check_trailers(const nc_request *request, nc_error *err);
/// Checks that the schemes are known and supported, and that user, password and token are valid for them.
NC_NODISCARD nc_status nc_check_credentials(const nc_credentials *credentials, nc_error *err);
/// Checks the user name in a URL for Digest. libcurl prefers this name to the credentials, and decodes its escapes.
NC_NODISCARD nc_status nc_check_digest_url(nc_slice url, nc_error *err);
/// Checks a proxy with its URL, fields and credentials.
NC_NODISCARD nc_status nc_check_proxy(const nc_proxy *proxy, nc_error *err);

#endif
