/// The texts of tokens: a decoder of escapes, the ends of numbers, and exact comparison of decimal numbers.
///
/// A scan delivers the text of a name, a string or a number as it is written. If a piece ends within a token, its text
/// is delivered in several parts. A part may end within an escape or between the halves of a surrogate pair, so the
/// decoder has a state:
///
///     nc_text_decoder decoder = {0};
///     nc_text_decode(&decoder, part, emit, ctx); // for each part
///     nc_text_decode_end(&decoder, emit, ctx);
///
/// Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_TOKEN_TEXT_H
#define NETCORE_PRIVATE_JSON_TOKEN_TEXT_H

#include <netcore/json.h>
#include <netcore/shape.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Flags of a part.
enum {
    NC_TEXT_FIRST = 1,
    NC_TEXT_LAST = 2,
    NC_TEXT_WHOLE = 3,
    NC_TEXT_PLAIN = 4,  // certainly without escapes; for a number: without fraction and exponent
    NC_TEXT_PADDED = 8, // eight bytes can be read from its start
};

/// Receives characters as UTF-8.
typedef void (*nc_text_fn)(void *ctx, nc_slice characters);

/// Decodes the escapes of a valid name or string. Start with a zeroed struct.
typedef struct nc_text_decoder {
    uint8_t digits_left; // hex digits that are still missing
    bool is_escaped;     // after '\'
    uint16_t unit;       // value of the digits so far
    uint16_t high;       // a pending high surrogate; 0 if there is none
    /// True emits half of a surrogate pair as three bytes that are not valid UTF-8, so that different names stay
    /// different. False emits U+FFFD.
    bool keeps_lone_surrogates;
} nc_text_decoder;

/// Decodes the next part.
void nc_text_decode(nc_text_decoder *decoder, nc_slice part, nc_text_fn emit, void *ctx);
/// Ends the text and emits a pending high surrogate.
void nc_text_decode_end(nc_text_decoder *decoder, nc_text_fn emit, void *ctx);

/* --- numbers --- */

// A decimal number is read in parts. Its first NC_SHAPE_MAX_DIGITS significant digits are stored, and a flag that
// others followed. That is enough, because it is only compared with numbers of a shape, which have no more digits.

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

/// Returns the number of digits from text[at] on.
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

/// Returns the end of the number that begins at text[at]. Returns 0 if there is no valid number, or if the text ends
/// within or directly after it. `*is_plain` becomes true if the number has neither fraction nor exponent.
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

/// A faster nc_number_end() for common numbers. It also returns 0 if there are more than 15 digits on one side of the
/// point, an exponent, or at most 40 bytes to the end of the text.
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

/// Returns true if text[at, end) is a number without exponent and has at most 16 bytes besides its sign. Reads up to 17
/// bytes, even beyond `end`.
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

/// Returns the end of true, false or null at text[at], whose first letter is `first`. Returns 0 if it is not that
/// literal, or if the text ends within or directly after it.
static inline size_t nc_literal_end(const uint8_t *text, size_t at, size_t length, uint8_t first) {
    size_t letters = first == 'f' ? 5 : 4;
    uint32_t found;
    uint32_t expected;
    if (length - at <= letters) {
        return 0;
    }
    memcpy(&found, text + at + letters - 4, sizeof found);
    memcpy(&expected, first == 't' ? "true" : first == 'f' ? "alse" : "null", sizeof expected);
    return found == expected && nc_number_is_delimiter(text[at + letters]) ? at + letters : 0;
}

/// A decimal number. Its value is 0.d1d2d3… × 10^exponent with d1 not 0. Start with a zeroed struct.
typedef struct nc_decimal {
    bool is_negative;
    bool has_more; // nonzero digits followed those that are stored
    bool is_after_point;
    bool is_in_exponent;
    bool is_exponent_negative;
    int64_t exponent; // until nc_decimal_end() without `written_exponent`
    int64_t written_exponent;
    uint64_t significant;  // number of digits from the first nonzero digit on
    uint64_t last_nonzero; // position of the last nonzero digit, counted from 1; 0 for zero
    uint8_t digits[NC_SHAPE_MAX_DIGITS];
} nc_decimal;

/// Adds the next part of the text of a valid number.
void nc_decimal_feed(nc_decimal *decimal, nc_slice part);
/// Completes the number.
void nc_decimal_end(nc_decimal *decimal);

/// Returns true if the value is an integer, such as 1.0 and 1e2.
bool nc_decimal_is_integral(const nc_decimal *decimal);
/// Returns a number below, equal to or above 0 if `a` is less than, equal to or greater than `b`. `b->has_more` must be
/// false.
int nc_decimal_compare(const nc_decimal *a, const nc_decimal *b);

#endif
