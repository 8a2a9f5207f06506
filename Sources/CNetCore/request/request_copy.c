#include "request/request_copy.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/fnv.h"
#include "body/coding.h"
#include "body/multipart.h"
#include "http/url_text.h"
#include <netcore/redirect.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/// CONNECT_TO_EXTRA_BYTES is the length of everything in an override except the two hosts: brackets, colons, ports and
/// a NUL. The other constants are the number of fixed fields, and positions among them.
enum {
    CONNECT_TO_EXTRA_BYTES = 24,
    FIXED_NODES = 8,
    BODY_NODES = 2,
    ACCEPT_ENCODING_NODE = 3,
    TE_NODE = 4,
    CONNECTION_NODE = 5,
    LENGTH_NODE = 6,
    TRAILER_NODE = 7,
};

static bool has_options(const nc_request *request) {
    return request->credentials.schemes != 0 || request->proxy != NULL || request->unix_socket.length > 0 ||
           request->body_file.length > 0 || request->save_path.length > 0 || request->keeps_dot_segments ||
           request->trailers.count > 0;
}

static bool has_header(const nc_request *request, const char *name) {
    for (size_t i = 0; i < request->header_count; i++) {
        if (nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of(name))) {
            return true;
        }
    }
    return false;
}

static bool add_text(size_t *total, nc_slice text) {
    return nc_size_add(total, *total, text.length) && nc_size_add(total, *total, 1);
}

static bool add_credentials(size_t *total, const nc_credentials *credentials) {
    return add_text(total, credentials->user) && add_text(total, credentials->password) &&
           add_text(total, credentials->token);
}

static bool add_headers(size_t *total, const nc_header *headers, size_t count, size_t node_bytes) {
    bool fits = nc_size_add(total, *total, count * node_bytes);
    for (size_t i = 0; i < count && fits; i++) {
        fits = nc_size_add(total, *total, headers[i].name.length + headers[i].value.length + 3);
    }
    return fits;
}

size_t nc_proxy_size(const nc_proxy *proxy) {
    size_t total = 0;
    bool fits = add_text(&total, proxy->url) && add_text(&total, proxy->except) &&
                add_credentials(&total, &proxy->credentials) &&
                add_headers(&total, proxy->headers, proxy->header_count, sizeof(struct curl_slist));
    return fits ? total : 0;
}

static bool add_options(size_t *total, const nc_request *request) {
    size_t proxy_bytes = request->proxy != NULL ? nc_proxy_size(request->proxy) : 1;
    return nc_size_add(total, *total, sizeof(nc_copied_options)) && add_credentials(total, &request->credentials) &&
           add_text(total, request->unix_socket) && add_text(total, request->body_file) &&
           add_text(total, request->save_path) && proxy_bytes > 0 && nc_size_add(total, *total, proxy_bytes) &&
           nc_size_add(total, *total, nc_trailers_size(&request->trailers));
}

size_t nc_request_copy_size(const nc_request *request) {
    size_t total = FIXED_NODES * sizeof(struct curl_slist);
    bool fits = add_text(&total, request->method) &&
                nc_size_add(&total, total, nc_url_escaped_length(request->url) + 1) &&
                nc_size_add(&total, total, request->body.length) &&
                add_headers(&total, request->headers, request->header_count, sizeof(nc_sent_header)) &&
                nc_size_add(&total, total, request->connect_to_count * sizeof(struct curl_slist));
    for (size_t i = 0; i < request->connect_to_count && fits; i++) {
        const nc_connect_to *one = &request->connect_to[i];
        size_t to_bytes = one->to_host.length > 0 ? one->to_host.length : one->host.length;
        fits = nc_size_add(&total, total, one->host.length + to_bytes + CONNECT_TO_EXTRA_BYTES);
    }
    fits = fits && (!has_options(request) || add_options(&total, request));
    return fits ? total : 0;
}

static char *put(char *at, nc_slice text) {
    if (text.length > 0) {
        memcpy(at, text.data, text.length);
    }
    return at + text.length;
}

static char *put_text(char **storage, nc_slice text) {
    char *begin = *storage;
    char *end = put(begin, text);
    *end = '\0';
    *storage = end + 1;
    return begin;
}

