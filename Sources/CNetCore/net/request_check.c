#include "net/description.h"

#include "base/ascii.h"
#include "base/error.h"
#include "body/multipart.h"
#include "http/host.h"
#include "net/access_check.h"
#include "net/url_text.h"

#include <netcore/engine_options.h>
#include <netcore/url.h>
#include <string.h>

enum {
    MAX_METHOD_BYTES = 64,
    MAX_HEAD_BYTES = 1024 * 1024, // libcurl's limit, above which it reports exhausted memory
    ADDED_BYTES = 16 * 1024,      // Host, cookies, credentials and the like
    FRAME_BYTES = 4,              // ": " and CR LF
    MAX_HEAD_2_BYTES = 64 * 1024, // NGHTTP2_MAX_HEADERSLEN
    FRAME_2_BYTES = 12,           // as nghttp2 counts a field
    MAX_CONNECT_TO = 100,
    MAX_PATH_BYTES = 4095,
    MAX_SOCKET_PATH_BYTES = 107,
};

/// libcurl would reject such a host only after the request has begun.
static nc_status check_authority(nc_slice authority, nc_error *err) {
    if (authority.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the URL names no host");
    }
    if (authority.data[0] == '[') {
        return NC_OK;
    }
    const uint8_t *colon = memchr(authority.data, ':', authority.length);
    size_t length = colon != NULL ? (size_t)(colon - authority.data) : authority.length;
    if (nc_host_has_forbidden_byte(nc_slice_make(authority.data, length))) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the host of the URL holds a forbidden character");
    }
    return NC_OK;
}

static nc_status check_url(nc_slice url, nc_error *err) {
    bool is_secure;
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
    if (!nc_url_has_web_scheme(url, &is_secure)) {
        size_t end = 0;
        while (end < url.length && end < 32 && (nc_ascii_is_alpha(url.data[end]) || nc_ascii_is_digit(url.data[end]))) {
            end++;
        }
        nc_slice scheme = nc_slice_make(url.data, end);
        bool is_web = nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("http")) ||
                      nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("https"));
        if (end > 0 && !is_web && end + 2 < url.length && url.data[end] == ':' && url.data[end + 1] == '/') {
            bool is_websocket = nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("ws")) ||
                                nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("wss"));
            if (is_websocket) {
                return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, 0, "WebSocket is not spoken%s",
                                    nc_capabilities_query().has_websocket ? "" : ", and is not in this libcurl");
            }
            return nc_error_set(err, NC_ERR_BAD_SCHEME, 0, 0, "the scheme '%.*s' is not http or https", (int)end,
                                (const char *)url.data);
        }
        return nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the URL does not begin with http:// or https://");
    }
    return check_authority(nc_url_authority(url), err);
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

/// The library controls the framing: a caller's length must be correct, a caller's transfer coding is rejected.
static nc_status check_framing(const nc_header *header, const nc_request *request, nc_error *err) {
    if (nc_slice_is_equal_ignoring_case(header->name, nc_slice_of("Transfer-Encoding"))) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1, "Transfer-Encoding is set by the library alone");
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
    uint64_t expected = is_source ? request->body_length : request->body.length;
    if (request->body_file.length > 0 || request->multipart != NULL || (is_source && expected == NC_LENGTH_UNKNOWN)) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1, "Content-Length of such a body is set by the library alone");
    }
    if (!is_number || length != expected) {
        return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1, "Content-Length is not the body's length of %llu bytes",
                            (unsigned long long)expected);
    }
    return NC_OK;
}

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/// libcurl would silently omit a field whose value is only white space.
static nc_status check_surroundings(const nc_header *header, nc_error *err) {
    nc_slice value = header->value;
    if (value.length == 0 || !(is_blank(value.data[0]) || is_blank(value.data[value.length - 1]))) {
        return NC_OK;
    }
    size_t at = is_blank(value.data[0]) ? 0 : value.length - 1;
    return nc_error_set(err, NC_ERR_BAD_HEADER, 0, (int64_t)at, "white space around the value of header %.*s",
                        (int)(header->name.length < 64 ? header->name.length : 64), (const char *)header->name.data);
}

/// RFC 9112, 3.2 and RFC 9110, 8.6: one Host, one length. libcurl would only send the first of two Host fields.
static nc_status check_uniqueness(const nc_request *request, const char *name, nc_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        count += nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of(name)) ? 1 : 0;
    }
    return count <= 1 ? NC_OK : nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1, "more than one %s field", name);
}

