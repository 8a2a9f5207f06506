#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// JSON numbers as doubles, independent of the locale.
#include "internal.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_EXACT_POWER = 22,    // 10^22 is the largest power of ten that is a double
    MAX_EXTENDED_POWER = 27, // of an x87 long double
    MAX_EXPONENT = 100000,
    STACK_DIGITS = 64,
};

/// The digits of a number, as an integer and a power of ten.
typedef struct decimal {
    uint64_t mantissa;
    int exponent;
    bool is_exact;   // false if the mantissa has too many digits for 64 bits
    bool is_integer; // without a fraction or an exponent
    bool is_negative;
} decimal;

static void add_digit(decimal *out, uint8_t digit, bool is_fraction) {
    uint64_t value = (uint64_t)(digit - '0');
    if (out->mantissa > (UINT64_MAX - 9) / 10) {
        out->is_exact = false;
        return;
    }
    out->mantissa = out->mantissa * 10 + value;
    out->exponent -= is_fraction;
}

static decimal read_decimal(nc_slice digits) {
    decimal out = {.is_exact = true, .is_integer = true};
    const uint8_t *at = digits.data;
    const uint8_t *end = at + digits.length;
    if (at < end && *at == '-') {
        out.is_negative = true;
        at++;
    }
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        add_digit(&out, *at, false);
    }
    if (at < end && *at == '.') {
        out.is_integer = false;
        for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
            add_digit(&out, *at, true);
        }
    }
    if (at < end) {
        out.is_integer = false;
        at++; // "e" or "E"
        bool is_negative = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        int exponent = 0;
        for (; at < end; at++) {
            exponent = exponent < MAX_EXPONENT ? exponent * 10 + (*at - '0') : exponent;
        }
        out.exponent += is_negative ? -exponent : exponent;
    }
    return out;
}

/// Calls strtod(), which expects the decimal point of the locale.
static bool convert(nc_slice digits, double *value, nc_status *status) {
    char on_stack[STACK_DIGITS];
    const char *point = localeconv()->decimal_point;
    size_t point_length = strlen(point);
    size_t size = digits.length + point_length + 1;
    char *copy = size <= sizeof on_stack ? on_stack : cJSON_malloc(size);
    if (copy == NULL) {
        *status = NC_ERR_NO_MEMORY;
        return false;
    }
    char *to = copy;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.data[i] == '.') {
            memcpy(to, point, point_length);
            to += point_length;
        } else {
            *to++ = (char)digits.data[i];
        }
    }
    *to = '\0';
    *value = strtod(copy, NULL);
    if (copy != on_stack) {
        cJSON_free(copy);
    }
    return isfinite(*value);
}

/// Converts a number whose digits are an integer of 64 bits, by one operation of an x87 long double, which has a
/// mantissa of 64 bits. Returns false for other numbers, and if rounding twice could give another double than rounding
/// once.
static bool convert_extended(const decimal *number, double *value) {
#if LDBL_MANT_DIG == 64
    if (!number->is_exact || number->exponent > MAX_EXTENDED_POWER || number->exponent < -MAX_EXTENDED_POWER) {
        return false;
    }
    long double power = 1;
    for (int i = number->exponent < 0 ? -number->exponent : number->exponent; i > 0; i--) {
        power *= 10; // exact
    }
    long double mantissa = (long double)number->mantissa;
    long double magnitude = number->exponent < 0 ? mantissa / power : mantissa * power;
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits); // the mantissa
    enum { CUT_BITS = 64 - DBL_MANT_DIG };
    if ((bits & ((1u << CUT_BITS) - 1)) == 1u << (CUT_BITS - 1)) {
        return false; // halfway between two doubles, perhaps only after the first rounding
    }
    *value = (double)(number->is_negative ? -magnitude : magnitude);
    return true;
#else
    (void)number;
    (void)value;
    return false;
#endif
}

bool nc_cjson_number(nc_slice digits, double *value, nc_status *status) {
    static const double powers[MAX_EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal number = read_decimal(digits);
    bool fits = number.is_exact && number.mantissa <= (uint64_t)NC_CJSON_MAX_EXACT;
    if (number.is_integer && !fits) {
        return false;
    }
    if (!fits || number.exponent > MAX_EXACT_POWER || number.exponent < -MAX_EXACT_POWER) {
        return convert_extended(&number, value) || convert(digits, value, status);
    }
    // Both operands are exact, so the result is rounded once, as IEEE 754 requires.
    double magnitude = (double)number.mantissa;
    magnitude = number.exponent < 0 ? magnitude / powers[-number.exponent] : magnitude * powers[number.exponent];
    *value = number.is_negative ? -magnitude : magnitude;
    return true;
}

void nc_cjson_append_number(nc_buf *out, double value) {
    nc_params_item item = {.kind = NC_PARAMS_DOUBLE, .number = value};
    nc_params_digits digits;
    nc_slice text = nc_params_text(&item, &digits);
    nc_buf_append(out, text);
    if (fabs(value) > NC_CJSON_MAX_EXACT && memchr(text.data, 'e', text.length) == NULL) {
        nc_buf_append(out, nc_slice_of(".0"));
    }
}
#endif
