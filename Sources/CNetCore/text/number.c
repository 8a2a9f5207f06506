#include "base/ascii.h"
#include "text/params.h"

#include <string.h>

/// The largest number of significant digits of a double.
enum { MAX_DIGITS = 17 };

/// A number as significant digits d1 d2 ... dn: its value is 0.d1d2...dn times ten to the power of `point`.
typedef struct decimal {
    uint8_t digits[MAX_DIGITS + 3];
    int count;
    int point;
} decimal;

/* --- integers --- */

static size_t format_unsigned(uint8_t *out, uint64_t value) {
    uint8_t reversed[20];
    size_t count = 0;
    do {
        reversed[count++] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < count; i++) {
        out[i] = reversed[count - 1 - i];
    }
    return count;
}

size_t nc_number_format_integer(uint8_t *out, int64_t value) {
    if (value >= 0) {
        return format_unsigned(out, (uint64_t)value);
    }
    *out = '-';
    return 1 + format_unsigned(out + 1, 0 - (uint64_t)value);
}

/* --- doubles with few digits --- */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Finds the smallest k, and m < 10^15, such that m / 10^k == value in double arithmetic. Integers up to 2^53 and
/// powers of ten up to 10^22 are exact as doubles, so a reader of the text computes the same quotient. Different texts
/// of at most 15 digits never read as the same double, so there is no closer text with as few digits.
static bool find_few_digits(decimal *out, double value) {
    for (int k = 0; k <= 22; k++) {
        double scaled = value * powers[k];
        if (scaled >= 1e15) {
            return false;
        }
        uint64_t m = (uint64_t)(scaled + 0.5);
        if (m > 0 && (double)m / powers[k] == value) {
            out->count = (int)format_unsigned(out->digits, m);
            out->point = out->count - k;
            return true;
        }
    }
    return false;
}

/* --- other doubles: the free-format algorithm of Steele and White, with exact integers --- */

/// Enough words for 10^324 times the 53 bits of a double times ten.
enum { WORDS = 38 };

/// An unsigned integer; the least significant word is first. Words from `count` on are 0.
typedef struct big {
    uint32_t words[WORDS];
    int count;
} big;

static void big_multiply(big *value, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < value->count; i++) {
        carry += (uint64_t)value->words[i] * factor;
        value->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry > 0) {
        value->words[value->count++] = (uint32_t)carry;
    }
}

static void big_scale(big *value, int power_of_ten) {
    for (; power_of_ten >= 9; power_of_ten -= 9) {
        big_multiply(value, 1000000000u);
    }
    for (; power_of_ten > 0; power_of_ten--) {
        big_multiply(value, 10);
    }
}

/// Returns value << bits for a 64-bit value.
static big big_shifted(uint64_t value, int bits) {
    big out = {{0}, 0};
    int word = bits / 32;
    int rest = bits % 32;
    out.words[word] = (uint32_t)(value << rest);
    out.words[word + 1] = (uint32_t)(value << rest >> 32);
    out.words[word + 2] = rest == 0 ? 0 : (uint32_t)(value >> (64 - rest));
    out.count = word + 3;
    while (out.count > 0 && out.words[out.count - 1] == 0) {
        out.count--;
    }
    return out;
}

static int big_compare(const big *a, const big *b) {
    int count = a->count > b->count ? a->count : b->count;
    for (int i = count - 1; i >= 0; i--) {
        if (a->words[i] != b->words[i]) {
            return a->words[i] < b->words[i] ? -1 : 1;
        }
    }
    return 0;
}

