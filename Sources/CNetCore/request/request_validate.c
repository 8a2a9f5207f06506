#include "request/request_copy.h"

#include "base/ascii.h"
#include "base/error.h"
#include "body/multipart.h"
#include "http/url_text.h"
#include "text/host.h"

#include <netcore/engine_options.h>
#include <netcore/url.h>
#include <string.h>

enum {
    MAX_METHOD_BYTES = 64,
    MAX_HEAD_BYTES = 1024 * 1024, // libcurl's limit: above it, libcurl reports that memory is exhausted
    ADDED_BYTES = 16 * 1024,      // a reserve for Host, cookies, credentials and other added fields
    FRAME_BYTES = 4,              // ": " and CR LF
    MAX_HEAD_2_BYTES = 64 * 1024, // NGHTTP2_MAX_HEADERSLEN
    FRAME_2_BYTES = 12,           // the overhead of a field in nghttp2's count
    MAX_CONNECT_TO = 100,
    MAX_PATH_BYTES = 4095,
    MAX_SOCKET_PATH_BYTES = 107,
};

/// Checks host and port of a URL. libcurl would reject them only after the request has begun.
static nc_status check_authority(const nc_url_parts *parts, nc_error *err) {
    if (nc_url_host_and_port(parts).length == 0) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the URL has no host");
    }
    bool is_literal = parts->host.length > 0 && parts->host.data[0] == '[';
    if (!is_literal && nc_host_has_forbidden_byte(parts->host)) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the host of the URL contains a forbidden character");
    }
    return NC_OK;
}

static nc_status check_url(nc_slice url, nc_error *err) {
    if (url.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the URL is empty");
    }
    if (url.length > NC_URL_MAX_BYTES || nc_url_escaped_length(url) > NC_URL_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, NC_URL_MAX_BYTES, "the URL is longer than %u bytes",
                            NC_URL_MAX_BYTES);
    }
    for (size_t i = 0; i < url.length; i++) {
        if (url.data[i] <= ' ' || url.data[i] == 0x7f) {
            return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)i, "forbidden byte 0x%02x in the URL at byte %zu",
                                url.data[i], i);
        }
    }
    nc_url_parts parts = nc_url_split(url);
    if (!nc_url_is_web(&parts)) {
        size_t end = 0;
        while (end < url.length && end < 32 && (nc_ascii_is_alpha(url.data[end]) || nc_ascii_is_digit(url.data[end]))) {
            end++;
        }
        nc_slice scheme = nc_slice_make(url.data, end);
        if (end > 0 && !nc_url_is_web_scheme(scheme) && end + 2 < url.length && url.data[end] == ':' &&
            url.data[end + 1] == '/') {
            bool is_websocket = nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("ws")) ||
                                nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("wss"));
            if (is_websocket) {
                return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, 0,
                                    "a request cannot have a WebSocket URL: open it with nc_socket_open()");
            }
            return nc_error_set(err, NC_ERR_BAD_SCHEME, 0, 0, "the scheme '%.*s' is not http or https", (int)end,
                                (const char *)url.data);
        }
        return nc_error_set(err, NC_ERR_BAD_URL, 0, 0,
                            "the URL does not begin with http:// or https:// (a relative URL requires a base URL)");
    }
    return check_authority(&parts, err);
}

static nc_status check_method(nc_slice method, nc_error *err) {
    if (method.length > MAX_METHOD_BYTES) {
        return nc_error_set(err, NC_ERR_BAD_METHOD, 0, MAX_METHOD_BYTES, "the method is longer than %d bytes",
                            MAX_METHOD_BYTES);
    }
    for (size_t i = 0; i < method.length; i++) {
        if (!nc_ascii_is_token(method.data[i])) {
            return nc_error_set(err, NC_ERR_BAD_METHOD, 0, (int64_t)i,
                                "forbidden byte 0x%02x in the method at byte %zu", method.data[i], i);
        }
    }
    if (nc_slice_is_equal(method, nc_slice_of("CONNECT"))) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "CONNECT cannot be sent as a request");
    }
    return NC_OK;
}

/// Checks fields about the framing, which the library determines. A caller's Content-Length must be correct, and a
/// caller's Transfer-Encoding is rejected.
static nc_status check_framing(const nc_header *header, const nc_request *request, nc_error *err) {
    if (nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Transfer-Encoding"))) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1,
                            "Transfer-Encoding is set by the library: remove the header");
    }
    if (!nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Content-Length"))) {
        return NC_OK;
    }
    uint64_t length = 0;
    bool is_number = header->value.length > 0 && header->value.length < 20;
    for (size_t i = 0; i < header->value.length && is_number; i++) {
        is_number = nc_ascii_is_digit(header->value.data[i]);
        length = length * 10 + (uint64_t)(header->value.data[i] - '0');
    }
    bool is_source = request->body_source.pull != NULL;
    uint64_t expected = nc_request_body_length(request);
    if (request->body_file.length > 0 || request->multipart != NULL || (is_source && expected == NC_LENGTH_UNKNOWN)) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1,
                            "Content-Length of such a body is set by the library: remove the header");
    }
    if (!is_number || length != expected) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1,
                            "Content-Length differs from the body's length of %llu bytes",
                            (unsigned long long)expected);
    }
    return NC_OK;
}

