/// Client identities in PKCS#12 (RFC 7292): certificate, chain and key in one file, encrypted by a pass phrase.
#ifndef NETCORE_PRIVATE_BUNDLE_H
#define NETCORE_PRIVATE_BUNDLE_H

#include "trust/identity.h"

#include <openssl/x509.h>

struct nc_identity {
    X509 *leaf;
    STACK_OF(X509) * chain; // the certificates after the leaf
    EVP_PKEY *key;
};

/// Writes the pass phrase of the policy's identity to `buffer`, from the options or the caller's callback.
///
/// Returns its length, or 0 if there is none or it is too long.
size_t nc_identity_ask(char *buffer, size_t capacity, const nc_trust_options *options);

/// Returns true if the first bytes are those of PKCS#12 and not of PEM.
bool nc_bundle_is_one(nc_slice bytes);

/// Fills an empty identity. Fails with NC_ERR_TLS_IDENTITY and the reason in `err`, or with NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_bundle_read(nc_identity *identity, nc_slice bytes, const nc_trust_options *options,
                                      const char *name, nc_error *err);

#endif
