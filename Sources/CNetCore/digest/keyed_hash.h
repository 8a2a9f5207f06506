/// HMAC-SHA-256. Without the key, a hash reveals nothing about its text.
#ifndef NETCORE_PRIVATE_KEYED_HASH_H
#define NETCORE_PRIVATE_KEYED_HASH_H

#include <netcore/bytes.h>

enum { NC_KEYED_HASH_BYTES = 32, NC_KEYED_HASH_KEY_BYTES = 32 };

/// Computes the hash of a text. Returns false if OpenSSL fails.
NC_NODISCARD bool nc_keyed_hash(uint8_t out[NC_KEYED_HASH_BYTES], const uint8_t key[NC_KEYED_HASH_KEY_BYTES],
                                nc_slice text);

#endif
