/// An authority and a leaf, made when a TLS server starts: nothing checked in,
/// nothing that rots on a date.
#ifndef NCT_CERTIFICATE_H
#define NCT_CERTIFICATE_H

#include "nettesting/identity.h"

#include <openssl/x509.h>

/// What a TLS server shows, and what a client is to trust.
typedef struct nct_certificate {
    /// The leaf.
    X509 *leaf;
    /// The leaf's private key.
    EVP_PKEY *key;
    /// PEM text of the authority to trust; malloc'ed.
    char *ca_pem;
    /// That authority, which also signs for clients.
    X509 *authority;
    /// Its private key.
    EVP_PKEY *authority_key;
    /// The OCSP reply that is stapled; malloc'ed, NULL for none.
    void *staple;
    /// Its length.
    size_t staple_length;
} nct_certificate;

/// Makes the leaf that `identity` names; false when OpenSSL refused.
///
/// - names: further names, as OpenSSL writes them; NULL for none.
bool nct_certificate_make(nct_certificate *out, nct_identity identity, const char *names);

/// Makes a client's leaf and key, signed by the authority; false when OpenSSL
/// refused. Free both.
bool nct_certificate_make_client(const nct_certificate *certificate, X509 **out, EVP_PKEY **out_key);

/// Makes a client's certificate and writes it; see
/// nct_server_client_identity_write(). Returns 0 or an errno.
int nct_certificate_write_client(const nct_certificate *certificate, const char *directory);

/// Frees what it holds; a zeroed one is harmless.
void nct_certificate_deinit(nct_certificate *certificate);

#endif
