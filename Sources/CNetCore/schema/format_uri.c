#include "schema/format_rules.h"

#include "base/ascii.h"

#include <netcore/url.h>

static bool is_unreserved(uint8_t byte) {
    return nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) || (byte != 0 && strchr("-._~", byte) != NULL);
}

static bool is_sub_delimiter(uint8_t byte) {
    return byte != 0 && strchr("!$&'()*+,;=", byte) != NULL;
}

/// Returns true if text[at] begins a percent-encoded byte.
static bool is_encoded(nc_slice text, size_t at) {
    return text.length - at > 2 && nc_ascii_hex(text.data[at + 1]) >= 0 && nc_ascii_hex(text.data[at + 2]) >= 0;
}

/// Returns true if a part has only unreserved characters, sub-delimiters, encoded bytes and those of `others`. Bytes
/// beyond ASCII are valid in an IRI.
static bool has_only(nc_slice part, const char *others, bool is_iri) {
    for (size_t i = 0; i < part.length; i++) {
        uint8_t byte = part.data[i];
        bool is_valid = byte >= 0x80  ? is_iri
                        : byte == '%' ? is_encoded(part, i)
                                      : is_unreserved(byte) || is_sub_delimiter(byte) ||
                                            (byte != 0 && strchr(others, byte) != NULL);
        if (!is_valid) {
            return false;
        }
    }
    return true;
}

static bool is_scheme(nc_slice scheme) {
    for (size_t i = 0; i < scheme.length; i++) {
        uint8_t byte = scheme.data[i];
        bool is_other = nc_ascii_is_digit(byte) || byte == '+' || byte == '-' || byte == '.';
        if (!nc_ascii_is_alpha(byte) && (i == 0 || !is_other)) {
            return false;
        }
    }
    return scheme.length > 0;
}

/// Returns true for an IPv6 address, or an address of a future version, without its brackets (RFC 3986, 3.2.2).
static bool is_literal(nc_slice address) {
    if (address.length == 0 || nc_ascii_lower(address.data[0]) != 'v') {
        return nc_format_is_ipv6(address);
    }
    size_t point = 1;
    while (point < address.length && nc_ascii_hex(address.data[point]) >= 0) {
        point++;
    }
    return point > 1 && point + 1 < address.length && address.data[point] == '.' &&
           has_only(nc_slice_make(address.data + point + 1, address.length - point - 1), ":", false) &&
           memchr(address.data, '%', address.length) == NULL;
}

static bool is_host(nc_slice host, bool is_iri) {
    if (host.length > 0 && host.data[0] == '[') {
        return host.length > 2 && host.data[host.length - 1] == ']' &&
               is_literal(nc_slice_make(host.data + 1, host.length - 2));
    }
    return has_only(host, "", is_iri);
}

static bool is_authority(const nc_url_parts *parts, bool is_iri) {
    for (size_t i = 0; i < parts->port.length; i++) {
        if (!nc_ascii_is_digit(parts->port.data[i])) {
            return false;
        }
    }
    return has_only(parts->userinfo, ":", is_iri) && is_host(parts->host, is_iri);
}

/// Returns true for a path whose first segment may be read as a scheme, in a reference without one (RFC 3986, 4.2).
static bool has_colon_in_first_segment(nc_slice path) {
    const uint8_t *colon = path.length == 0 ? NULL : memchr(path.data, ':', path.length);
    const uint8_t *slash = path.length == 0 ? NULL : memchr(path.data, '/', path.length);
    return colon != NULL && (slash == NULL || colon < slash);
}

static bool is_reference(nc_slice text, bool needs_scheme, bool is_iri) {
    nc_url_parts parts = nc_url_split(text);
    bool has_scheme = parts.scheme.length > 0;
    if ((needs_scheme && !has_scheme) || (has_scheme && !is_scheme(parts.scheme)) ||
        (!has_scheme && !parts.has_authority && has_colon_in_first_segment(parts.path))) {
        return false;
    }
    return (!parts.has_authority || is_authority(&parts, is_iri)) && has_only(parts.path, ":@/", is_iri) &&
           has_only(parts.query, ":@/?", is_iri) && has_only(parts.fragment, ":@/?", is_iri);
}

bool nc_format_is_uri(nc_slice text) {
    return is_reference(text, true, false);
}

bool nc_format_is_uri_reference(nc_slice text) {
    return is_reference(text, false, false);
}

bool nc_format_is_iri(nc_slice text) {
    return is_reference(text, true, true);
}

bool nc_format_is_iri_reference(nc_slice text) {
    return is_reference(text, false, true);
}

/* --- templates --- */

/// Returns the end of a variable name at text[at]; `at` if there is none.
static size_t variable_end(nc_slice text, size_t at) {
    size_t from = at;
    while (at < text.length) {
        uint8_t byte = text.data[at];
        bool is_point = byte == '.' && at > from && text.data[at - 1] != '.';
        if (byte == '%' && is_encoded(text, at)) {
            at += 3;
        } else if (nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) || byte == '_' || is_point) {
            at++;
        } else {
            break;
        }
    }
    return at > from && text.data[at - 1] == '.' ? from : at;
}

/// Returns the end of a modifier at text[at]: nothing, "*", or ":" and a number from 1 to 9999. SIZE_MAX if malformed.
static size_t modifier_end(nc_slice text, size_t at) {
    if (at < text.length && text.data[at] == '*') {
        return at + 1;
    }
    if (at == text.length || text.data[at] != ':') {
        return at;
    }
    size_t from = ++at;
    while (at < text.length && nc_ascii_is_digit(text.data[at])) {
        at++;
    }
    return at == from || at - from > 4 || text.data[from] == '0' ? SIZE_MAX : at;
}

/// Returns true for the text between braces.
static bool is_expression(nc_slice text) {
    size_t at = text.length > 0 && text.data[0] != 0 && strchr("+#./;?&", text.data[0]) != NULL ? 1 : 0;
    for (;;) {
        size_t end = variable_end(text, at);
        if (end == at) {
            return false;
        }
        at = modifier_end(text, end);
        if (at == SIZE_MAX || at == text.length) {
            return at == text.length;
        }
        if (text.data[at++] != ',') {
            return false;
        }
    }
}

/// Returns true for a byte that a literal may have (RFC 6570, 2.1).
static bool is_literal_byte(nc_slice text, size_t at) {
    uint8_t byte = text.data[at];
    if (byte == '%') {
        return is_encoded(text, at);
    }
    return byte > 0x20 && byte != 0x7F && strchr("\"<>\\^`{|}", byte) == NULL;
}

bool nc_format_is_uri_template(nc_slice text) {
    for (size_t at = 0; at < text.length; at++) {
        if (text.data[at] != '{') {
            if (!is_literal_byte(text, at)) {
                return false;
            }
            continue;
        }
        const uint8_t *end = memchr(text.data + at, '}', text.length - at);
        if (end == NULL || !is_expression(nc_slice_make(text.data + at + 1, (size_t)(end - text.data) - at - 1))) {
            return false;
        }
        at = (size_t)(end - text.data);
    }
    return true;
}
