/// Locale-independent character classes of the protocols.
#ifndef NETCORE_PRIVATE_ASCII_H
#define NETCORE_PRIVATE_ASCII_H

#include <stdbool.h>
#include <stdint.h>

static inline uint8_t nc_ascii_lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}
static inline bool nc_ascii_is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}
static inline bool nc_ascii_is_alpha(uint8_t c) {
    return nc_ascii_lower(c) >= 'a' && nc_ascii_lower(c) <= 'z';
}

/// Returns true for a tchar (RFC 9110, 5.6.2), which methods and field names consist of.
///
/// It is a bit set, because it is called for each byte of each field name. Below 64 are digits and "!#$%&'*+-.", below
/// 128 letters and "^_`|~", above none.
static inline bool nc_ascii_is_token(uint8_t c) {
    static const uint64_t bits[4] = {0x03ff6cfa00000000u, 0x57ffffffc7fffffeu, 0, 0};
    return (bits[c >> 6] >> (c & 63) & 1) != 0;
}

#endif
