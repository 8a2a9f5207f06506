/// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012).
///
/// With a secret random key, an attacker cannot construct collisions, and accidental ones are negligible. So values
/// with equal hashes are treated as equal.
#ifndef NETCORE_PRIVATE_JSON_SIPHASH_H
#define NETCORE_PRIVATE_JSON_SIPHASH_H

#include <netcore/bytes.h>
#include <string.h>

typedef struct nc_siphash {
    uint64_t v[4];
    uint64_t tail; // the bytes of the last, incomplete word
    uint64_t length;
} nc_siphash;

/// A result, or a key.
typedef struct nc_hash128 {
    uint64_t words[2];
} nc_hash128;

static inline bool nc_hash128_is_equal(nc_hash128 a, nc_hash128 b) {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

/// Starts a hash with a key.
void nc_siphash_init(nc_siphash *hash, nc_hash128 key);
/// Adds bytes.
void nc_siphash_feed(nc_siphash *hash, nc_slice bytes);
/// Adds one byte.
void nc_siphash_feed_byte(nc_siphash *hash, uint8_t byte);
/// Ends the hash.
nc_hash128 nc_siphash_end(nc_siphash *hash);

#endif
