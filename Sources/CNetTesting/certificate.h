/// An authority and a leaf, made when a TLS server starts: nothing checked in, nothing that rots on a date.
#ifndef NCT_CERTIFICATE_H
#define NCT_CERTIFICATE_H

#include "nettesting.h"

#include <openssl/x509.h>

/// What a TLS server shows, and what a client is to trust.
typedef struct nct_certificate {
    /// The leaf.
    X509 *leaf;
    /// The leaf's private key.
    EVP_PKEY *key;
    /// PEM text of the authority to trust; malloc'ed.
    char *ca_pem;
} nct_certificate;

/// Makes the leaf that `identity` names; false when OpenSSL refused.
bool nct_certificate_make(nct_certificate *out, nct_identity identity);

/// Frees what it holds; a zeroed one is harmless.
void nct_certificate_deinit(nct_certificate *certificate);

#endif