static char *put_field(const nc_header *header, char **storage) {
    char *begin = *storage;
    char *at = put(begin, header->name);
    // libcurl omits a field for "Name:", and sends an empty field for "Name;".
    at = header->value.length == 0 ? put(at, nc_slice_of(";")) : put(put(at, nc_slice_of(": ")), header->value);
    *at = '\0';
    *storage = at + 1;
    return begin;
}

static void fill_header(nc_sent_header *out, const nc_header *header, char **storage) {
    out->node.data = put_field(header, storage);
    out->is_safe_cross_origin = nc_redirect_keeps_field(header->name);
    out->describes_body = nc_redirect_describes_body(header->name);
    out->is_expectation = nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Expect"));
    out->is_type = nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Content-Type"));
    out->is_host = nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Host"));
    out->is_cookie = nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Cookie"));
}

static char *put_port(char *at, uint16_t port) {
    char digits[5];
    size_t count = 0;
    for (unsigned rest = port; rest != 0; rest /= 10) {
        digits[count++] = (char)('0' + rest % 10);
    }
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

/// Writes a host. libcurl splits at colons, so an IPv6 address gets brackets.
static char *put_host(char *at, nc_slice host) {
    bool is_bare_v6 = host.length > 0 && host.data[0] != '[' && memchr(host.data, ':', host.length) != NULL;
    at = is_bare_v6 ? put(at, nc_slice_of("[")) : at;
    at = put(at, host);
    return is_bare_v6 ? put(at, nc_slice_of("]")) : at;
}

static bool keeps_destination(const nc_connect_to *one) {
    return one->to_host.length == 0 && one->to_port == 0;
}

/// Counts the overrides up to the first one that matches every host and port and changes nothing. Later ones never
/// apply.
static size_t count_overrides(const nc_request *request) {
    size_t count = 0;
    while (count < request->connect_to_count) {
        const nc_connect_to *one = &request->connect_to[count];
        if (keeps_destination(one) && one->host.length == 0 && one->port == 0) {
            break;
        }
        count++;
    }
    return count;
}

/// Mixes an override into the key, if it leads to another host or port.
static uint64_t mix_endpoint(uint64_t key, const nc_connect_to *from, const char *text) {
    bool keeps_host = from->to_host.length == 0 || nc_slice_is_equal_ignoring_case(from->to_host, from->host);
    if (keeps_host && (from->to_port == 0 || from->to_port == from->port)) {
        return key;
    }
    uint64_t sum = nc_fnv_add(key != 0 ? key : NC_FNV_START, nc_slice_make(text, strlen(text) + 1));
    return sum != 0 ? sum : 1;
}

static void fill_connect_to(struct curl_slist *out, const nc_connect_to *from, char **storage) {
    char *at = *storage;
    // libcurl uses the next override if one has an empty destination, so an unchanged destination must be written out.
    nc_slice to_host = keeps_destination(from) ? from->host : from->to_host;
    uint16_t to_port = keeps_destination(from) ? from->port : from->to_port;
    out->data = at;
    at = put_host(at, from->host);
    at = put_port(put(at, nc_slice_of(":")), from->port);
    at = put_host(put(at, nc_slice_of(":")), to_host);
    at = put_port(put(at, nc_slice_of(":")), to_port);
    *at = '\0';
    *storage = at + 1;
}

static uint32_t or_default(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

static uint64_t body_limit(uint64_t value) {
    return value == 0 ? NC_DEFAULT_MAX_BODY_BYTES : value == NC_NO_BODY ? 0 : value;
}

static uint32_t coding_limit(uint32_t value) {
    return value == NC_NO_CODINGS ? 0 : or_default(value, NC_DEFAULT_MAX_CODINGS);
}

static nc_limits resolve_limits(const nc_limits *from) {
    return (nc_limits){
        .connect_ms = or_default(from->connect_ms, NC_DEFAULT_CONNECT_MS),
        .first_byte_ms = or_default(from->first_byte_ms, NC_DEFAULT_FIRST_BYTE_MS),
        .idle_ms = or_default(from->idle_ms, NC_DEFAULT_IDLE_MS),
        .slot_ms = or_default(from->slot_ms, NC_DEFAULT_SLOT_MS),
        .total_ms = or_default(from->total_ms, NC_DEFAULT_TOTAL_MS),
        .max_redirects = or_default(from->max_redirects, NC_DEFAULT_MAX_REDIRECTS),
        .max_body_bytes = body_limit(from->max_body_bytes),
        .max_head_bytes = or_default(from->max_head_bytes, NC_DEFAULT_MAX_HEAD_BYTES),
        .max_head_fields = or_default(from->max_head_fields, NC_DEFAULT_MAX_HEAD_FIELDS),
        .max_codings = coding_limit(from->max_codings),
        .max_send_bytes_per_s = from->max_send_bytes_per_s,
        .max_receive_bytes_per_s = from->max_receive_bytes_per_s,
    };
}

static char *put_optional(char **storage, nc_slice text) {
    return text.length > 0 ? put_text(storage, text) : NULL;
}

static nc_copied_credentials copy_credentials(const nc_credentials *from, char **storage) {
    return (nc_copied_credentials){
        .schemes = from->schemes,
        .user = from->schemes != 0 ? put_text(storage, from->user) : NULL,
        .password = from->schemes != 0 ? put_text(storage, from->password) : NULL,
        .token = put_optional(storage, from->token),
    };
}

void nc_copied_proxy_fill(nc_copied_proxy *out, const nc_proxy *from, struct curl_slist *nodes, char **storage) {
    *out = (nc_copied_proxy){.choice = from->choice, .uses_tunnel = from->uses_tunnel};
    out->url = put_optional(storage, from->url);
    out->except = put_optional(storage, from->except);
    out->credentials = copy_credentials(&from->credentials, storage);
    for (size_t i = 0; i < from->header_count; i++) {
        nodes[i].data = put_field(&from->headers[i], storage);
        nodes[i].next = i + 1 < from->header_count ? &nodes[i + 1] : NULL;
    }
    out->headers = from->header_count > 0 ? nodes : NULL;
}

static void fill_options(nc_copied_options *out, const nc_request *request, struct curl_slist *proxy_nodes,
                         char **storage) {
    *out = (nc_copied_options){
        .has_proxy = request->proxy != NULL,
        .keeps_dot_segments = request->keeps_dot_segments,
    };
    out->credentials = copy_credentials(&request->credentials, storage);
    out->unix_socket = put_optional(storage, request->unix_socket);
    out->body_file = put_optional(storage, request->body_file);
    out->save_path = put_optional(storage, request->save_path);
    if (request->trailers.count > 0) {
        nc_copied_trailers_fill(&out->trailers, &request->trailers, storage);
    }
    if (request->proxy != NULL) {
        nc_copied_proxy_fill(&out->proxy, request->proxy, proxy_nodes, storage);
    }
}

static char accept_encoding_text[64];

static void write_accept_encoding(void) {
    (void)snprintf(accept_encoding_text, sizeof accept_encoding_text, "Accept-Encoding: %s", nc_coding_accepted());
}

/// Returns the Accept-Encoding field, which is constant while the process runs.
static char *accept_encoding_field(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, write_accept_encoding);
    return accept_encoding_text;
}

static char no_expect[] = "Expect:";

/// Returns true if a request without a body must send Content-Length: 0. Methods that usually have a body do (RFC 9110,
/// 8.6), because some servers otherwise respond with 411.
static bool announces_no_body(const nc_request_copy *of, const nc_request *request) {
    bool takes_body = nc_slice_is_equal(request->method, nc_slice_of("POST")) ||
                      nc_slice_is_equal(request->method, nc_slice_of("PUT")) ||
                      nc_slice_is_equal(request->method, nc_slice_of("PATCH"));
    return takes_body && !of->has_body && !request->omits_zero_length && !has_header(request, "Content-Length");
}

/// RFC 9110, 10.1.4: TE needs a Connection field that names it. libcurl sends neither over HTTP/2 and HTTP/3.
/// CURLOPT_TRANSFER_ENCODING is not used, because libcurl would then also decode the body.
static void fill_transfer_codings(nc_request_copy *out, const nc_request *request) {
    static char accepted[] = "TE: gzip";
    static char hop_by_hop[] = "Connection: TE";
    bool is_sent = request->accepts_transfer_codings && request->limits.max_codings != NC_NO_CODINGS &&
                   request->http != NC_HTTP_1_0 && !has_header(request, "TE") && !has_header(request, "Upgrade");
    out->fixed[TE_NODE].data = is_sent ? accepted : NULL;
    out->fixed[CONNECTION_NODE].data = is_sent ? hop_by_hop : NULL;
}

static void fill_fixed(nc_request_copy *out, const nc_request *request) {
    static char no_type[] = "Content-Type:";
    static char no_accept[] = "Accept:";
    static char zero_length[] = "Content-Length: 0";
    // The first three suppress fields that libcurl adds by default: "Expect: 100-continue", which delays the body, a
    // guessed Content-Type, and "Accept: */*", which has no effect.
    out->fixed[0].data = out->expects_continue ? NULL : no_expect;
    out->fixed[1].data = has_header(request, "Content-Type") ? NULL : no_type;
    if (request->multipart != NULL) {
        out->fixed[1].data =
            (char *)(uintptr_t)nc_multipart_type_field(request->multipart); // libcurl does not change it
    }
    out->fixed[2].data = has_header(request, "Accept") ? NULL : no_accept;
    bool may_code = request->accepts_codings && request->limits.max_codings != NC_NO_CODINGS;
    bool adds_codings = may_code && !has_header(request, "Accept-Encoding");
    out->fixed[ACCEPT_ENCODING_NODE].data = adds_codings ? accept_encoding_field() : NULL;
    fill_transfer_codings(out, request);
    out->fixed[LENGTH_NODE].data = announces_no_body(out, request) ? zero_length : NULL;
    out->fixed[TRAILER_NODE].data = out->options != NULL ? out->options->trailers.announcement : NULL;
}

/// A head that is too large for HTTP/2 goes over HTTP/1.1, unless the request requires a version.
static nc_http_choice choose_version(const nc_request *request) {
    bool is_free = request->http == NC_HTTP_AUTO || request->http == NC_HTTP_3_IF_POSSIBLE;
    return is_free && !nc_request_fits_http_2(request) ? NC_HTTP_1_1 : request->http;
}

/// Copies the members that need no memory.
static nc_request_copy describe(const nc_request *request) {
    bool is_streamed = request->body_file.length > 0 || request->body_source.pull != NULL || request->multipart != NULL;
    return (nc_request_copy){
        .source = request->body_source,
        .multipart = request->multipart,
        .body_offset = request->body_offset,
        .body_length = nc_request_body_length(request),
        .has_body = request->has_body || request->body.length > 0 || is_streamed,
        .accepts_codings = request->accepts_codings,
        .accepts_transfer_codings = request->accepts_transfer_codings,
        .is_head = nc_slice_is_equal(request->method, nc_slice_of("HEAD")),
        .expects_continue = has_header(request, "Expect"),
        .expects_upgrade = has_header(request, "Upgrade"),
        .cookie_use = request->cookie_use,
        .may_pause = request->may_pause,
        .is_cross_origin = request->is_cross_origin,
        .ignores_netrc = request->ignores_netrc,
        .refuses_malformed_fields = request->refuses_malformed_fields,
        .dscp = request->dscp,
        .priority = request->priority,
        .http = choose_version(request),
        .redirects = request->redirects,
        .limits = resolve_limits(&request->limits),
        .header_count = request->header_count,
        .url_length = nc_url_escaped_length(request->url),
    };
}

void nc_request_copy_fill(nc_request_copy *out, const nc_request *request, void *storage) {
    *out = describe(request);
    if (request->save_path.length > 0 && request->limits.max_body_bytes == 0) {
        out->limits.max_body_bytes = NC_UNLIMITED_BYTES; // The body does not go to memory.
    }
    // Structs come first, so that they are aligned. The texts follow.
    size_t proxy_nodes = request->proxy != NULL ? request->proxy->header_count : 0;
    out->headers = storage;
    out->fixed = (struct curl_slist *)(void *)(out->headers + request->header_count);
    struct curl_slist *overrides = out->fixed + FIXED_NODES;
    struct curl_slist *proxy_headers = overrides + request->connect_to_count;
    nc_copied_options *options = (nc_copied_options *)(void *)(proxy_headers + proxy_nodes);
    char *text = has_options(request) ? (char *)(options + 1) : (char *)options;
    for (size_t i = 0; i < request->header_count; i++) {
        fill_header(&out->headers[i], &request->headers[i], &text);
    }
    size_t override_count = count_overrides(request);
    for (size_t i = 0; i < override_count; i++) {
        fill_connect_to(&overrides[i], &request->connect_to[i], &text);
        out->endpoints_key = mix_endpoint(out->endpoints_key, &request->connect_to[i], overrides[i].data);
        overrides[i].next = i + 1 < override_count ? &overrides[i + 1] : NULL;
    }
    out->connect_to = override_count > 0 ? overrides : NULL;
    out->url = text;
    text = nc_url_escape(text, request->url);
    *text++ = '\0';
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    char *method = put_text(&text, request->method);
    out->method = is_get ? NULL : method;
    if (has_options(request)) {
        fill_options(options, request, proxy_headers, &text);
        out->options = options;
    }
    out->body = nc_slice_make(text, request->body.length);
    (void)put(text, request->body);
    fill_fixed(out, request);
}

struct curl_slist *nc_request_copy_link_headers(nc_request_copy *copy, bool is_cross_origin, bool drops_body,
                                                bool drops_cookie) {
    struct curl_slist *first = NULL;
    struct curl_slist **last = &first;
    for (size_t i = 0; i < copy->header_count; i++) {
        nc_sent_header *header = &copy->headers[i];
        if ((is_cross_origin && !header->is_safe_cross_origin) || (drops_body && header->describes_body) ||
            (drops_cookie && header->is_cookie) || (header->is_type && copy->multipart != NULL) ||
            (header->is_expectation && !copy->expects_continue)) {
            continue;
        }
        *last = &header->node;
        last = &header->node.next;
    }
    bool sends_body = copy->has_body && !drops_body;
    for (size_t i = 0; i < FIXED_NODES; i++) {
        bool is_left_out = (i < BODY_NODES && !sends_body) || (i == LENGTH_NODE && drops_body) ||
                           (i == TRAILER_NODE && (drops_body || is_cross_origin));
        if (copy->fixed[i].data != NULL && !is_left_out) {
            *last = &copy->fixed[i];
            last = &copy->fixed[i].next;
        }
    }
    *last = NULL;
    return first;
}

static bool is_of_handshake(const char *line) {
    static const char *const names[] = {"Connection:", "Upgrade:", "Sec-WebSocket-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strlen(line) > length &&
            nc_slice_is_equal_ignoring_case(nc_slice_make(line, length), nc_slice_of(names[i]))) {
            return true;
        }
    }
    return false;
}

