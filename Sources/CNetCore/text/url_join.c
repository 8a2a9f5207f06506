#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"
#include "text/url_parts.h"

#include <netcore/url.h>
#include <string.h>

/// The largest result of joining the longest base and path, before encoding.
#define MAX_RAW_BYTES (2 * NC_URL_MAX_BYTES + 16)

/// Returns true for bytes that may occur in a URL only percent-encoded (RFC 3986). The first bit set contains control
/// characters, space and "<>, the second \^`{|} and DEL.
static bool is_forbidden(uint8_t c) {
    uint64_t bits = c < 64 ? 0x50000005ffffffffu : 0xb800000150000000u;
    return c >= 0x80 || (bits >> (c & 63) & 1) != 0;
}

/// Returns true if the byte at `at` must be percent-encoded: a forbidden byte, or a '%' without two hex digits.
static bool needs_encoding(nc_slice text, size_t at) {
    uint8_t c = text.data[at];
    bool is_stray = c == '%' && !(at + 2 < text.length && nc_ascii_hex(text.data[at + 1]) >= 0 &&
                                  nc_ascii_hex(text.data[at + 2]) >= 0);
    return is_stray || is_forbidden(c);
}

static bool needs_no_encoding(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (needs_encoding(text, i)) {
            return false;
        }
    }
    return true;
}

static void append_escaped(nc_buf *out, nc_slice text) {
    static const char digits[] = "0123456789ABCDEF";
    size_t start = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!needs_encoding(text, i)) {
            continue;
        }
        uint8_t c = text.data[i];
        const uint8_t encoded[3] = {'%', (uint8_t)digits[c >> 4], (uint8_t)digits[c & 15]};
        nc_buf_append(out, nc_slice_make(text.data + start, i - start));
        nc_buf_append(out, nc_slice_make(encoded, sizeof encoded));
        start = i + 1;
    }
    nc_buf_append(out, nc_slice_make(text.length == start ? NULL : text.data + start, text.length - start));
}

static nc_status check_text(nc_slice text, const char *role, nc_error *err) {
    if (text.data == NULL && text.length > 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a slice is NULL");
    }
    if (text.length > NC_URL_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the %s has %zu bytes, more than %u", role, text.length,
                            NC_URL_MAX_BYTES);
    }
    if (needs_no_encoding(text)) {
        return NC_OK; // the usual case: nothing to encode, so neither control characters nor non-ASCII bytes
    }
    size_t valid = nc_utf8_span(text.data, text.length);
    for (size_t i = 0; i < valid; i++) {
        if (text.data[i] < ' ' || text.data[i] == 0x7F) {
            valid = i;
        }
    }
    if (valid < text.length) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)valid, "unexpected byte 0x%02x at byte %zu of the %s",
                            text.data[valid], valid, role);
    }
    return NC_OK;
}

static bool is_host(nc_slice host) {
    bool is_literal = host.length > 0 && host.data[0] == '[';
    for (size_t i = 0; i < host.length; i++) {
        uint8_t c = host.data[i];
        bool is_bracket = is_literal && (i == 0 || i + 1 == host.length);
        if ((c < 0x80 && is_forbidden(c)) || (!is_bracket && (c == '[' || c == ']'))) {
            return false;
        }
    }
    return !is_literal || (host.length > 2 && host.data[host.length - 1] == ']');
}

static bool is_web(nc_slice scheme) {
    return nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("http")) ||
           nc_slice_is_equal_ignoring_case(scheme, nc_slice_of("https"));
}

static bool is_port(nc_slice text) {
    uint32_t number = 0;
    for (size_t i = 0; i < text.length; i++) {
        number = number * 10 + (uint32_t)(text.data[i] - '0');
        if (!nc_ascii_is_digit(text.data[i]) || number > UINT16_MAX) {
            return false;
        }
    }
    return true;
}

/// Refuses an invalid authority. libcurl may refuse further hosts later. The message does not contain the authority,
/// because it may include a password.
static nc_status check_authority(const nc_url_parts *parts, nc_error *err) {
    bool is_valid = is_port(parts->port) && (parts->host.length == 0 || is_host(parts->host));
    for (size_t i = 0; i < parts->userinfo.length && is_valid; i++) {
        is_valid = !is_forbidden(parts->userinfo.data[i]) || parts->userinfo.data[i] >= 0x80;
    }
    if (!is_valid) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the URL's host or port is malformed");
    }
    if (parts->host.length == 0 && is_web(parts->scheme)) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "the URL has no host");
    }
    return NC_OK;
}

/// Appends the base as a directory: without query and fragment, and with a trailing '/'.
static void append_folder(nc_buf *out, nc_slice base) {
    size_t end = 0;
    while (end < base.length && base.data[end] != '?' && base.data[end] != '#') {
        end++;
    }
    nc_buf_append(out, nc_slice_make(base.data, end));
    if (end > 0 && base.data[end - 1] != '/') {
        nc_buf_append_byte(out, '/');
    }
}

