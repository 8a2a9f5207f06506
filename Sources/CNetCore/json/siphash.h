/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012), fed in pieces.
#ifndef NETCORE_PRIVATE_JSON_SIPHASH_H
#define NETCORE_PRIVATE_JSON_SIPHASH_H

#include <netcore/bytes.h>

typedef struct nc_siphash {
    uint64_t v[4];
    uint64_t tail; // bytes that do not fill a word yet
    uint64_t length;
} nc_siphash;

/// Begins with a key of two words.
void nc_siphash_init(nc_siphash *hash, const uint64_t key[2]);
void nc_siphash_feed(nc_siphash *hash, nc_slice bytes);
void nc_siphash_end(nc_siphash *hash, uint64_t out[2]);

#endif