static nc_status check_headers(const nc_request *request, nc_error *err) {
    size_t total = nc_url_escaped_length(request->url) + ADDED_BYTES;
    if (request->header_count > NC_MAX_SENT_HEADERS) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "more than %d headers", NC_MAX_SENT_HEADERS);
    }
    for (size_t i = 0; i < request->header_count; i++) {
        const nc_header *header = &request->headers[i];
        total += FRAME_BYTES + (header->name.length < MAX_HEAD_BYTES ? header->name.length : MAX_HEAD_BYTES);
        total += header->value.length < MAX_HEAD_BYTES ? header->value.length : MAX_HEAD_BYTES;
        nc_status status = nc_check_header(header, err);
        if (status == NC_OK) {
            status = check_surroundings(header, err);
        }
        if (status == NC_OK) {
            status = check_framing(header, request, err);
        }
        if (status != NC_OK) {
            return status;
        }
    }
    if (total > MAX_HEAD_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "URL and headers have more than %d bytes",
                            MAX_HEAD_BYTES - ADDED_BYTES);
    }
    nc_status status = check_uniqueness(request, "Host", err);
    return status == NC_OK ? check_uniqueness(request, "Content-Length", err) : status;
}

bool nc_request_fits_http_2(const nc_request *request) {
    size_t total = nc_url_escaped_length(request->url) + ADDED_BYTES;
    for (size_t i = 0; i < request->header_count; i++) {
        total += FRAME_2_BYTES + request->headers[i].name.length + request->headers[i].value.length;
    }
    return total <= MAX_HEAD_2_BYTES;
}

/// Returns true for a possible IPv6 address, with an optional zone after a '%'.
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

/// Returns true for a name or an address; IPv6 with or without brackets. libcurl splits at colons.
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
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "GET and HEAD carry no form");
    }
    if (!nc_check_is_text(request->body_file, MAX_PATH_BYTES) ||
        !nc_check_is_text(request->save_path, MAX_PATH_BYTES)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a path holds a NUL or is longer than %d bytes", MAX_PATH_BYTES);
    }
    return NC_OK;
}

static nc_status check_protocol(const nc_request *request, nc_error *err) {
    bool is_endless = (request->body_source.pull != NULL && request->body_length == NC_LENGTH_UNKNOWN) ||
                      (request->multipart != NULL && request->multipart->has_endless_source);
    switch (request->http) {
    case NC_HTTP_AUTO:
    case NC_HTTP_1_1:
        return NC_OK;
    case NC_HTTP_1_0:
        return is_endless ? nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1,
                                         "a body of unknown length cannot be sent over HTTP/1.0")
                          : NC_OK;
    case NC_HTTP_2_PRIOR_KNOWLEDGE:
        if (!nc_request_fits_http_2(request)) {
            return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "URL and headers have more than %d bytes, for HTTP/2",
                                MAX_HEAD_2_BYTES - ADDED_BYTES);
        }
        break;
    case NC_HTTP_3:
        break;
    default:
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown protocol choice %d", (int)request->http);
    }
    const nc_capabilities has = nc_capabilities_query();
    bool is_third = request->http == NC_HTTP_3;
    return (is_third ? has.has_http3 : has.has_http2)
               ? NC_OK
               : nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "libcurl %s has no HTTP/%d", has.curl_version,
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
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown use of cookies %u", request->cookie_use);
    }
    if (request->dscp > NC_DSCP_MAX) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "%u is no class of service from 0 to %u", request->dscp,
                            NC_DSCP_MAX);
    }
    if (request->connect_to_count > MAX_CONNECT_TO) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "more than %d address overrides", MAX_CONNECT_TO);
    }
    for (size_t i = 0; i < request->connect_to_count; i++) {
        if (!is_host_text(request->connect_to[i].host) || !is_host_text(request->connect_to[i].to_host)) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "address override %zu holds no host name", i + 1);
        }
    }
    return NC_OK;
}

nc_status nc_request_check(const nc_request *request, nc_error *err) {
    if ((request->header_count > 0 && request->headers == NULL) ||
        (request->connect_to_count > 0 && request->connect_to == NULL) ||
        (request->body.length > 0 && request->body.data == NULL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a count without its array");
    }
    nc_status status = check_url(request->url, err);
    if (status == NC_OK) {
        status = check_method(request->method, err);
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
        status =
            nc_error_set(err, NC_ERR_USAGE, 0, -1, "the path of the Unix socket holds a NUL or is longer than %d bytes",
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
