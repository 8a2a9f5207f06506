/// Certificates with arbitrary extensions, for tests of chain validation.
#ifndef NETCORE_TEST_FORGED_H
#define NETCORE_TEST_FORGED_H

#include "harness.h"

#include <netcore/trust.h>
#include <openssl/x509.h>

enum { CUSTOM_CERTIFICATE_MAX_EXTENSIONS = 12, CUSTOM_CHAIN_MAX = 4 };

/// An extension: its name and value in the syntax of OpenSSL's configuration files. The value may begin with
/// "critical," and "DER:".
typedef struct custom_extension {
    const char *name;
    const char *value;
} custom_extension;

/// The description of a certificate. All zero means a valid authority or server certificate.
typedef struct custom_certificate {
    const char *common_name; // NULL: "authority", or the host of the leaf; "": no subject
    const char *serial;      // decimal; NULL: 4711
    const char *key;         // "EC", "RSA:2048", "DSA", "ED25519"; NULL: EC P-256
    long version_1;          // 1: version 1, without extensions
    /// Adds an extension or replaces the default one of this name. A NULL value removes it.
    custom_extension extensions[CUSTOM_CERTIFICATE_MAX_EXTENSIONS];
} custom_certificate;

/// Certificates from the leaf to the root.
typedef struct custom_chain {
    X509 *certificates[CUSTOM_CHAIN_MAX];
    EVP_PKEY *keys[CUSTOM_CHAIN_MAX];
    size_t count;
    char *texts[2]; // the root's PEM, and the PEM of the others
} custom_chain;

/// Creates a chain of `count` certificates, the leaf first. Fails the test on an error.
void custom_chain_make(custom_chain *out, const custom_certificate *wishes, size_t count);
void custom_chain_free(custom_chain *chain);

/// Evaluates the chain for a host with its root as the only authority. `options` may be NULL.
nc_trust_result custom_chain_evaluate(const custom_chain *chain, const char *host, const nc_trust_options *options);

#endif