static nc_status check_base(nc_slice base, const nc_url_parts *parts, nc_error *err) {
    nc_status status = check_text(base, "base", err);
    if (status == NC_OK && parts->scheme.length == 0) {
        status = nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the base URL has no scheme");
    }
    return status == NC_OK ? check_authority(parts, err) : status;
}

/// Returns true if `path` can be resolved against the unchanged base: the base's path ends with '/', or `path` replaces
/// it.
static bool needs_no_folder(const nc_url_parts *base, nc_slice path, nc_join_mode mode) {
    bool is_rooted = path.length > 0 && path.data[0] == '/';
    bool is_folder = base->path.length > 0 && base->path.data[base->path.length - 1] == '/' && !base->has_query &&
                     !base->has_fragment;
    return is_rooted ? mode == NC_JOIN_BY_RFC : is_folder;
}

/// Joins base and path without encoding. The caller checks the status of `raw`.
static nc_status resolve(nc_buf *raw, nc_slice base, nc_slice path, nc_join_mode mode, nc_error *err) {
    nc_url_parts reference = nc_url_split(path);
    if (reference.scheme.length > 0 && reference.has_authority) {
        nc_url_append_resolved(raw, &reference, &reference);
        return NC_OK;
    }
    nc_url_parts base_parts = nc_url_split(base);
    nc_status status = check_base(base, &base_parts, err);
    if (status != NC_OK) {
        return status;
    }
    if (needs_no_folder(&base_parts, path, mode)) {
        nc_url_append_resolved(raw, &base_parts, &reference);
        return NC_OK;
    }
    nc_buf folder = nc_buf_init(MAX_RAW_BYTES);
    append_folder(&folder, base);
    if (mode == NC_JOIN_KEEPS_BASE_PATH && path.length > 0 && path.data[0] == '/') {
        // The base already ends with the '/' that `path` begins with. The text behind that '/' must not be parsed as an
        // authority.
        nc_buf_append(&folder, nc_slice_make(path.data + 1, path.length - 1));
        reference = nc_url_split(nc_buf_slice(&folder));
    }
    if (folder.status == NC_OK) {
        base_parts = nc_url_split(nc_buf_slice(&folder));
        nc_url_append_resolved(raw, &base_parts, &reference);
    }
    if (raw->status == NC_OK) {
        raw->status = folder.status;
    }
    nc_buf_deinit(&folder);
    return NC_OK;
}

/// Appends scheme and authority unchanged, then path, query and fragment with the necessary encoding.
static void append_encoded(nc_buf *out, nc_slice raw, const nc_url_parts *parts) {
    size_t end = parts->scheme.length > 0 ? parts->scheme.length + strlen(":") : 0;
    end += parts->has_authority ? strlen("//") + parts->authority.length : 0;
    nc_buf_append(out, nc_slice_make(raw.data, end));
    append_escaped(out, nc_slice_make(raw.data + end, raw.length - end));
}

nc_status nc_url_join(nc_buf *out, nc_slice base, nc_slice path, nc_join_mode mode, nc_error *err) {
    if (out == NULL || (base.data == NULL && base.length > 0) ||
        (mode != NC_JOIN_BY_RFC && mode != NC_JOIN_KEEPS_BASE_PATH)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL, or the mode is unknown");
    }
    nc_status status = check_text(path, "path", err);
    if (status != NC_OK) {
        return status;
    }
    nc_buf raw_buffer = nc_buf_init(MAX_RAW_BYTES);
    bool has_room = out->max_bytes - out->length > base.length + path.length; // conservative: ".." may remove segments
    nc_buf *raw = has_room && needs_no_encoding(base) && needs_no_encoding(path) ? out : &raw_buffer;
    size_t length_before = out->length;
    size_t start = raw->length;
    status = resolve(raw, base, path, mode, err);
    if (status == NC_OK && raw->status == NC_OK) {
        nc_slice joined = nc_slice_make(raw->length == 0 ? NULL : raw->data + start, raw->length - start);
        nc_url_parts parts = nc_url_split(joined);
        status = check_authority(&parts, err);
        if (status == NC_OK && raw != out) {
            append_encoded(out, joined, &parts);
        }
    }
    nc_status filled = raw->status == NC_OK ? out->status : raw->status;
    if (filled == NC_OK && out->length - length_before > NC_URL_MAX_BYTES) {
        filled = out->status = NC_ERR_TOO_LARGE;
    }
    nc_buf_deinit(&raw_buffer);
    if (status == NC_OK && filled == NC_OK) {
        return nc_error_clear(err);
    }
    out->length = length_before;
    return status != NC_OK
               ? status
               : nc_error_set(err, filled, 0, -1, "cannot store the joined URL: %s", nc_status_text(filled));
}
