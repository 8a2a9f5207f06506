/// The 64-bit FNV-1a hash, for hash tables and names. Collisions can be constructed, so correctness must not depend on
/// it.
#ifndef NETCORE_PRIVATE_FNV_H
#define NETCORE_PRIVATE_FNV_H

#include <netcore/bytes.h>

/// The initial hash.
#define NC_FNV_START UINT64_C(14695981039346656037)

/// Returns the hash of the bytes so far and `bytes`; `hash` is that of the bytes so far.
static inline uint64_t nc_fnv_add(uint64_t hash, nc_slice bytes) {
    for (size_t i = 0; i < bytes.length; i++) {
        hash = (hash ^ bytes.data[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/// Folds a hash to 32 bits.
static inline uint32_t nc_fnv_fold(uint64_t hash) {
    return (uint32_t)(hash ^ hash >> 32);
}

#endif
