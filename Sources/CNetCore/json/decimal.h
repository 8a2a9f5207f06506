/// Numbers compared exactly as they are written, whatever their length.
///
/// A number is read in parts and keeps its first NC_SHAPE_MAX_DIGITS significant digits; that there were more is known,
/// which is all that a comparison with a shorter number needs.
#ifndef NETCORE_PRIVATE_JSON_DECIMAL_H
#define NETCORE_PRIVATE_JSON_DECIMAL_H

#include <netcore/shape.h>

/// 0.d1d2d3… × 10^exponent, d1 not 0; all zero is the beginning of a number.
typedef struct nc_decimal {
    bool is_negative;
    bool has_more; // digits that are not 0 behind those that are kept
    bool is_behind_point;
    bool is_in_exponent;
    bool is_exponent_negative;
    int64_t exponent; // of the digits alone until nc_decimal_end()
    int64_t written_exponent;
    uint64_t significant;  // digits from the first that is not 0
    uint64_t last_nonzero; // the place of the last digit that is not 0, counted from 1; 0 for zero
    uint8_t digits[NC_SHAPE_MAX_DIGITS];
} nc_decimal;

/// Takes the next part of a valid number.
void nc_decimal_feed(nc_decimal *decimal, nc_slice part);
/// The number is complete.
void nc_decimal_end(nc_decimal *decimal);

/// Whether the value has no fraction: 1.0 and 1e2 have none.
bool nc_decimal_is_integral(const nc_decimal *decimal);
/// Less than 0, 0 or more than 0 as `a` is below, equal to or above `b`, which must not have_more.
int nc_decimal_compare(const nc_decimal *a, const nc_decimal *b);

#endif
