#include "json/decimal.h"

/// Exponents are clamped here. Only a number longer than any possible text could need more.
static const int64_t max_exponent = INT64_C(1000000000000000000);

static void take_digit(nc_decimal *decimal, uint8_t digit) {
    if (decimal->is_in_exponent) {
        if (decimal->written_exponent < max_exponent / 10) {
            decimal->written_exponent = decimal->written_exponent * 10 + digit;
        }
        return;
    }
    if (decimal->significant == 0 && digit == 0) {
        decimal->exponent -= decimal->is_behind_point ? 1 : 0;
        return;
    }
    if (decimal->significant < NC_SHAPE_MAX_DIGITS) {
        decimal->digits[decimal->significant] = digit;
    } else if (digit != 0) {
        decimal->has_more = true;
    }
    decimal->significant++;
    decimal->exponent += decimal->is_behind_point ? 0 : 1;
    if (digit != 0) {
        decimal->last_nonzero = decimal->significant;
    }
}

void nc_decimal_feed(nc_decimal *decimal, nc_slice part) {
    for (size_t i = 0; i < part.length; i++) {
        uint8_t byte = part.data[i];
        if (byte >= '0' && byte <= '9') {
            take_digit(decimal, (uint8_t)(byte - '0'));
        } else if (byte == '.') {
            decimal->is_behind_point = true;
        } else if (byte == 'e' || byte == 'E') {
            decimal->is_in_exponent = true;
        } else if (byte == '-' && decimal->is_in_exponent) {
            decimal->is_exponent_negative = true;
        } else if (byte == '-') {
            decimal->is_negative = true;
        }
    }
}

void nc_decimal_end(nc_decimal *decimal) {
    int64_t written = decimal->is_exponent_negative ? -decimal->written_exponent : decimal->written_exponent;
    decimal->exponent += written;
}

bool nc_decimal_is_integral(const nc_decimal *decimal) {
    return decimal->last_nonzero == 0 ||
           (decimal->exponent > 0 && (uint64_t)decimal->exponent >= decimal->last_nonzero);
}

static int compare_magnitudes(const nc_decimal *a, const nc_decimal *b) {
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -1 : 1;
    }
    for (uint64_t i = 0; i < NC_SHAPE_MAX_DIGITS; i++) {
        // Unused digits are 0.
        if (a->digits[i] != b->digits[i]) {
            return a->digits[i] < b->digits[i] ? -1 : 1;
        }
    }
    return a->has_more ? 1 : 0;
}

int nc_decimal_compare(const nc_decimal *a, const nc_decimal *b) {
    bool is_a_zero = a->last_nonzero == 0;
    bool is_b_zero = b->last_nonzero == 0;
    if (is_a_zero || is_b_zero) {
        int of_a = is_a_zero ? 0 : a->is_negative ? -1 : 1;
        int of_b = is_b_zero ? 0 : b->is_negative ? -1 : 1;
        return of_a - of_b;
    }
    if (a->is_negative != b->is_negative) {
        return a->is_negative ? -1 : 1;
    }
    int order = compare_magnitudes(a, b);
    return a->is_negative ? -order : order;
}