/// Checks that a field occurs at most once: Host (RFC 9112, 3.2) and Content-Length (RFC 9110, 8.6). libcurl would only
/// send the first of two Host fields.
static nc_status check_uniqueness(const nc_request *request, const char *name, nc_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        count += nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of(name)) ? 1 : 0;
    }
    return count <= 1 ? NC_OK : nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1, "more than one %s field", name);
}

static nc_status check_headers(const nc_request *request, nc_error *err) {
    size_t total = nc_url_escaped_length(request->url) + ADDED_BYTES + nc_trailers_size(&request->trailers);
    if (request->header_count > NC_MAX_SENT_HEADERS) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "more than %d headers", NC_MAX_SENT_HEADERS);
    }
    for (size_t i = 0; i < request->header_count; i++) {
        const nc_header *header = &request->headers[i];
        total += FRAME_BYTES + (header->name.length < MAX_HEAD_BYTES ? header->name.length : MAX_HEAD_BYTES);
        total += header->value.length < MAX_HEAD_BYTES ? header->value.length : MAX_HEAD_BYTES;
        nc_status status = nc_check_field(header, err);
        if (status == NC_OK) {
            status = check_framing(header, request, err);
        }
        if (status != NC_OK) {
            return status;
        }
    }
    if (total > MAX_HEAD_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the URL and headers together exceed %d bytes",
                            MAX_HEAD_BYTES - ADDED_BYTES);
    }
    nc_status status = check_uniqueness(request, "Host", err);
    return status == NC_OK ? check_uniqueness(request, "Content-Length", err) : status;
}

uint64_t nc_request_body_length(const nc_request *request) {
    uint64_t whole = request->body_source.pull != NULL ? request->body_length : request->body.length;
    return whole == NC_LENGTH_UNKNOWN || whole < request->body_offset ? whole : whole - request->body_offset;
}

bool nc_request_fits_http_2(const nc_request *request) {
    size_t total = nc_url_escaped_length(request->url) + ADDED_BYTES;
    for (size_t i = 0; i < request->header_count; i++) {
        total += FRAME_2_BYTES + request->headers[i].name.length + request->headers[i].value.length;
    }
    return total <= MAX_HEAD_2_BYTES;
}

/// Returns true for a text that may be an IPv6 address, with an optional zone after a '%'.
static bool is_v6_text(nc_slice host) {
    const uint8_t *zone = memchr(host.data, '%', host.length);
    size_t length = zone != NULL ? (size_t)(zone - host.data) : host.length;
    size_t colons = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = nc_ascii_lower(host.data[i]);
        if (!nc_ascii_is_digit(byte) && !(byte >= 'a' && byte <= 'f') && byte != ':' && byte != '.') {
            return false;
        }
        colons += byte == ':' ? 1 : 0;
    }
    return colons >= 2;
}

/// Returns true for a name or an address, with IPv6 addresses with or without brackets. Other texts must not contain
/// colons, where libcurl splits.
static bool is_host_text(nc_slice host) {
    for (size_t i = 0; i < host.length; i++) {
        if (host.data[i] <= ' ' || host.data[i] == 0x7f || host.data[i] == '/' || host.data[i] == '@') {
            return false;
        }
    }
    bool is_bracketed = host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']';
    nc_slice bare = is_bracketed ? nc_slice_make(host.data + 1, host.length - 2) : host;
    bool has_bracket =
        bare.length > 0 && (memchr(bare.data, '[', bare.length) != NULL || memchr(bare.data, ']', bare.length) != NULL);
    bool is_v6 = is_bracketed || (bare.length > 0 && memchr(bare.data, ':', bare.length) != NULL);
    return host.length <= 255 && !has_bracket && (!is_v6 || is_v6_text(bare));
}

/// Checks the offset at which the body begins. A file is measured when the transfer gets its slot.
static nc_status check_offset(const nc_request *request, nc_error *err) {
    uint64_t offset = request->body_offset;
    bool is_source = request->body_source.pull != NULL;
    if (offset > INT64_MAX) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the body's offset is out of range");
    }
    if (offset > 0 && request->multipart != NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a form cannot begin at an offset");
    }
    if (offset > 0 && is_source && request->body_source.seek == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the body begins at an offset, and its source cannot seek");
    }
    uint64_t whole = is_source ? request->body_length : request->body.length;
    if (request->body_file.length == 0 && offset > whole) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the body begins at byte %llu, but has only %llu",
                            (unsigned long long)offset, (unsigned long long)whole);
    }
    return NC_OK;
}