/// Subtracts b from a, for a >= b.
static void big_subtract(big *a, const big *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        uint64_t difference = (uint64_t)a->words[i] - b->words[i] - borrow;
        a->words[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
    while (a->count > 0 && a->words[a->count - 1] == 0) {
        a->count--;
    }
}

/// Compares a + b with c.
static int big_compare_sum(const big *a, const big *b, const big *c) {
    big sum = *a;
    uint64_t carry = 0;
    int count = a->count > b->count ? a->count : b->count;
    for (int i = 0; i < count; i++) {
        carry += (uint64_t)a->words[i] + b->words[i];
        sum.words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    sum.count = count;
    if (carry > 0) {
        sum.words[sum.count++] = (uint32_t)carry;
    }
    return big_compare(&sum, c);
}

/// The remaining value to write, as the fraction rest / whole, and the interval of texts that read back as the same
/// double. The interval extends from (rest - below) / whole to (rest + above) / whole. Its ends belong to it if
/// `takes_ends` is set.
typedef struct interval {
    big rest;
    big whole;
    big below;
    big above;
    bool takes_ends;
} interval;

static interval interval_of(uint64_t fraction, int exponent, bool is_narrow_below) {
    // At a power of two the lower neighbor is half as far as the upper one.
    int extra = is_narrow_below ? 2 : 1;
    int up = exponent > 0 ? exponent : 0;
    int down = exponent < 0 ? -exponent : 0;
    return (interval){.rest = big_shifted(fraction, up + extra),
                      .whole = big_shifted(1, down + extra),
                      .below = big_shifted(1, up),
                      .above = big_shifted(1, up + extra - 1),
                      // A reader rounds a text in the middle of two doubles to the even one.
                      .takes_ends = (fraction & 1) == 0};
}

static bool reaches_whole(const interval *in) {
    int order = big_compare_sum(&in->rest, &in->above, &in->whole);
    return in->takes_ends ? order >= 0 : order > 0;
}

static bool reaches_zero(const interval *in) {
    int order = big_compare(&in->rest, &in->below);
    return in->takes_ends ? order <= 0 : order < 0;
}

static void multiply_by_ten(interval *in) {
    big_multiply(&in->rest, 10);
    big_multiply(&in->below, 10);
    big_multiply(&in->above, 10);
}

static void generate(decimal *out, interval *in) {
    for (out->count = 0;;) {
        uint8_t digit = '0';
        while (big_compare(&in->rest, &in->whole) >= 0) {
            big_subtract(&in->rest, &in->whole);
            digit++;
        }
        bool may_stop = reaches_zero(in);
        bool may_step = reaches_whole(in);
        if (may_stop || may_step) {
            int half = big_compare_sum(&in->rest, &in->rest, &in->whole);
            // If two digits are equally close, the even one is taken, as in other implementations.
            bool is_above = half > 0 || (half == 0 && (digit & 1) != 0);
            out->digits[out->count++] = (uint8_t)(digit + (may_step && (!may_stop || is_above) ? 1 : 0));
            return;
        }
        out->digits[out->count++] = digit;
        multiply_by_ten(in);
    }
}

static void find_all_digits(decimal *out, uint64_t bits) {
    int biased = (int)(bits >> 52 & 0x7FF);
    uint64_t fraction = bits & 0xFFFFFFFFFFFFFu;
    bool is_narrow_below = fraction == 0 && biased > 1;
    int exponent = (biased == 0 ? 1 : biased) - 1075;
    if (biased != 0) {
        fraction |= (uint64_t)1 << 52;
    }
    interval in = interval_of(fraction, exponent, is_narrow_below);
    // Estimates the power of ten above 2^highest. The estimate is at most one too small; reaches_whole() below detects
    // that.
    int highest = exponent + 63 - __builtin_clzll(fraction);
    double estimate = highest * 0.30102999566398120 - 1e-9;
    out->point = (int)estimate + (estimate > 0 ? 1 : 0);
    if (out->point >= 0) {
        big_scale(&in.whole, out->point);
    } else {
        big_scale(&in.rest, -out->point);
        big_scale(&in.below, -out->point);
        big_scale(&in.above, -out->point);
    }
    if (reaches_whole(&in)) {
        out->point++;
    } else {
        multiply_by_ten(&in);
    }
    generate(out, &in);
}

/* --- writing --- */

static size_t put(uint8_t *out, const uint8_t *digits, int count) {
    memcpy(out, digits, (size_t)count);
    return (size_t)count;
}

static size_t put_zeros(uint8_t *out, int count) {
    memset(out, '0', (size_t)count);
    return (size_t)count;
}

static size_t write_decimal(uint8_t *out, const decimal *number) {
    const uint8_t *digits = number->digits;
    int count = number->count;
    int point = number->point;
    size_t used = 0;
    if (point > 21 || point < -5) {
        *out = *digits;
        used = 1;
        if (count > 1) {
            out[used++] = '.';
            used += put(out + used, digits + 1, count - 1);
        }
        out[used++] = 'e';
        return used + nc_number_format_integer(out + used, point - 1);
    }
    if (point <= 0) {
        used += put_zeros(out, 1);
        out[used++] = '.';
        used += put_zeros(out + used, -point);
        return used + put(out + used, digits, count);
    }
    if (point >= count) {
        used = put(out, digits, count);
        return used + put_zeros(out + used, point - count);
    }
    used = put(out, digits, point);
    out[used++] = '.';
    return used + put(out + used, digits + point, count - point);
}

size_t nc_number_format_double(uint8_t *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t used = 0;
    if ((bits >> 52 & 0x7FF) == 0x7FF) {
        return 0;
    }
    if (bits >> 63 != 0) {
        out[used++] = '-';
        value = -value;
    }
    bits = bits << 1 >> 1;
    if (bits == 0) {
        return used + put_zeros(out + used, 1);
    }
    decimal number;
    if (!find_few_digits(&number, value)) {
        find_all_digits(&number, bits);
    }
    return used + write_decimal(out + used, &number);
}

/* --- reading --- */

static size_t count_digits(nc_slice text, size_t at) {
    size_t end = at;
    while (end < text.length && nc_ascii_is_digit(text.data[end])) {
        end++;
    }
    return end - at;
}

static bool is_at(nc_slice text, size_t at, uint8_t a, uint8_t b) {
    return at < text.length && (text.data[at] == a || text.data[at] == b);
}

bool nc_number_is_valid(nc_slice text) {
    size_t at = is_at(text, 0, '-', '-') ? 1 : 0;
    size_t whole = count_digits(text, at);
    if (whole == 0 || (whole > 1 && text.data[at] == '0')) {
        return false;
    }
    at += whole;
    if (is_at(text, at, '.', '.')) {
        size_t digits = count_digits(text, at + 1);
        if (digits == 0) {
            return false;
        }
        at += 1 + digits;
    }
    if (is_at(text, at, 'e', 'E')) {
        at += is_at(text, at + 1, '+', '-') ? 2 : 1;
        size_t digits = count_digits(text, at);
        if (digits == 0) {
            return false;
        }
        at += digits;
    }
    return at == text.length;
}
