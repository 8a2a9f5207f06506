/// An authority and a leaf certificate, which are created when a TLS server starts. Certificates in the repository
/// would expire.
#ifndef NCT_CERTIFICATE_H
#define NCT_CERTIFICATE_H

#include "nettesting/identity.h"

#include <openssl/x509.h>

/// The certificates that a TLS server presents and a client trusts.
typedef struct nct_certificate {
    /// The leaf.
    X509 *leaf;
    /// The leaf's private key.
    EVP_PKEY *key;
    /// PEM text of the authority to trust; malloc'ed.
    char *ca_pem;
    /// The certificate of the authority, which also signs client certificates.
    X509 *authority;
    /// Its private key.
    EVP_PKEY *authority_key;
    /// The OCSP response to staple; malloc'ed, NULL for none.
    void *staple;
    /// Its length.
    size_t staple_length;
} nct_certificate;

/// Creates the leaf that `identity` names. Returns false if OpenSSL failed.
///
/// - names: further names in OpenSSL's syntax; NULL for none.
bool nct_certificate_make(nct_certificate *out, nct_identity identity, const char *names);

/// Creates a client's leaf and key, signed by the authority. Returns false if OpenSSL failed. The caller frees both.
bool nct_certificate_make_client(const nct_certificate *certificate, X509 **out, EVP_PKEY **out_key);

/// Creates a client's certificate and writes it to files; see nct_server_client_identity_write(). Returns 0 or an
/// errno.
int nct_certificate_write_client(const nct_certificate *certificate, const char *directory);

/// Frees the members. A zeroed struct is allowed.
void nct_certificate_deinit(nct_certificate *certificate);

#endif
