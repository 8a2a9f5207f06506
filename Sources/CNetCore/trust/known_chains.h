/// The verified-chain cache: a server usually sends the same chain at its next handshake.
///
/// OpenSSL's result depends only on the certificates, the anchors and the time. The cached result therefore holds for
/// the same certificates and anchors while all certificates are valid. Names, pins, OCSP staples and observers are
/// checked every time.
#ifndef NETCORE_PRIVATE_KNOWN_CHAINS_H
#define NETCORE_PRIVATE_KNOWN_CHAINS_H

#include "trust/policy.h"

/// OpenSSL's X509 and STACK_OF(X509), declared here for folders that do not include OpenSSL.
struct x509_st;
struct stack_st_X509;
struct nc_sent_chain;

/// Limits of the cache. A chain that exceeds them is verified each time.
enum { NC_KNOWN_CHAINS = 16, NC_KNOWN_CERTIFICATES = 8, NC_KNOWN_BYTES = 16 << 10 };

typedef struct nc_known_chain {
    struct x509_st *leaf;           // NULL if the slot is free
    struct stack_st_X509 *others;   // the other certificates that were sent
    struct stack_st_X509 *verified; // from the leaf to the anchor
    const nc_root_store *anchors;   // they outlive the cache
    int64_t from_s, until_s;        // all of `verified` are valid in this span
} nc_known_chain;

/// A cache; zero-initialized. Evicts the oldest chain when full. Confined to one thread at a time.
typedef struct nc_known_chains {
    nc_known_chain chains[NC_KNOWN_CHAINS];
    size_t next;
} nc_known_chains;

/// Returns the verified chain for the sent one, owned by the caller, or NULL if it is not cached or memory ran out.
struct stack_st_X509 *nc_known_chains_find(const nc_known_chains *known, const struct nc_sent_chain *sent,
                                           const nc_root_store *anchors);

/// Caches a chain that was verified without revocation lists, because those expire. Does nothing if memory ran out.
void nc_known_chains_keep(nc_known_chains *known, const struct nc_sent_chain *sent, const nc_root_store *anchors,
                          struct stack_st_X509 *verified);

void nc_known_chains_deinit(nc_known_chains *known);

#endif
