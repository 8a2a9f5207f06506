/// Hashes of JSON values. Equal values have equal hashes: 1.0 and 1 are equal, and the order of members does not
/// matter. With the random key of a schema, different values have different hashes in practice (json/siphash.h).
#ifndef NETCORE_PRIVATE_SCHEMA_VALUE_HASH_H
#define NETCORE_PRIVATE_SCHEMA_VALUE_HASH_H

#include "json/siphash.h"

#include <netcore/json.h>

/// Returns the hash of true, false or null.
nc_hash128 nc_value_hash_literal(nc_hash128 key, nc_json_kind kind);
/// Returns the hash of a string. Its escapes must be decoded.
nc_hash128 nc_value_hash_string(nc_hash128 key, nc_slice text);
/// Returns the hash of a number from its JSON text.
nc_hash128 nc_value_hash_number(nc_hash128 key, nc_slice text);

/// The hash of a container that is not complete.
typedef struct nc_value_hash {
    bool is_object;
    nc_siphash elements; // of an array
    nc_hash128 members;  // of an object: the sum of the hashes of its members, so that their order does not matter
} nc_value_hash;

void nc_value_hash_begin(nc_value_hash *hash, nc_hash128 key, bool is_object);
/// Adds the hash of an element or a member. The escapes of the member's name must be decoded.
void nc_value_hash_add(nc_value_hash *hash, nc_hash128 key, nc_slice name, nc_hash128 value);
nc_hash128 nc_value_hash_end(nc_value_hash *hash, nc_hash128 key);

/// The digits of a number: its value is the number from `first` to `last` (without the point) × 10^exponent.
typedef struct nc_digits {
    bool is_negative;
    bool is_zero;
    const uint8_t *first; // the first digit that is not 0
    const uint8_t *last;  // the last digit that is not 0
    int64_t exponent;
} nc_digits;

/// Reads a number from its JSON text.
nc_digits nc_digits_read(nc_slice text);
/// Returns true if a number is a multiple of digits × 10^exponent. `digits` is not 0, and its last digit is not 0.
bool nc_digits_is_multiple(const nc_digits *number, uint64_t digits, int64_t exponent);

#endif
