/// FNV-1a of 64 bits: spreads keys over buckets, tells names apart. Whoever chooses the keys can make two fall
/// together, so that nothing may hang on their never doing so.
#ifndef NETCORE_PRIVATE_FNV_H
#define NETCORE_PRIVATE_FNV_H

#include <netcore/bytes.h>

/// What a hash begins with.
#define NC_FNV_START UINT64_C(14695981039346656037)

/// Goes on from `hash` with more bytes.
static inline uint64_t nc_fnv_add(uint64_t hash, nc_slice bytes) {
    for (size_t i = 0; i < bytes.length; i++) {
        hash = (hash ^ bytes.data[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/// All of a hash in half of its bits.
static inline uint32_t nc_fnv_fold(uint64_t hash) {
    return (uint32_t)(hash ^ hash >> 32);
}

#endif