static nc_status check_bodies(const nc_request *request, nc_error *err) {
    int bodies = (request->body.length > 0 ? 1 : 0) + (request->body_file.length > 0 ? 1 : 0) +
                 (request->body_source.pull != NULL ? 1 : 0) + (request->multipart != NULL ? 1 : 0);
    if (bodies > 1) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "more than one request body");
    }
    if (request->body_source.pull != NULL && request->body_length > INT64_MAX &&
        request->body_length != NC_LENGTH_UNKNOWN) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the body's length is out of range");
    }
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    if (request->multipart != NULL && (is_get || nc_slice_is_equal(request->method, nc_slice_of("HEAD")))) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "GET and HEAD requests cannot have a form");
    }
    if (!nc_check_is_text(request->body_file, MAX_PATH_BYTES) ||
        !nc_check_is_text(request->save_path, MAX_PATH_BYTES)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a file path contains a NUL byte or is longer than %d bytes",
                            MAX_PATH_BYTES);
    }
    return check_offset(request, err);
}

static nc_status check_protocol(const nc_request *request, nc_error *err) {
    bool is_endless = (request->body_source.pull != NULL && request->body_length == NC_LENGTH_UNKNOWN) ||
                      (request->multipart != NULL && request->multipart->has_endless_source);
    switch (request->http) {
    case NC_HTTP_AUTO:
    case NC_HTTP_1_1:
    case NC_HTTP_3_IF_POSSIBLE:
        return NC_OK;
    case NC_HTTP_1_0:
        return is_endless ? nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1,
                                         "a body of unknown length cannot be sent over HTTP/1.0")
                          : NC_OK;
    case NC_HTTP_2_PRIOR_KNOWLEDGE:
        if (!nc_request_fits_http_2(request)) {
            return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1,
                                "the URL and headers together exceed %d bytes, the limit for HTTP/2",
                                MAX_HEAD_2_BYTES - ADDED_BYTES);
        }
        break;
    case NC_HTTP_3_ONLY:
        break;
    default:
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown protocol choice %d", (int)request->http);
    }
    const nc_capabilities has = nc_capabilities_query();
    bool is_third = request->http == NC_HTTP_3_ONLY;
    return (is_third ? has.has_http3 : has.has_http2)
               ? NC_OK
               : nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "libcurl %s does not support HTTP/%d", has.curl_version,
                              is_third ? 3 : 2);
}

static nc_status check_choices(const nc_request *request, nc_error *err) {
    if (request->priority != NC_PRIORITY_NORMAL && request->priority != NC_PRIORITY_HIGH &&
        request->priority != NC_PRIORITY_LOW) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown priority %d", (int)request->priority);
    }
    if (request->redirects != NC_REDIRECTS_FOLLOW && request->redirects != NC_REDIRECTS_RETURN &&
        request->redirects != NC_REDIRECTS_FOLLOW_DOWNGRADE) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown redirect choice %d", (int)request->redirects);
    }
    if (request->cookie_use > NC_COOKIES_STORE_ONLY) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown cookie option %u", request->cookie_use);
    }
    if (request->dscp > NC_DSCP_MAX) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the class of service %u is not in the range 0 to %u",
                            request->dscp, NC_DSCP_MAX);
    }
    if (request->connect_to_count > MAX_CONNECT_TO) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "more than %d address overrides", MAX_CONNECT_TO);
    }
    for (size_t i = 0; i < request->connect_to_count; i++) {
        if (!is_host_text(request->connect_to[i].host) || !is_host_text(request->connect_to[i].to_host)) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "address override %zu has no host name", i + 1);
        }
    }
    return NC_OK;
}

nc_status nc_request_check(const nc_request *request, nc_error *err) {
    if ((request->header_count > 0 && request->headers == NULL) ||
        (request->connect_to_count > 0 && request->connect_to == NULL) ||
        (request->trailers.count > 0 && request->trailers.fields == NULL) ||
        (request->body.length > 0 && request->body.data == NULL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a count is not 0, but its array is NULL");
    }
    nc_status status = check_url(request->url, err);
    if (status == NC_OK) {
        status = check_method(request->method, err);
    }
    if (status == NC_OK) {
        status = nc_check_trailers(request, err);
    }
    if (status == NC_OK) {
        status = check_headers(request, err);
    }
    if (status == NC_OK) {
        status = check_choices(request, err);
    }
    if (status == NC_OK) {
        status = check_protocol(request, err);
    }
    if (status == NC_OK) {
        status = check_bodies(request, err);
    }
    if (status == NC_OK && !nc_check_is_text(request->unix_socket, MAX_SOCKET_PATH_BYTES)) {
        status = nc_error_set(err, NC_ERR_USAGE, 0, -1,
                              "the path of the Unix socket contains a NUL byte or is longer than %d bytes",
                              MAX_SOCKET_PATH_BYTES);
    }
    if (status == NC_OK) {
        status = nc_check_credentials(&request->credentials, err);
    }
    if (status == NC_OK && (request->credentials.schemes & NC_AUTH_DIGEST) != 0) {
        status = nc_check_digest_url(request->url, err);
    }
    if (status == NC_OK && request->proxy != NULL) {
        status = nc_check_proxy(request->proxy, err);
    }
    return status == NC_OK ? nc_error_clear(err) : status;
}
