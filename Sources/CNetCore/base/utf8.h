/// Validation of UTF-8 (Unicode Standard, table 3-7; RFC 3629, 4).
#ifndef NETCORE_PRIVATE_UTF8_H
#define NETCORE_PRIVATE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/// Returns the length (1 to 4) of the well-formed sequence at `bytes`; 0 if there is none within `length`. Overlong
/// forms, surrogates and values above U+10FFFF are not well-formed.
size_t nc_utf8_sequence(const uint8_t *bytes, size_t length);

/// Returns the number of well-formed bytes at the start; `length` if all are.
size_t nc_utf8_span(const uint8_t *bytes, size_t length);

#endif
