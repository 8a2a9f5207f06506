#include "http/url_text.h"

#include "base/ascii.h"
#include "base/error.h"
#include "text/host.h"

#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

bool nc_url_is_web_scheme(nc_slice scheme) {
    return nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("http")) ||
           nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("https"));
}

bool nc_url_is_web(const nc_url_parts *parts) {
    return parts->has_authority && nc_url_is_web_scheme(parts->scheme);
}

static size_t find_byte(nc_slice text, size_t from, uint8_t byte) {
    const uint8_t *found = from < text.length ? memchr(text.data + from, byte, text.length - from) : NULL;
    return found != NULL ? (size_t)(found - text.data) : text.length;
}

/// Returns the whole authority including credentials: from "//" to the first '/', '?' or '#'.
static nc_slice find_authority(nc_slice url) {
    size_t at = find_byte(url, 0, ':');
    while (at + 2 < url.length && !(url.data[at + 1] == '/' && url.data[at + 2] == '/')) {
        at = find_byte(url, at + 1, ':');
    }
    if (at + 3 > url.length) {
        return nc_slice_make(url.data, 0);
    }
    const uint8_t *begin = url.data + at + 3;
    const uint8_t *stop = url.data + url.length;
    const uint8_t *end = begin;
    while (end < stop && *end != '/' && *end != '?' && *end != '#') {
        end++;
    }
    return nc_slice_make(begin, (size_t)(end - begin));
}

/// Returns the length of "user:password@" in an authority: up to its last '@'.
static size_t credentials_length(nc_slice authority) {
    size_t length = find_byte(authority, 0, '@') < authority.length ? authority.length : 0;
    while (length > 0 && authority.data[length - 1] != '@') {
        length--;
    }
    return length;
}

void nc_url_find_credentials(nc_slice url, size_t *at, size_t *length) {
    nc_slice authority = find_authority(url);
    *length = credentials_length(authority);
    *at = *length > 0 ? (size_t)(authority.data - url.data) : 0;
}

/// Returns the offset at which the authority ends and the path, query or fragment begins; 0 without an authority.
static size_t authority_end(nc_slice url) {
    nc_slice authority = nc_url_split(url).authority;
    return authority.length > 0 ? (size_t)(authority.data - url.data) + authority.length : 0;
}

size_t nc_url_escaped_length(nc_slice url) {
    size_t length = url.length;
    if (nc_ascii_is_all(url)) {
        return length;
    }
    for (size_t i = authority_end(url); i < url.length; i++) {
        length += url.data[i] >= 0x80 ? 2 : 0;
    }
    return length;
}

char *nc_url_escape(char *out, nc_slice url) {
    static const char hex[] = "0123456789ABCDEF";
    if (url.length > 0 && nc_ascii_is_all(url)) {
        memcpy(out, url.data, url.length);
        return out + url.length;
    }
    size_t end = authority_end(url);
    for (size_t i = 0; i < url.length; i++) {
        uint8_t byte = url.data[i];
        if (i < end || byte < 0x80) {
            *out++ = (char)byte;
            continue;
        }
        *out++ = '%';
        *out++ = hex[byte >> 4];
        *out++ = hex[byte & 15];
    }
    return out;
}

nc_slice nc_url_host_and_port(const nc_url_parts *parts) {
    size_t before = parts->has_userinfo ? parts->userinfo.length + 1 : 0;
    return nc_slice_make(parts->authority.data != NULL ? parts->authority.data + before : NULL,
                         parts->authority.length - before);
}

nc_slice nc_url_authority(nc_slice url) {
    nc_url_parts parts = nc_url_split(url);
    return nc_url_host_and_port(&parts);
}

enum { HTTP_PORT = 80, HTTPS_PORT = 443, MAX_PORT = 65535 };

/// Parses a port. Empty text leaves `port` unchanged, which the caller has set to the scheme's default.
static nc_status read_port(uint16_t *port, nc_slice text, nc_error *err) {
    uint32_t number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the port of the URL is not a number");
        }
        number = number * 10 + (uint32_t)(text.data[i] - '0');
        if (number > MAX_PORT) {
            return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the port of the URL is greater than %d", MAX_PORT);
        }
    }
    *port = text.length > 0 ? (uint16_t)number : *port;
    return NC_OK;
}