void nc_request_copy_make_socket(nc_request_copy *copy) {
    static char no_length[] = "Content-Length:";
    copy->is_socket = true;
    copy->http = NC_HTTP_1_1;
    copy->fixed[LENGTH_NODE].data = no_length;
    for (size_t i = 0; i < copy->header_count; i++) {
        nc_sent_header *header = &copy->headers[i];
        header->is_safe_cross_origin = header->is_safe_cross_origin || is_of_handshake(header->node.data);
    }
}

void nc_request_copy_stop_expecting(nc_request_copy *copy) {
    copy->expects_continue = false;
    copy->fixed[0].data = no_expect;
}

nc_slice nc_request_copy_host(const nc_request_copy *copy) {
    for (size_t i = 0; i < copy->header_count; i++) {
        const nc_sent_header *header = &copy->headers[i];
        const char *colon = header->is_host ? strchr(header->node.data, ':') : NULL;
        if (colon != NULL) {
            return nc_slice_of(colon + 2);
        }
    }
    return nc_slice_of("");
}

bool nc_request_copy_has_range(const nc_request_copy *copy) {
    static const char name[] = "Range:";
    enum { NAME_BYTES = sizeof name - 1 };
    for (size_t i = 0; i < copy->header_count; i++) {
        const char *line = copy->headers[i].node.data;
        if (strlen(line) > NAME_BYTES &&
            nc_slice_is_equal_ignoring_case(nc_slice_make(line, NAME_BYTES), nc_slice_of(name))) {
            return true;
        }
    }
    return false;
}

void nc_request_copy_join_cookies(const nc_request_copy *copy, nc_buf *out) {
    for (size_t i = 0; i < copy->header_count; i++) {
        const nc_sent_header *header = &copy->headers[i];
        const char *colon = header->is_cookie ? strchr(header->node.data, ':') : NULL;
        if (colon != NULL) { // "Cookie;" is an empty field
            nc_buf_append(out, nc_slice_of(out->length > 0 ? "; " : ""));
            nc_buf_append(out, nc_slice_of(colon + 2));
        }
    }
}
