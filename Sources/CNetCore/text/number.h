/// Numbers as text and back to back: shortest, exact, and the same in every locale.
#ifndef NETCORE_PRIVATE_NUMBER_H
#define NETCORE_PRIVATE_NUMBER_H

#include <netcore/bytes.h>

/// Bytes at `out` that the two below may take.
#define NC_NUMBER_BYTES 32u

/// Writes an integer in decimal; returns how many bytes.
size_t nc_number_format_integer(uint8_t *out, int64_t value);

/// Writes the fewest digits that read back as `value` (the closest of those), plainly from 1e-6 up to 1e21 and else
/// with an exponent without '+'; returns how many bytes, 0 for what is not finite.
size_t nc_number_format_double(uint8_t *out, double value);

/// Tells whether the text is a number as RFC 8259, 6 spells it.
bool nc_number_is_valid(nc_slice text);

#endif