static nc_status read_parts(nc_origin *out, const nc_url_parts *parts, nc_error *err) {
    out->is_secure = nc_slice_is_equal_ignoring_case(parts->scheme, nc_slice_of("https"));
    if (!out->is_secure && !nc_slice_is_equal_ignoring_case(parts->scheme, nc_slice_of("http"))) {
        return nc_error_set(err, NC_ERR_BAD_SCHEME, 0, 0, "the URL's scheme is not http or https");
    }
    out->port = out->is_secure ? HTTPS_PORT : HTTP_PORT;
    nc_status status = read_port(&out->port, parts->port, err);
    return status == NC_OK ? nc_host_read(&out->host, parts->host, err) : status;
}

nc_status nc_origin_read(nc_origin *out, nc_slice url, nc_error *err) {
    nc_url_parts parts = nc_url_split(url);
    return read_parts(out, &parts, err);
}

nc_status nc_url_parse(nc_url *out, nc_slice text, nc_error *err) {
    out->text = text;
    out->parts = nc_url_split(text);
    out->host_and_port = nc_url_host_and_port(&out->parts);
    out->origin = (nc_origin){.port = 0};
    out->status = read_parts(&out->origin, &out->parts, err);
    if (out->status != NC_OK) {
        out->origin.host = (nc_canonical_host){.kind = NC_HOST_NAME};
    }
    return out->status;
}

bool nc_origin_is_equal(const nc_origin *a, const nc_origin *b) {
    return a->is_secure == b->is_secure && a->port == b->port && nc_slice_is_equal(a->host.text, b->host.text);
}

static void append_origin(nc_buf *out, const nc_origin *origin) {
    bool is_bracketed = origin->host.kind == NC_HOST_IPV6;
    nc_buf_append(out, nc_slice_of(origin->is_secure ? "https://" : "http://"));
    nc_buf_append(out, nc_slice_of(is_bracketed ? "[" : ""));
    nc_buf_append(out, origin->host.text);
    nc_buf_append(out, nc_slice_of(is_bracketed ? "]" : ""));
    if (origin->port != (origin->is_secure ? HTTPS_PORT : HTTP_PORT)) {
        char port[8];
        (void)snprintf(port, sizeof port, ":%u", origin->port);
        nc_buf_append(out, nc_slice_of(port));
    }
}

static void append_host(nc_buf *out, const nc_origin *origin) {
    nc_buf_append(out, origin->host.text);
}

static nc_status read(nc_buf *out, nc_slice url, void (*append)(nc_buf *out, const nc_origin *origin), nc_error *err) {
    nc_origin origin;
    if (out == NULL || (url.data == NULL && url.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    if (url.length > NC_URL_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the URL is longer than %u bytes", NC_URL_MAX_BYTES);
    }
    nc_status status = nc_origin_read(&origin, url, err);
    if (status != NC_OK) {
        return status;
    }
    size_t length_before = out->length;
    append(out, &origin);
    status = nc_buf_status(out);
    if (status == NC_OK) {
        return nc_error_clear(err);
    }
    out->length = length_before;
    return nc_error_set(err, status, 0, -1, "cannot store the result: %s", nc_status_text(status));
}

nc_status nc_url_origin(nc_buf *out, nc_slice url, nc_error *err) {
    return read(out, url, append_origin, err);
}

nc_status nc_url_host(nc_buf *out, nc_slice url, nc_error *err) {
    return read(out, url, append_host, err);
}

nc_status nc_url_canonical_host(nc_buf *out, nc_slice host, nc_error *err) {
    if (out == NULL || (host.data == NULL && host.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    size_t length_before = out->length;
    nc_status status = nc_host_canonicalize(out, NULL, host, err);
    out->length = status == NC_OK ? out->length : length_before;
    return status;
}

bool nc_url_is_same_origin(nc_slice a, nc_slice b) {
    nc_origin first;
    nc_origin second;
    return nc_origin_read(&first, a, NULL) == NC_OK && nc_origin_read(&second, b, NULL) == NC_OK &&
           nc_origin_is_equal(&first, &second);
}
