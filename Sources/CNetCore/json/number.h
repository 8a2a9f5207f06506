/// Fast search for the end of a number.
#ifndef NETCORE_PRIVATE_JSON_NUMBER_H
#define NETCORE_PRIVATE_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Returns true for a byte that may follow a value.
static inline bool nc_number_is_delimiter(uint8_t byte) {
    return byte == ',' || byte == ']' || byte == '}' || byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

#if defined(__SSE2__)
/// Returns a mask of the digits among 16 bytes.
static inline unsigned nc_number_digit_mask(const uint8_t *text) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    __m128i value = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value));
}
#endif

/// Counts digits at text[at, length).
static inline size_t nc_number_digits(const uint8_t *text, size_t at, size_t length) {
    size_t from = at;
#if defined(__SSE2__)
    while (length - at >= 16) {
        unsigned digits = nc_number_digit_mask(text + at);
        if (digits != 0xFFFF) {
            return at + (size_t)__builtin_ctz(~digits) - from;
        }
        at += 16;
    }
#endif
    while (at < length && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    return at - from;
}

/// Returns the end of the number that begins at text[at]. Returns 0 if it is not a number, or the text ends within it
/// or right after it. `*is_plain` is true if it has neither fraction nor exponent.
static inline size_t nc_number_end(bool *is_plain, const uint8_t *text, size_t at, size_t length) {
    *is_plain = true;
    at += text[at] == '-' ? 1 : 0;
    size_t digits = nc_number_digits(text, at, length);
    if (digits == 0 || (digits > 1 && text[at] == '0')) {
        return 0;
    }
    at += digits;
    if (at < length && text[at] == '.') {
        digits = nc_number_digits(text, at + 1, length);
        if (digits == 0) {
            return 0;
        }
        at += digits + 1;
        *is_plain = false;
    }
    if (at < length && (text[at] | 0x20) == 'e') {
        *is_plain = false;
        at++;
        at += at < length && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        digits = nc_number_digits(text, at, length);
        if (digits == 0) {
            return 0;
        }
        at += digits;
    }
    return at < length && nc_number_is_delimiter(text[at]) ? at : 0;
}

/// Like nc_number_end(), but faster. Also returns 0 with more than 15 digits on a side of the point, with an exponent,
/// or near the text's end.
static inline size_t nc_number_short_end(bool *is_plain, const uint8_t *text, size_t at, size_t length) {
#if defined(__SSE2__)
    if (length - at <= 40) {
        return 0;
    }
    at += text[at] == '-' ? 1 : 0;
    size_t digits = (size_t)__builtin_ctz(~nc_number_digit_mask(text + at));
    if (digits == 0 || digits == 16 || (text[at] == '0' && digits > 1)) {
        return 0;
    }
    at += digits;
    *is_plain = text[at] != '.';
    if (!*is_plain) {
        digits = (size_t)__builtin_ctz(~nc_number_digit_mask(text + at + 1));
        if (digits == 0 || digits == 16) {
            return 0;
        }
        at += digits + 1;
    }
    return nc_number_is_delimiter(text[at]) ? at : 0;
#else
    (void)is_plain, (void)text, (void)at, (void)length;
    return 0;
#endif
}

/// Returns true if text[at, end) is a number without exponent of at most 16 bytes, not counting its sign. Reads up to
/// 17 bytes.
static inline bool nc_number_is_short(bool *is_plain, const uint8_t *text, size_t at, size_t end) {
#if defined(__SSE2__)
    at += text[at] == '-' ? 1 : 0;
    size_t length = end - at;
    if (length - 1 >= 16) {
        return false;
    }
    unsigned others = ~nc_number_digit_mask(text + at) & ((1u << length) - 1);
    *is_plain = others == 0;
    if (others == 0) {
        return length == 1 || text[at] != '0';
    }
    size_t point = (size_t)__builtin_ctz(others);
    return (others & (others - 1)) == 0 && text[at + point] == '.' && point + 1 < length &&
           (point == 1 || (point > 1 && text[at] != '0'));
#else
    (void)is_plain, (void)text, (void)at, (void)end;
    return false;
#endif
}

/// Like nc_number_short_end(), for true, false and null.
static inline size_t nc_word_end(const uint8_t *text, size_t at, size_t length, uint8_t first) {
    size_t letters = first == 'f' ? 5 : 4;
    uint32_t found;
    uint32_t wanted;
    if (length - at <= letters) {
        return 0;
    }
    memcpy(&found, text + at + letters - 4, sizeof found);
    memcpy(&wanted, first == 't' ? "true" : first == 'f' ? "alse" : "null", sizeof wanted);
    return found == wanted && nc_number_is_delimiter(text[at + letters]) ? at + letters : 0;
}

#endif
