#include "schema/format_rules.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/host.h"

enum { MAX_LABEL = 63, MAX_LOCAL_PART = 64 };

/* --- addresses --- */

/// Returns the end of a decimal number up to 255 without leading zeros at text[at]; `at` if there is none.
static size_t octet_end(nc_slice text, size_t at) {
    unsigned value = 0;
    size_t end = at;
    while (end < text.length && end - at < 3 && nc_ascii_is_digit(text.data[end])) {
        value = value * 10 + (unsigned)(text.data[end++] - '0');
    }
    return value > 255 || (end - at > 1 && text.data[at] == '0') ? at : end;
}

bool nc_format_is_ipv4(nc_slice text) {
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        size_t end = octet_end(text, at);
        if (end == at || (i < 3 && (end == text.length || text.data[end] != '.'))) {
            return false;
        }
        at = end + (i < 3 ? 1 : 0);
    }
    return at == text.length;
}

bool nc_format_is_ipv6(nc_slice text) {
    size_t at = 0;
    unsigned groups = 0;
    bool is_shortened = false;
    while (at < text.length) {
        size_t end = at;
        while (end < text.length && end - at < 4 && nc_ascii_hex(text.data[end]) >= 0) {
            end++;
        }
        if (end < text.length && text.data[end] == '.') {
            groups += 2;
            return nc_format_is_ipv4(nc_slice_make(text.data + at, text.length - at)) &&
                   (is_shortened ? groups < 8 : groups == 8);
        }
        if (end > at) {
            groups++;
        } else if (at > 0) {
            return false;
        }
        if (end == text.length) {
            break;
        }
        bool is_double = end + 1 < text.length && text.data[end] == ':' && text.data[end + 1] == ':';
        if (text.data[end] != ':' || (is_double && is_shortened) || (!is_double && end == at) ||
            (!is_double && end + 1 == text.length)) {
            return false;
        }
        is_shortened |= is_double;
        at = end + (is_double ? 2 : 1);
        if (is_double && at == text.length) {
            break;
        }
    }
    return is_shortened ? groups < 8 : groups == 8;
}

/* --- names --- */

static bool is_ldh_label(nc_slice label) {
    for (size_t i = 0; i < label.length; i++) {
        uint8_t byte = label.data[i];
        bool is_edge = i == 0 || i + 1 == label.length;
        if (!nc_ascii_is_alpha(byte) && !nc_ascii_is_digit(byte) && (is_edge || byte != '-')) {
            return false;
        }
    }
    return label.length > 0 && label.length <= MAX_LABEL;
}

static bool is_label(nc_slice label, bool is_international) {
    if (!nc_ascii_is_all(label)) {
        return is_international && nc_host_is_registrable_label(label);
    }
    bool is_encoded =
        label.length > 4 && nc_slice_is_equal_ignoring_case(nc_slice_make(label.data, 4), nc_slice_of("xn--"));
    bool has_reserved_dashes = label.length > 4 && label.data[2] == '-' && label.data[3] == '-';
    return is_ldh_label(label) && (is_encoded ? nc_host_is_registrable_label(label) : !has_reserved_dashes);
}

/// Returns the length of the separator of labels at text[at]; 0 if there is none. The full stops of East Asian scripts
/// separate the labels of an international name, too (RFC 3490, 3.1).
static size_t separator_length(nc_slice text, size_t at, bool is_international) {
    static const char *const stops[] = {"\u3002", "\uFF0E", "\uFF61"};
    if (text.data[at] == '.') {
        return 1;
    }
    for (size_t i = 0; i < 3 && is_international && text.length - at >= 3; i++) {
        if (memcmp(text.data + at, stops[i], 3) == 0) {
            return 3;
        }
    }
    return 0;
}

static bool is_name(nc_slice text, bool is_international) {
    size_t from = 0;
    // An international name may be longer in UTF-8 than in its encoded form.
    size_t max_bytes = is_international && !nc_ascii_is_all(text) ? 4 * (size_t)NC_HOST_MAX_BYTES : NC_HOST_MAX_BYTES;
    if (text.length == 0 || text.length > max_bytes) {
        return false;
    }
    for (size_t at = 0; at < text.length; at++) {
        size_t separator = separator_length(text, at, is_international);
        if (separator > 0) {
            if (!is_label(nc_slice_make(text.data + from, at - from), is_international)) {
                return false;
            }
            from = at + separator;
            at = from - 1;
        }
    }
    return is_label(nc_slice_make(text.data + from, text.length - from), is_international);
}

bool nc_format_is_hostname(nc_slice text) {
    return is_name(text, false);
}

bool nc_format_is_idn_hostname(nc_slice text) {
    return is_name(text, true);
}

/* --- mailboxes --- */

/// Returns true for a character of an atom (RFC 5322, 3.2.3; RFC 6531, 3.3).
static bool is_atom_byte(uint8_t byte, bool is_international) {
    return byte >= 0x80 ? is_international
                        : nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) ||
                              (byte != 0 && strchr("!#$%&'*+-/=?^_`{|}~", byte) != NULL);
}

static bool is_dot_atom(nc_slice text, bool is_international) {
    for (size_t i = 0; i < text.length; i++) {
        bool is_dot = text.data[i] == '.' && i > 0 && i + 1 < text.length && text.data[i - 1] != '.';
        if (!is_dot && !is_atom_byte(text.data[i], is_international)) {
            return false;
        }
    }
    return text.length > 0;
}

/// Returns true for a quoted string, with its quotes.
static bool is_quoted(nc_slice text, bool is_international) {
    if (text.length < 2 || text.data[0] != '"' || text.data[text.length - 1] != '"') {
        return false;
    }
    for (size_t i = 1; i + 1 < text.length; i++) {
        uint8_t byte = text.data[i];
        if (byte == '\\') {
            byte = ++i + 1 < text.length ? text.data[i] : 0;
        } else if (byte == '"') {
            return false;
        }
        if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !is_international)) {
            return false;
        }
    }
    return true;
}

/// Returns true for an address in brackets.
static bool is_address_literal(nc_slice text) {
    static const char prefix[] = "IPv6:";
    const size_t length = sizeof prefix - 1;
    if (text.length < 2 || text.data[0] != '[' || text.data[text.length - 1] != ']') {
        return false;
    }
    nc_slice address = nc_slice_make(text.data + 1, text.length - 2);
    bool is_ipv6 = address.length > length &&
                   nc_slice_is_equal_ignoring_case(nc_slice_make(address.data, length), nc_slice_of(prefix));
    return is_ipv6 ? nc_format_is_ipv6(nc_slice_make(address.data + length, address.length - length))
                   : nc_format_is_ipv4(address);
}

static bool is_mailbox(nc_slice text, bool is_international) {
    size_t at = text.length;
    while (at > 0 && text.data[at - 1] != '@') {
        at--;
    }
    if (at < 2 || at - 1 > MAX_LOCAL_PART) {
        return false;
    }
    nc_slice local = nc_slice_make(text.data, at - 1);
    nc_slice domain = nc_slice_make(text.data + at, text.length - at);
    return (is_dot_atom(local, is_international) || is_quoted(local, is_international)) &&
           (is_name(domain, is_international) || is_address_literal(domain));
}

bool nc_format_is_email(nc_slice text) {
    return is_mailbox(text, false);
}

bool nc_format_is_idn_email(nc_slice text) {
    return is_mailbox(text, true);
}
