/// Locale-free character classes of the protocols.
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

/// tchar of RFC 9110, 5.6.2: what methods and header names are made of.
static inline bool nc_ascii_is_token(uint8_t c) {
    if (nc_ascii_is_digit(c) || nc_ascii_is_alpha(c)) {
        return true;
    }
    switch (c) {
    case '!':
    case '#':
    case '$':
    case '%':
    case '&':
    case '\'':
    case '*':
    case '+':
    case '-':
    case '.':
    case '^':
    case '_':
    case '`':
    case '|':
    case '~':
        return true;
    default:
        return false;
    }
}

#endif
