#include "trust/pattern.h"

#include "base/ascii.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PORT = 65535 };

/// Removes a port from the end of `*text`: the digits behind the last colon that is not within brackets.
static bool split_port(nc_slice *text, uint16_t *port) {
    size_t at = text->length;
    *port = 0;
    while (at > 0 && nc_ascii_is_digit(text->data[at - 1])) {
        at--;
    }
    if (at == 0 || text->data[at - 1] != ':') {
        return true;
    }
    uint32_t number = 0;
    for (size_t i = at; i < text->length; i++) {
        number = number * 10 + (uint32_t)(text->data[i] - '0');
        if (number > MAX_PORT) {
            return false;
        }
    }
    bool has_colon_before = memchr(text->data, ':', at - 1) != NULL;
    if (has_colon_before && text->data[at - 2] != ']') {
        return true; // the last group of an IPv6 address without brackets, which parse() refuses
    }
    *port = (uint16_t)number;
    text->length = at - 1;
    return number > 0;
}

static bool begins_with(nc_slice text, const char *with) {
    size_t length = strlen(with);
    return text.length >= length && memcmp(text.data, with, length) == 0;
}

/// Returns true if the last label of a name is a number ("127.1", "0x7f000001"). URL parsers take such a name for an
/// address, so as a pattern it would match no host, and its pins would never apply.
static bool ends_in_number(const nc_host_name *host) {
    const char *dot = strrchr(host->text, '.');
    const char *label = dot != NULL ? dot + 1 : host->text;
    bool is_hex = label[0] == '0' && label[1] == 'x';
    return strspn(is_hex ? label + 2 : label, is_hex ? "0123456789abcdef" : "0123456789") + (is_hex ? 2 : 0) ==
           strlen(label);
}

/// Returns the text to compare: for an IPv4-mapped IPv6 address the IPv4 address, so that a rule for one applies to
/// both.
static const char *identity_of(const nc_host_name *host) {
    static const char mapped[] = "::ffff:";
    bool is_mapped =
        host->is_address && strncmp(host->text, mapped, sizeof mapped - 1) == 0 && strchr(host->text, '.') != NULL;
    return host->text + (is_mapped ? sizeof mapped - 1 : 0);
}

/// Returns true for ASCII without percent escapes and zones: a pattern is a host, not a part of a URL.
static bool is_plain(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] >= 0x80 || text.data[i] == '%') {
            return false;
        }
    }
    return true;
}

/// Returns true if an IPv4 address has four decimal parts. Another spelling ("127.1") is probably not meant as one.
static bool is_spelled_out(const nc_canonical_host *host, nc_slice name) {
    name.length -= name.data[name.length - 1] == '.' ? 1 : 0;
    return host->kind != NC_HOST_IPV4 || host->is_mapped || nc_slice_is_equal(host->text, name);
}

static bool parse_host(nc_pattern *out, nc_slice name) {
    nc_canonical_host host;
    if (!is_plain(name) || nc_host_read(&host, name, NULL) != NC_OK || !is_spelled_out(&host, name)) {
        return false;
    }
    nc_host_name certificate = nc_host_certificate_name(&host);
    out->host = (nc_host_name){.is_address = certificate.is_address};
    (void)snprintf(out->host.text, sizeof out->host.text, "%s", identity_of(&certificate));
    out->host.length = (uint16_t)strlen(out->host.text);
    return certificate.length > 0 && (certificate.is_address || !ends_in_number(&certificate));
}

/// Parses the name behind the stars, which must not be an address.
static bool parse_wild(nc_pattern *out, nc_slice name) {
    return parse_host(out, name) && !out->host.is_address;
}

static bool parse(nc_pattern *out, nc_slice text) {
    *out = (nc_pattern){.kind = NC_PATTERN_EXACT};
    if (!split_port(&text, &out->port)) {
        return false;
    }
    if (text.length == 2 && begins_with(text, "**")) {
        out->kind = NC_PATTERN_EVERY;
        return true;
    }
    if (begins_with(text, "**.")) {
        out->kind = NC_PATTERN_ANY_DEPTH;
        return parse_wild(out, nc_slice_make(text.data + 3, text.length - 3));
    }
    if (begins_with(text, "*.")) {
        out->kind = NC_PATTERN_ONE_LABEL;
        return parse_wild(out, nc_slice_make(text.data + 2, text.length - 2));
    }
    // An IPv6 address without brackets is refused, because its last group could be a port.
    bool is_bare_address = memchr(text.data, ':', text.length) != NULL && text.data[0] != '[';
    return !is_bare_address && parse_host(out, text);
}

nc_status nc_pattern_parse(nc_pattern *out, nc_slice text, nc_error *err) {
    nc_pattern parsed;
    if (text.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, 0, "the host pattern of a rule is empty");
    }
    if (!parse(&parsed, text)) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "'%.*s' is not a valid host pattern",
                            (int)(text.length < 128 ? text.length : 128), (const char *)text.data);
    }
    *out = parsed;
    return NC_OK;
}

static bool covers_name(const nc_pattern *pattern, const nc_host_name *host) {
    const nc_host_name *base = &pattern->host;
    bool is_same = base->length == host->length && memcmp(base->text, host->text, host->length) == 0;
    if (pattern->kind == NC_PATTERN_EVERY) {
        return true;
    }
    if (pattern->kind == NC_PATTERN_EXACT) {
        return base->is_address == host->is_address && strcmp(base->text, identity_of(host)) == 0;
    }
    if (host->is_address) {
        return false;
    }
    if (pattern->kind == NC_PATTERN_ANY_DEPTH && is_same) {
        return true;
    }
    if (host->length < base->length + 2u) {
        return false;
    }
    size_t before = (size_t)host->length - base->length; // with the dot
    return host->text[before - 1] == '.' && memcmp(host->text + before, base->text, base->length) == 0 &&
           (pattern->kind == NC_PATTERN_ANY_DEPTH || memchr(host->text, '.', before - 1) == NULL);
}

bool nc_pattern_covers(const nc_pattern *pattern, const nc_host_name *host, uint16_t port) {
    return (port == 0 || pattern->port == 0 || pattern->port == port) && covers_name(pattern, host);
}

int nc_pattern_compare(const nc_pattern *a, const nc_pattern *b) {
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->host.length != b->host.length) {
        return a->host.length > b->host.length ? -1 : 1;
    }
    int order = memcmp(a->host.text, b->host.text, a->host.length);
    if (order != 0 || a->port == b->port) {
        return order;
    }
    // The higher port first: a rule with a port precedes a rule without one, whose port is 0.
    return a->port > b->port ? -1 : 1;
}
