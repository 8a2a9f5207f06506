/// Exact comparison of decimal numbers of any length.
///
/// A number is read in parts. Its first NC_SHAPE_MAX_DIGITS significant digits are kept, and a flag records that more
/// followed. A comparison with a shorter number needs no more.
#ifndef NETCORE_PRIVATE_JSON_DECIMAL_H
#define NETCORE_PRIVATE_JSON_DECIMAL_H

#include <netcore/shape.h>

/// The value is 0.d1d2d3… × 10^exponent with d1 not 0. A zeroed struct is ready for a number.
typedef struct nc_decimal {
    bool is_negative;
    bool has_more; // more nonzero digits followed those that are kept
    bool is_behind_point;
    bool is_in_exponent;
    bool is_exponent_negative;
    int64_t exponent; // counts only the digits until nc_decimal_end()
    int64_t written_exponent;
    uint64_t significant;  // digits from the first nonzero digit on
    uint64_t last_nonzero; // position of the last nonzero digit, counted from 1; 0 for zero
    uint8_t digits[NC_SHAPE_MAX_DIGITS];
} nc_decimal;

/// Adds the next part of a valid number.
void nc_decimal_feed(nc_decimal *decimal, nc_slice part);
/// Completes the number.
void nc_decimal_end(nc_decimal *decimal);

/// Returns true if the value has no fraction, as 1.0 and 1e2.
bool nc_decimal_is_integral(const nc_decimal *decimal);
/// Returns a number below, equal to or above 0 if `a` is less than, equal to or greater than `b`. `b` must not
/// have_more.
int nc_decimal_compare(const nc_decimal *a, const nc_decimal *b);

#endif
