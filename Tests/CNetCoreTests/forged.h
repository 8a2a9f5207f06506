/// Certificates with any extensions at all, for tests of what a chain must look like.
#ifndef NETCORE_TEST_FORGED_H
#define NETCORE_TEST_FORGED_H

#include "harness.h"

#include <netcore/trust.h>
#include <openssl/x509.h>

enum { FORGED_EXTENSIONS = 12, FORGED_CHAIN = 4 };

/// An extension: a name of OpenSSL's configuration files ("nameConstraints") and its value there, "critical,…" or
/// "DER:…" included.
typedef struct forged_extension {
    const char *name;
    const char *value;
} forged_extension;

/// What a certificate is to be; all zero is an authority's or a server's as it should be.
typedef struct forged_wish {
    const char *common_name; // NULL: "authority", or the host of the leaf; "": no subject at all
    const char *serial;      // decimal; NULL: 4711
    const char *key;         // "EC", "RSA:2048", "DSA", "ED25519"; NULL: EC P-256
    long version_1;          // 1: of version 1, without extensions
    /// Added to the usual ones, or instead of the one with this name; a value of NULL leaves it out.
    forged_extension extensions[FORGED_EXTENSIONS];
} forged_wish;

/// Certificates from the leaf to the root.
typedef struct forged_chain {
    X509 *certificates[FORGED_CHAIN];
    EVP_PKEY *keys[FORGED_CHAIN];
    size_t count;
    char *texts[2]; // the root's PEM, and that of the others
} forged_chain;

/// Makes a chain of `count` certificates, the leaf first; fails the case when it cannot.
void forged_make(forged_chain *out, const forged_wish *wishes, size_t count);
void forged_free(forged_chain *chain);

/// Judges the chain for a host, with its root as the only authority; `options` may be NULL.
nc_trust_verdict forged_judge(const forged_chain *chain, const char *host, const nc_trust_options *options);

#endif
