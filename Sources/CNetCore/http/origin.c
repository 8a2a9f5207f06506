#include "http/origin.h"

#include "base/ascii.h"
#include "base/error.h"
#include "text/url_parts.h"

#include <netcore/url.h>
#include <stdio.h>

enum { HTTP_PORT = 80, HTTPS_PORT = 443, MAX_PORT = 65535 };

/// Removes "user:password@". libcurl refuses an authority with a second '@'.
static nc_slice without_credentials(nc_slice authority) {
    size_t at = authority.length;
    while (at > 0 && authority.data[at - 1] != '@') {
        at--;
    }
    return nc_slice_make(authority.data + at, authority.length - at);
}

/// Removes ":port" from the end of `place`. The colons of an IPv6 address are within brackets.
static bool take_port(uint16_t *port, nc_slice *place) {
    size_t at = place->length;
    while (at > 0 && nc_ascii_is_digit(place->data[at - 1])) {
        at--;
    }
    if (at == 0 || place->data[at - 1] != ':') {
        return true;
    }
    uint32_t number = 0;
    for (size_t i = at; i < place->length; i++) {
        number = number * 10 + (uint32_t)(place->data[i] - '0');
        if (number > MAX_PORT) {
            return false;
        }
    }
    *port = at < place->length ? (uint16_t)number : *port;
    place->length = at - 1;
    return true;
}

nc_status nc_origin_read(nc_origin *out, nc_slice url, nc_error *err) {
    nc_url_parts parts = nc_url_split(url);
    out->is_secure = nc_slice_is_equal_ignoring_case(parts.scheme, nc_slice_of("https"));
    if (!out->is_secure && !nc_slice_is_equal_ignoring_case(parts.scheme, nc_slice_of("http"))) {
        return nc_error_set(err, NC_ERR_BAD_SCHEME, 0, 0, "the URL's scheme is not http or https");
    }
    nc_slice place = parts.authority.length > 0 ? without_credentials(parts.authority) : parts.authority;
    out->port = out->is_secure ? HTTPS_PORT : HTTP_PORT;
    if (place.length > 0 && !take_port(&out->port, &place)) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the port of the URL is greater than %d", MAX_PORT);
    }
    // An IPv6 address without brackets could not be distinguished from a port.
    if (place.length > 0 && place.data[0] != '[' && memchr(place.data, ':', place.length) != NULL) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the port of the URL is no number");
    }
    return nc_host_read(&out->host, place, err);
}

bool nc_origin_is_equal(const nc_origin *a, const nc_origin *b) {
    return a->is_secure == b->is_secure && a->port == b->port && nc_slice_is_equal(a->host.text, b->host.text);
}

static void append_host(nc_buf *out, const nc_canonical_host *host) {
    bool is_bracketed = host->kind == NC_HOST_IPV6;
    nc_buf_append(out, nc_slice_of(is_bracketed ? "[" : ""));
    nc_buf_append(out, host->text);
    nc_buf_append(out, nc_slice_of(is_bracketed ? "]" : ""));
}

static nc_status finish(nc_buf *out, size_t length_before, nc_error *err) {
    nc_status status = nc_buf_status(out);
    if (status == NC_OK) {
        return nc_error_clear(err);
    }
    out->length = length_before;
    return nc_error_set(err, status, 0, -1, "the result does not fit: %s", nc_status_text(status));
}

static nc_status read(nc_origin *origin, nc_buf *out, nc_slice url, nc_error *err) {
    if (out == NULL || (url.data == NULL && url.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    if (url.length > NC_URL_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the URL is longer than %u bytes", NC_URL_MAX_BYTES);
    }
    return nc_origin_read(origin, url, err);
}

nc_status nc_url_origin(nc_buf *out, nc_slice url, nc_error *err) {
    nc_origin origin;
    nc_status status = read(&origin, out, url, err);
    if (status != NC_OK) {
        return status;
    }
    size_t length_before = out->length;
    nc_buf_append(out, nc_slice_of(origin.is_secure ? "https://" : "http://"));
    append_host(out, &origin.host);
    if (origin.port != (origin.is_secure ? HTTPS_PORT : HTTP_PORT)) {
        char port[8];
        (void)snprintf(port, sizeof port, ":%u", origin.port);
        nc_buf_append(out, nc_slice_of(port));
    }
    return finish(out, length_before, err);
}

nc_status nc_url_host(nc_buf *out, nc_slice url, nc_error *err) {
    nc_origin origin;
    nc_status status = read(&origin, out, url, err);
    if (status != NC_OK) {
        return status;
    }
    size_t length_before = out->length;
    nc_buf_append(out, origin.host.text);
    return finish(out, length_before, err);
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
