/// Validation and encoding of UTF-8 (Unicode Standard, table 3-7; RFC 3629, 4).
#ifndef NETCORE_PRIVATE_UTF8_H
#define NETCORE_PRIVATE_UTF8_H

#include <netcore/bytes.h>

/// Returns the length (1 to 4) of the well-formed character at the start of `bytes`; 0 if it is malformed or longer
/// than `length`. Overlong forms, surrogates and values above U+10FFFF are malformed.
size_t nc_utf8_sequence(const uint8_t *bytes, size_t length);

/// Returns the length of the longest well-formed start of `bytes`.
size_t nc_utf8_span(const uint8_t *bytes, size_t length);

/// The state of a check of text that arrives in pieces. All zero at the start of a text.
typedef struct nc_utf8_check {
    uint8_t needed; // bytes that are missing from the last character
    uint8_t low;    // bounds of the next of them
    uint8_t high;
} nc_utf8_check;

/// Checks the next piece. Returns false as soon as the text cannot become well-formed; the state is then undefined. The
/// text may end here if `check->needed` is 0.
bool nc_utf8_check_piece(nc_utf8_check *check, nc_slice piece);

/// Appends a character, at most U+10FFFF. A failure is sticky in `out`.
void nc_utf8_append(nc_buf *out, uint32_t character);

#endif
