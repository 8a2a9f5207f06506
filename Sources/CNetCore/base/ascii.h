/// ASCII character classes of HTTP. Unlike ctype.h they do not depend on the locale.
#ifndef NETCORE_PRIVATE_ASCII_H
#define NETCORE_PRIVATE_ASCII_H

#include <netcore/bytes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t nc_ascii_lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}
static inline bool nc_ascii_is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}
static inline bool nc_ascii_is_alpha(uint8_t c) {
    return nc_ascii_lower(c) >= 'a' && nc_ascii_lower(c) <= 'z';
}

/// Returns true for a space or a tab: OWS and BWS of RFC 9110, 5.6.3.
static inline bool nc_ascii_is_blank(uint8_t c) {
    return c == ' ' || c == '\t';
}
/// Returns the text without blanks at both ends.
static inline nc_slice nc_ascii_trim(nc_slice text) {
    while (text.length > 0 && nc_ascii_is_blank(text.data[0])) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && nc_ascii_is_blank(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}
/// Returns the value of a hexadecimal digit, or -1.
static inline int nc_ascii_hex(uint8_t c) {
    uint8_t lower = nc_ascii_lower(c);
    return nc_ascii_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Returns true if no byte is above 0x7f. Reads 8 bytes at a time, because this function is called for each URL.
static inline bool nc_ascii_is_all(nc_slice text) {
    uint64_t seen = 0;
    size_t at = 0;
    for (; at + sizeof seen <= text.length; at += sizeof seen) {
        uint64_t word;
        memcpy(&word, text.data + at, sizeof word);
        seen |= word;
    }
    for (; at < text.length; at++) {
        seen |= text.data[at];
    }
    return (seen & 0x8080808080808080u) == 0;
}

/// Returns true if the text has a control character other than a tab. Skips 8 bytes at a time, because this function is
/// called for each value of a head.
static inline bool nc_ascii_has_control(nc_slice text) {
    const uint64_t ones = 0x0101010101010101u;
    size_t at = 0;
    for (; at + sizeof ones <= text.length; at += sizeof ones) {
        uint64_t word;
        memcpy(&word, text.data + at, sizeof word);
        uint64_t del = word ^ ones * 0x7f;
        if ((((word - ones * ' ') & ~word) | ((del - ones) & ~del)) & ones * 0x80) {
            break; // a byte below the space, or DEL
        }
    }
    for (; at < text.length; at++) {
        uint8_t c = text.data[at];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return true;
        }
    }
    return false;
}

/// Copies a NUL-terminated text, truncated to fit into `bytes` with its NUL. snprintf() takes ten times as long.
static inline void nc_ascii_copy(char *out, size_t bytes, const char *text) {
    size_t length = strlen(text);
    length = length < bytes ? length : bytes - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

/// Returns true for a tchar (RFC 9110, 5.6.2). Methods and field names consist of tchars.
///
/// A bit set is fast; this function is called for each byte of each field name. The first word contains digits and
/// "!#$%&'*+-.", the second letters and "^_`|~".
static inline bool nc_ascii_is_token(uint8_t c) {
    static const uint64_t bits[4] = {0x03ff6cfa00000000u, 0x57ffffffc7fffffeu, 0, 0};
    return (bits[c >> 6] >> (c & 63) & 1) != 0;
}

#endif
