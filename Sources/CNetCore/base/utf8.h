/// Well-formed UTF-8, by table 3-7 of the Unicode Standard (RFC 3629, 4).
#ifndef NETCORE_PRIVATE_UTF8_H
#define NETCORE_PRIVATE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/// Tells how many bytes the well-formed sequence at `bytes` has (1 to 4); 0 when there is none within `length`.
/// Overlong forms, surrogates and everything above U+10FFFF are not well-formed.
size_t nc_utf8_sequence(const uint8_t *bytes, size_t length);

/// Tells how many bytes at the start of `bytes` are well-formed; `length` when all are.
size_t nc_utf8_span(const uint8_t *bytes, size_t length);

#endif
