/// An identity out of PKCS#12 (RFC 7292): certificate, chain and key in one, locked by a pass phrase.
#ifndef NETCORE_PRIVATE_BUNDLE_H
#define NETCORE_PRIVATE_BUNDLE_H

#include "trust/identity.h"

#include <openssl/x509.h>

struct nc_identity {
    X509 *leaf;
    STACK_OF(X509) * chain; // What follows the leaf.
    EVP_PKEY *key;
};

/// Writes the pass phrase of the policy's identity, asking the caller where he wants to be; its length, 0 when there is
/// none or it is too long.
size_t nc_identity_ask(char *buffer, size_t capacity, const nc_trust_options *options);

/// Whether the bytes are PKCS#12 rather than PEM, by how they begin.
bool nc_bundle_is_one(nc_slice bytes);

/// Fills an empty identity. NC_ERR_TLS_IDENTITY says what is wrong, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_bundle_read(nc_identity *identity, nc_slice bytes, const nc_trust_options *options,
                                      const char *name, nc_error *err);

#endif
