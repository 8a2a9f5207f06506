/// Chains that verified before: a server shows the same one at its next handshake.
///
/// What OpenSSL's verification says follows from the certificates, the anchors and the time alone. So the same
/// certificates under the same anchors, at a time when all of them are valid, are what they were. Names, pins, stapled
/// replies and observers are asked about every time.
#ifndef NETCORE_PRIVATE_KNOWN_CHAINS_H
#define NETCORE_PRIVATE_KNOWN_CHAINS_H

#include "trust/policy.h"

/// OpenSSL's X509 and STACK_OF(X509), by the names that folders without OpenSSL may use.
struct x509_st;
struct stack_st_X509;
struct nc_sent_chain;

/// Whoever sends more, and nobody does who means well, is verified anew each time.
enum { NC_KNOWN_CHAINS = 16, NC_KNOWN_CERTIFICATES = 8, NC_KNOWN_BYTES = 16 << 10 };

typedef struct nc_known_chain {
    struct x509_st *leaf;           // NULL is free
    struct stack_st_X509 *others;   // what was sent with it
    struct stack_st_X509 *verified; // from the leaf to the anchor
    const nc_root_store *anchors;   // which outlive this
    int64_t from_s, until_s;        // in between all of `verified` are valid
} nc_known_chain;

/// Confined; all zero is ready. Of more chains than it has room for, the one that came first gives way.
typedef struct nc_known_chains {
    nc_known_chain chains[NC_KNOWN_CHAINS];
    size_t next;
} nc_known_chains;

/// The chain that this one verified to, owned by the caller; NULL when it is not known or memory is short.
struct stack_st_X509 *nc_known_chains_find(const nc_known_chains *known, const struct nc_sent_chain *sent,
                                           const nc_root_store *anchors);

/// Remembers what verified without revocation lists, which end at times of their own. Without memory it is not.
void nc_known_chains_keep(nc_known_chains *known, const struct nc_sent_chain *sent, const nc_root_store *anchors,
                          struct stack_st_X509 *verified);

void nc_known_chains_deinit(nc_known_chains *known);

#endif
