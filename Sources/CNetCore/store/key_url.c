#include "store/key_writer.h"

#include "base/ascii.h"
#include "base/error.h"

#include <netcore/url.h>

/// Returns a word with the top bit set in each byte that is a control character, a space or DEL. The additions make
/// every other byte below 0x80 carry into its own top bit; bytes do not affect each other.
static inline uint64_t find_controls(uint64_t word) {
    uint64_t low = word & ~KEY_TOPS;
    uint64_t is_above = (low + KEY_ONES * (0x80 - 0x21)) | word;
    uint64_t is_other = ((low ^ KEY_ONES * 0x7F) + KEY_ONES * 0x7F) | word;
    return ~(is_above & is_other) & KEY_TOPS;
}

/// Returns the canonical digits of a port: "0443" becomes "443". Empty for the scheme's default port.
static nc_slice canonical_port(nc_slice scheme, nc_slice digits) {
    bool is_secure = scheme.length == 5;
    while (digits.length > 1 && digits.data[0] == '0') {
        digits = key_slice(digits.data + 1, digits.length - 1);
    }
    bool is_default = nc_slice_is_equal(digits, is_secure ? key_slice("443", 3) : key_slice("80", 2));
    return is_default ? key_slice(NULL, 0) : digits;
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

/// Sets host and port. Without a valid port all of the text is the host.
static void take_host(key_url *out, const nc_url_parts *parts, bool is_web) {
    bool is_valid = parts->has_port && parts->host.length > 0 && is_number(parts->port);
    nc_slice digits = is_valid ? parts->port : key_slice(NULL, 0);
    out->userinfo = key_slice(parts->authority.data, parts->has_userinfo ? parts->userinfo.length + 1 : 0);
    out->port = is_web ? canonical_port(out->scheme, digits) : digits;
    out->has_port = is_valid && (!is_web || out->port.length > 0);
    out->host = parts->host;
    if (parts->has_port && !is_valid) {
        out->host.length += 1 + parts->port.length;
    }
}

/// Returns true if the canonical form of a host may differ from its lower-case text. That is so for an address, an
/// international or percent-encoded name, and a trailing dot.
static bool needs_canonical_form(nc_slice host) {
    size_t label = 0; // start of the last label
    for (size_t i = 0; i < host.length; i++) {
        uint8_t c = host.data[i];
        if (c >= 0x80 || c == '%' || c == '[') {
            return true;
        }
        label = c == '.' ? i + 1 : label;
    }
    return label == host.length || nc_ascii_is_digit(host.data[label]);
}

/// Replaces the host by its canonical form, so that all spellings of a host give the same key. If the text is not a
/// valid host, it stays; no request can be sent to it.
static nc_status canonicalize_host(key_url *out, nc_error *err) {
    nc_buf host = nc_buf_init(sizeof out->written);
    nc_status status = nc_url_canonical_host(&host, out->host, err);
    if (status == NC_OK) {
        bool is_ipv6 = memchr(host.data, ':', host.length) != NULL;
        key_writer at = {out->written};
        if (is_ipv6) {
            key_put_byte(&at, '[');
        }
        key_put_bytes(&at, nc_buf_slice(&host));
        if (is_ipv6) {
            key_put_byte(&at, ']');
        }
        out->host = key_slice(out->written, (size_t)(at.at - out->written));
    }
    nc_buf_deinit(&host);
    return status == NC_ERR_BAD_URL ? NC_OK : status;
}

nc_status nc_key_url_cut(key_url *out, nc_slice url, nc_error *err) {
    nc_url_parts parts = nc_url_split(url);
    out->scheme = parts.scheme;
    bool is_web = is_web_scheme(out->scheme);
    if (parts.scheme.length == 0 || !parts.has_authority) {
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
    size_t start = parts.scheme.length + 3;
    if (parts.host.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)start, "the URL has no host");
    }
    take_host(out, &parts, is_web);
    size_t end = start + parts.authority.length;
    size_t fragment = parts.has_fragment ? parts.fragment.length + 1 : 0;
    out->rest = key_slice(url.data + end, url.length - end - fragment);
    out->needs_slash = is_web && (out->rest.length == 0 || out->rest.data[0] != '/');
    return is_web && needs_canonical_form(out->host) ? canonicalize_host(out, err) : NC_OK;
}

void nc_key_url_put(key_writer *out, const key_url *url) {
    key_put_length(out, url->scheme.length + 3 + url->userinfo.length + url->host.length + (url->has_port ? 1 : 0) +
                            url->port.length + (url->needs_slash ? 1 : 0) + url->rest.length);
    key_put_lowered(out, url->scheme);
    key_put_bytes(out, key_slice("://", 3));
    key_put_bytes(out, url->userinfo);
    if (url->host.data == url->written) {
        key_put_bytes(out, url->host); // not lowered: upper and lower case differ in the zone of an address
    } else {
        key_put_lowered(out, url->host);
    }
    if (url->has_port) {
        key_put_byte(out, ':');
    }
    key_put_bytes(out, url->port);
    if (url->needs_slash) {
        key_put_byte(out, '/');
    }
    key_put_bytes(out, url->rest);
}
