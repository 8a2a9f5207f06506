/// Numbers as text and back: shortest, exact, and independent of the locale.
#ifndef NETCORE_PRIVATE_NUMBER_H
#define NETCORE_PRIVATE_NUMBER_H

#include <netcore/bytes.h>

/// The largest output of the two functions below, in bytes.
#define NC_NUMBER_BYTES 32u

/// Writes an integer in decimal and returns the length.
size_t nc_number_format_integer(uint8_t *out, int64_t value);

/// Writes the fewest digits that read back as `value`; if there are several, the closest. Plain from 1e-6 to below
/// 1e21, otherwise with an exponent without '+'. Returns the length; 0 if the value is not finite.
size_t nc_number_format_double(uint8_t *out, double value);

/// Returns true if the text is a number by RFC 8259, 6.
bool nc_number_is_valid(nc_slice text);

#endif
