#include "store/key_url.h"

#include "base/ascii.h"
#include "base/error.h"

/// The top bit of each control character, space and DEL: a carry into it comes from every other byte, and a byte from
/// 0x80 up hides nothing but itself.
static inline uint64_t find_controls(uint64_t word) {
    uint64_t low = word & ~KEY_TOPS;
    uint64_t is_above = (low + KEY_ONES * (0x80 - 0x21)) | word;
    uint64_t is_other = ((low ^ KEY_ONES * 0x7F) + KEY_ONES * 0x7F) | word;
    return ~(is_above & is_other) & KEY_TOPS;
}

/// ":80" of http and ":443" of https are what is meant without them, and so is ":" alone.
static bool is_default_port(nc_slice scheme, nc_slice port) {
    bool is_secure = scheme.length == 5;
    return port.length == 1 || nc_slice_is_equal(port, is_secure ? key_slice(":443", 4) : key_slice(":80", 3));
}

static bool is_web_scheme(nc_slice scheme) {
    uint8_t last = scheme.length == 5 ? scheme.data[4] | 0x20 : 's';
    return (scheme.length == 4 || scheme.length == 5) && last == 's' && (scheme.data[0] | 0x20) == 'h' &&
           (scheme.data[1] | 0x20) == 't' && (scheme.data[2] | 0x20) == 't' && (scheme.data[3] | 0x20) == 'p';
}

static bool is_number(nc_slice digits) {
    for (size_t i = 0; i < digits.length; i++) {
        if (!nc_ascii_is_digit(digits.data[i])) {
            return false;
        }
    }
    return true;
}

/// Cuts the authority, which begins at `start`, off, and takes host and port apart when it is what it should be;
/// otherwise all of it is the host. Returns where it ends.
static size_t cut_authority(key_url *out, nc_slice url, size_t start, bool is_web) {
    size_t host = start;
    size_t colon = 0;
    size_t colons = 0;
    size_t end = start;
    for (; end < url.length; end++) {
        uint8_t c = url.data[end];
        if (c == '/' || c == '?' || c == '#') {
            break;
        }
        if (c == '@') {
            host = end + 1;
            colons = 0;
        } else if (c == ':') {
            colon = end;
            colons++;
        }
    }
    out->userinfo = key_slice(url.data + start, host - start);
    out->host = key_slice(url.data + host, end - host);
    out->port = key_slice(NULL, 0);
    bool is_literal = colons > 1 && url.data[host] == '[' && url.data[colon - 1] == ']';
    nc_slice digits = key_slice(url.data + colon + 1, end - colon - 1);
    if ((colons == 1 || is_literal) && colon > host && is_number(digits)) {
        out->port = key_slice(url.data + colon, end - colon);
        out->host.length = colon - host;
        if (is_web && is_default_port(out->scheme, out->port)) {
            out->port.length = 0;
        }
    }
    return end;
}

nc_status nc_key_url_cut(key_url *out, nc_slice url, nc_error *err) {
    size_t colon = 0;
    while (colon < url.length && url.data[colon] != ':') {
        colon++;
    }
    out->scheme = key_slice(url.data, colon);
    bool is_web = is_web_scheme(out->scheme);
    size_t start = colon + 3;
    if (url.length < start || memcmp(url.data + colon, "://", 3) != 0 || colon == 0) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the URL has no scheme and host");
    }
    if (key_scan(url, find_controls) != 0) {
        size_t at = 0;
        while (key_scan(key_slice(url.data + at, 1), find_controls) == 0) {
            at++;
        }
        return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)at, "unexpected byte 0x%02x at byte %zu of the URL",
                            url.data[at], at);
    }
    size_t end = cut_authority(out, url, start, is_web);
    if (out->host.length == 0 || out->host.data[0] == ':') {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)start, "the URL names no host");
    }
    const uint8_t *fragment = end < url.length ? memchr(url.data + end, '#', url.length - end) : NULL;
    out->rest = key_slice(url.data + end, (fragment == NULL ? url.length : (size_t)(fragment - url.data)) - end);
    out->needs_slash = is_web && (out->rest.length == 0 || out->rest.data[0] != '/');
    return NC_OK;
}

void nc_key_url_put(key_writer *out, const key_url *url) {
    key_put_length(out, url->scheme.length + 3 + url->userinfo.length + url->host.length + url->port.length +
                            (url->needs_slash ? 1 : 0) + url->rest.length);
    key_put_lowered(out, url->scheme);
    key_put_bytes(out, key_slice("://", 3));
    key_put_bytes(out, url->userinfo);
    key_put_lowered(out, url->host);
    key_put_bytes(out, url->port);
    if (url->needs_slash) {
        key_put_byte(out, '/');
    }
    key_put_bytes(out, url->rest);
}
