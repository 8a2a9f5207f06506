/// The verified-chain cache stores results of chain verification, because a server usually sends the same chain in its
/// next handshake.
///
/// OpenSSL's result depends only on the certificates, the anchors and the time. A cached result is therefore used for
/// the same certificates and anchors while all certificates are valid. Names, pins and OCSP staples are checked each
/// time, and the observer is called each time.
#ifndef NETCORE_PRIVATE_VERIFIED_CHAIN_CACHE_H
#define NETCORE_PRIVATE_VERIFIED_CHAIN_CACHE_H

#include "trust/policy.h"

/// OpenSSL's X509 and STACK_OF(X509), declared here for folders that do not include OpenSSL.
struct x509_st;
struct stack_st_X509;
struct nc_sent_chain;

/// Limits of the cache. A chain that exceeds them is verified each time.
enum {
    NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS = 16,
    NC_VERIFIED_CHAIN_CACHE_MAX_CERTIFICATES = 8,
    NC_VERIFIED_CHAIN_CACHE_MAX_BYTES = 16 << 10
};

typedef struct nc_verified_chain {
    struct x509_st *leaf;           // NULL if the slot is free
    struct stack_st_X509 *others;   // the other certificates that the server sent
    struct stack_st_X509 *verified; // the verified chain, from the leaf to the anchor
    const nc_root_store *anchors;   // not owned; they outlive the cache
    int64_t from_s, until_s;        // the period in which all certificates of `verified` are valid
} nc_verified_chain;

/// A cache. Start with a zeroed struct. If it is full, the oldest chain is replaced. Confined: one thread at a time.
typedef struct nc_verified_chain_cache {
    nc_verified_chain chains[NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS];
    size_t next;
} nc_verified_chain_cache;

/// Returns the cached verified chain for a chain that the server sent; owned by the caller. NULL if it is not cached or
/// memory ran out.
struct stack_st_X509 *nc_verified_chain_cache_find(const nc_verified_chain_cache *cache,
                                                   const struct nc_sent_chain *sent, const nc_root_store *anchors);

/// Caches a chain that was verified without revocation lists (their results must not be cached, because lists expire).
/// Does nothing if memory runs out.
void nc_verified_chain_cache_add(nc_verified_chain_cache *cache, const struct nc_sent_chain *sent,
                                 const nc_root_store *anchors, struct stack_st_X509 *verified);

void nc_verified_chain_cache_deinit(nc_verified_chain_cache *cache);

#endif
