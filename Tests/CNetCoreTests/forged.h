/// Certificates with arbitrary extensions, for tests of chain validation.
#ifndef NETCORE_TEST_FORGED_H
#define NETCORE_TEST_FORGED_H

#include "harness.h"

#include <netcore/trust.h>
#include <openssl/x509.h>

enum { FORGED_EXTENSIONS = 12, FORGED_CHAIN = 4 };

/// An extension: its name and value in the syntax of OpenSSL's configuration files. The value may begin with
/// "critical," and "DER:".
typedef struct forged_extension {
    const char *name;
    const char *value;
} forged_extension;

/// The description of a certificate. All zero means a valid authority or server certificate.
typedef struct forged_wish {
    const char *common_name; // NULL: "authority", or the host of the leaf; "": no subject
    const char *serial;      // decimal; NULL: 4711
    const char *key;         // "EC", "RSA:2048", "DSA", "ED25519"; NULL: EC P-256
    long version_1;          // 1: version 1, without extensions
    /// Adds an extension or replaces the default one of this name. A NULL value removes it.
    forged_extension extensions[FORGED_EXTENSIONS];
} forged_wish;

/// Certificates from the leaf to the root.
typedef struct forged_chain {
    X509 *certificates[FORGED_CHAIN];
    EVP_PKEY *keys[FORGED_CHAIN];
    size_t count;
    char *texts[2]; // the root's PEM, and the PEM of the others
} forged_chain;

/// Creates a chain of `count` certificates, the leaf first. Fails the test on an error.
void forged_make(forged_chain *out, const forged_wish *wishes, size_t count);
void forged_free(forged_chain *chain);

/// Evaluates the chain for a host with its root as the only authority. `options` may be NULL.
nc_trust_verdict forged_judge(const forged_chain *chain, const char *host, const nc_trust_options *options);

#endif
