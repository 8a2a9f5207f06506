#include "schema/value_hash.h"

/* --- numbers --- */

nc_digits nc_digits_read(nc_slice text) {
    nc_digits digits = {.is_zero = true};
    size_t at = 0;
    int64_t written = 0;
    int64_t places = 0; // digits behind the point, up to the last one that is not 0
    int64_t zeros = 0;  // digits before the point, behind the last one that is not 0
    bool is_after_point = false;
    bool is_exponent_negative = false;
    int64_t behind = 0;
    for (; at < text.length && (text.data[at] | 0x20) != 'e'; at++) {
        uint8_t byte = text.data[at];
        if (byte == '-') {
            digits.is_negative = true;
        } else if (byte == '.') {
            is_after_point = true;
        } else {
            behind += is_after_point ? 1 : 0;
            zeros += is_after_point ? 0 : 1;
            if (byte != '0') {
                digits.first = digits.is_zero ? text.data + at : digits.first;
                digits.last = text.data + at;
                digits.is_zero = false;
                places = behind;
                zeros = is_after_point ? zeros : 0;
            }
        }
    }
    for (at++; at < text.length; at++) {
        if (text.data[at] == '-') {
            is_exponent_negative = true;
        } else if (text.data[at] != '+' && written < INT64_C(100000000000000000)) {
            written = written * 10 + (text.data[at] - '0');
        }
    }
    digits.exponent = (is_exponent_negative ? -written : written) + (places > 0 ? -places : zeros);
    digits.is_negative = digits.is_negative && !digits.is_zero;
    return digits;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t modulus) {
    return (uint64_t)((wide)a * b % modulus);
}

/// Returns 10^exponent modulo `modulus`.
static uint64_t power_of_ten(int64_t exponent, uint64_t modulus) {
    uint64_t result = 1 % modulus;
    uint64_t factor = 10 % modulus;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0) {
            result = multiply(result, factor, modulus);
        }
        factor = multiply(factor, factor, modulus);
    }
    return result;
}

bool nc_digits_is_multiple(const nc_digits *number, uint64_t digits, int64_t exponent) {
    if (number->is_zero) {
        return true;
    }
    // The digits do not end with 0, so they are not a multiple of 10.
    if (number->exponent < exponent) {
        return false;
    }
    uint64_t rest = 0;
    for (const uint8_t *digit = number->first; digit <= number->last; digit++) {
        if (*digit != '.') {
            rest = (uint64_t)(((wide)rest * 10 + (wide)(*digit - '0')) % digits);
        }
    }
    return multiply(rest, power_of_ten(number->exponent - exponent, digits), digits) == 0;
}

/* --- hashes --- */

/// The type tag, hashed before the value, so that values of different types have different hashes.
enum { TAG_LITERAL = 1, TAG_STRING, TAG_NUMBER, TAG_ARRAY, TAG_MEMBER, TAG_OBJECT };

static nc_siphash begin(nc_hash128 key, uint8_t tag) {
    nc_siphash hash;
    nc_siphash_init(&hash, key);
    nc_siphash_feed_byte(&hash, tag);
    return hash;
}

nc_hash128 nc_value_hash_literal(nc_hash128 key, nc_json_kind kind) {
    nc_siphash hash = begin(key, TAG_LITERAL);
    nc_siphash_feed_byte(&hash, (uint8_t)kind);
    return nc_siphash_end(&hash);
}

nc_hash128 nc_value_hash_string(nc_hash128 key, nc_slice text) {
    nc_siphash hash = begin(key, TAG_STRING);
    nc_siphash_feed(&hash, text);
    return nc_siphash_end(&hash);
}

nc_hash128 nc_value_hash_number(nc_hash128 key, nc_slice text) {
    nc_digits digits = nc_digits_read(text);
    nc_siphash hash = begin(key, TAG_NUMBER);
    if (!digits.is_zero) {
        nc_siphash_feed_byte(&hash, digits.is_negative ? 1 : 0);
        nc_siphash_feed(&hash, nc_slice_make(&digits.exponent, sizeof digits.exponent));
        for (const uint8_t *digit = digits.first; digit <= digits.last; digit++) {
            if (*digit != '.') {
                nc_siphash_feed_byte(&hash, *digit);
            }
        }
    }
    return nc_siphash_end(&hash);
}

void nc_value_hash_begin(nc_value_hash *hash, nc_hash128 key, bool is_object) {
    hash->is_object = is_object;
    hash->members = (nc_hash128){{0, 0}};
    if (!is_object) {
        hash->elements = begin(key, TAG_ARRAY);
    }
}

void nc_value_hash_add(nc_value_hash *hash, nc_hash128 key, nc_slice name, nc_hash128 value) {
    nc_slice bytes = nc_slice_make(value.words, sizeof value.words);
    if (!hash->is_object) {
        nc_siphash_feed(&hash->elements, bytes);
        return;
    }
    nc_siphash member = begin(key, TAG_MEMBER);
    nc_siphash_feed(&member, name);
    nc_siphash_feed(&member, bytes);
    nc_hash128 one = nc_siphash_end(&member);
    hash->members.words[0] += one.words[0];
    hash->members.words[1] += one.words[1] + (hash->members.words[0] < one.words[0] ? 1 : 0);
}

nc_hash128 nc_value_hash_end(nc_value_hash *hash, nc_hash128 key) {
    if (!hash->is_object) {
        return nc_siphash_end(&hash->elements);
    }
    nc_siphash object = begin(key, TAG_OBJECT);
    nc_siphash_feed(&object, nc_slice_make(hash->members.words, sizeof hash->members.words));
    return nc_siphash_end(&object);
}
