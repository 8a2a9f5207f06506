/// Certificates for tests of trust: valid ones, invalid ones and those of attackers, created on demand.
///
///     nct_made *root = nct_make(&(nct_wish){.common_name = "Root", .is_authority = true});
///     nct_made *leaf = nct_make(&(nct_wish){.issuer = root, .common_name = "x", .names = "DNS:localhost"});
#ifndef NETTESTING_MADE_H
#define NETTESTING_MADE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A certificate and its key.
typedef struct nct_made nct_made;

/// The properties of a certificate to create.
typedef struct nct_wish {
    /// The signer; NULL for a self-signed certificate. Borrowed for the call.
    const nct_made *NCT_NULLABLE issuer;
    /// The certificate whose key it shares; NULL for a new key. Borrowed for the call.
    const nct_made *NCT_NULLABLE same_key_as;
    /// The subject's common name.
    const char *common_name;
    /// Subject alternative names, as OpenSSL writes them; NULL for none.
    const char *NCT_NULLABLE names;
    /// Name constraints, as OpenSSL writes them; NULL for none.
    const char *NCT_NULLABLE constraints;
    /// True if it may sign others.
    bool is_authority;
    /// Days from now when it becomes valid. If this and `ends_in_days` are 0, it is valid from a week ago to in a week.
    int begins_in_days;
    /// Days from now when it expires.
    int ends_in_days;
    /// If not 0, the size of an RSA key in bits, instead of EC P-256.
    unsigned rsa_bits;
    /// True if it is signed with SHA-1.
    bool uses_sha1;
    /// True to omit what RFC 5280 requires besides names: key identifiers and key usage.
    bool is_bare;
    /// True for an authority whose basic constraints are not critical, against RFC 5280, 4.2.1.9.
    bool is_loose;
} nct_wish;

/// Creates a certificate. Returns NULL if OpenSSL failed. Free it with nct_made_free(). Its issuer may be freed first.
nct_made *NCT_NULLABLE nct_make(const nct_wish *wish);

/// Frees the certificate. NULL is allowed.
void nct_made_free(nct_made *NCT_NULLABLE made);

/// Returns its PEM text, NUL-terminated. Borrowed.
const char *nct_made_pem(const nct_made *made);

/// Returns its private key as PEM text, NUL-terminated. Borrowed.
const char *nct_made_key_pem(const nct_made *made);

/// Returns its public key as PEM text, NUL-terminated. Borrowed.
const char *nct_made_public_pem(const nct_made *made);

/// Returns its DER bytes. Borrowed.
const void *nct_made_der(const nct_made *made, size_t *length);

/// Returns "sha256/" and the base64 of its public key's SHA-256. Borrowed.
const char *nct_made_pin(const nct_made *made);

/// Returns the same hash as 64 hex digits. Borrowed.
const char *nct_made_hex_pin(const nct_made *made);

/// Returns a revocation list of the issuer as PEM. It names `revoked`, unless that is NULL. free() it.
char *NCT_NULLABLE nct_made_revocation_list(const nct_made *issuer, const nct_made *NCT_NULLABLE revoked);

/// Returns an OCSP response of the issuer about a certificate, valid from `begins_in_days` for a day. free() it.
void *NCT_NULLABLE nct_made_staple(const nct_made *issuer, const nct_made *about, bool is_revoked, int begins_in_days,
                                   size_t *length);

/// Returns the certificate, its key and `issuer` as PKCS#12. free() it.
void *NCT_NULLABLE nct_made_bundle(const nct_made *made, const nct_made *NCT_NULLABLE issuer, const char *password,
                                   size_t *length);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
