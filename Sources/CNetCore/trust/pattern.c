#include "trust/pattern.h"

#include "base/ascii.h"
#include "base/error.h"

#include <arpa/inet.h>
#include <string.h>

enum { MAX_LABEL_BYTES = 63, MAX_PORT = 65535 };

/* --- hosts --- */

static bool set_text(nc_host_name *out, const char *text, bool is_address) {
    size_t length = strlen(text);
    memcpy(out->text, text, length + 1);
    out->length = (uint16_t)length;
    out->is_address = is_address;
    return true;
}

/// Parses an address in any spelling and stores the system's canonical one.
static bool take_address(nc_host_name *out, const char *text, bool is_bracketed) {
    struct in6_addr address;
    char written[INET6_ADDRSTRLEN];
    int family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    if (family == AF_INET && is_bracketed) {
        return false;
    }
    return inet_pton(family, text, &address) == 1 && inet_ntop(family, &address, written, sizeof written) != NULL &&
           set_text(out, written, true);
}

/// Letters, digits, '-' and '_' (in names of services), at most 63 to a label.
static bool is_name(const char *text, size_t length) {
    size_t label = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (byte == '.') {
            if (label == 0) {
                return false;
            }
            label = 0;
            continue;
        }
        bool is_allowed = nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) || byte == '_' || byte == '-';
        if (!is_allowed || ++label > MAX_LABEL_BYTES) {
            return false;
        }
    }
    return label > 0;
}

bool nc_host_name_parse(nc_host_name *out, nc_slice text) {
    char copy[NC_MAX_HOST_BYTES + 3];
    bool is_bracketed = text.length >= 2 && text.data[0] == '[' && text.data[text.length - 1] == ']';
    if (is_bracketed) {
        text = nc_slice_make(text.data + 1, text.length - 2);
    }
    if (text.length == 0 || text.length > NC_MAX_HOST_BYTES + 1 || memchr(text.data, 0, text.length) != NULL) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        copy[i] = (char)nc_ascii_lower(text.data[i]);
    }
    size_t length = text.length;
    copy[length] = '\0';
    if (take_address(out, copy, is_bracketed)) {
        return true;
    }
    // "name." is the same host as "name".
    if (copy[length - 1] == '.') {
        copy[--length] = '\0';
    }
    if (is_bracketed || length > NC_MAX_HOST_BYTES || !is_name(copy, length)) {
        return false;
    }
    return take_address(out, copy, false) || set_text(out, copy, false);
}

/* --- patterns --- */

/// Splits off a port: the digits after the last colon outside brackets.
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
        return true; // the end of an IPv6 address without brackets, which is not accepted
    }
    *port = (uint16_t)number;
    text->length = at - 1;
    return number > 0;
}

static bool begins_with(nc_slice text, const char *with) {
    size_t length = strlen(with);
    return text.length >= length && memcmp(text.data, with, length) == 0;
}

/// URL parsers read a name whose last label is a number as an address ("127.1", "0x7f000001"). As a pattern it would
/// match no host, and its pins would never apply.
static bool ends_in_number(const nc_host_name *host) {
    const char *dot = strrchr(host->text, '.');
    const char *label = dot != NULL ? dot + 1 : host->text;
    bool is_hex = label[0] == '0' && label[1] == 'x';
    return strspn(is_hex ? label + 2 : label, is_hex ? "0123456789abcdef" : "0123456789") + (is_hex ? 2 : 0) ==
           strlen(label);
}

/// An IPv4-mapped IPv6 address is the same host as the IPv4 address: a rule for one applies to both.
static const char *identity_of(const nc_host_name *host) {
    static const char mapped[] = "::ffff:";
    bool is_mapped =
        host->is_address && strncmp(host->text, mapped, sizeof mapped - 1) == 0 && strchr(host->text, '.') != NULL;
    return host->text + (is_mapped ? sizeof mapped - 1 : 0);
}

static bool parse_host(nc_pattern *out, nc_slice name) {
    nc_host_name host;
    if (!nc_host_name_parse(&host, name) || (!host.is_address && ends_in_number(&host))) {
        return false;
    }
    return set_text(&out->host, identity_of(&host), host.is_address);
}

/// Parses the part after the stars, which must be a name.
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
    // Without brackets, the end of an IPv6 address looks like a port.
    bool is_bare_address = memchr(text.data, ':', text.length) != NULL && text.data[0] != '[';
    return !is_bare_address && parse_host(out, text);
}

nc_status nc_pattern_parse(nc_pattern *out, nc_slice text, nc_error *err) {
    nc_pattern parsed;
    if (text.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, 0, "the host pattern of a rule is empty");
    }
    if (!parse(&parsed, text)) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "'%.*s' is no host pattern",
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
    // The higher number first, so that a rule with a port precedes one without.
    return a->port > b->port ? -1 : 1;
}
