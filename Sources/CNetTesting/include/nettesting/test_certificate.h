/// Certificates for tests of trust: valid ones, invalid ones and those of attackers, created on demand.
///
///     nct_test_certificate *root = nct_test_certificate_create(&(nct_certificate_options){.common_name = "Root",
///     .is_authority = true}); nct_test_certificate *leaf =
///     nct_test_certificate_create(&(nct_certificate_options){.issuer = root, .common_name = "x", .names =
///     "DNS:localhost"});
#ifndef NETTESTING_MADE_H
#define NETTESTING_MADE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A certificate and its key.
typedef struct nct_test_certificate nct_test_certificate;

/// The properties of a certificate to create.
typedef struct nct_certificate_options {
    /// The certificate that signs it; NULL for a self-signed certificate. Only used during the call.
    const nct_test_certificate *NCT_NULLABLE issuer;
    /// The certificate whose key it shares; NULL for a new key. Only used during the call.
    const nct_test_certificate *NCT_NULLABLE same_key_as;
    /// The subject's common name.
    const char *common_name;
    /// Subject alternative names in OpenSSL's syntax; NULL for none.
    const char *NCT_NULLABLE names;
    /// Name constraints in OpenSSL's syntax; NULL for none.
    const char *NCT_NULLABLE constraints;
    /// True if it may sign others.
    bool is_authority;
    /// Number of days from now until it becomes valid; may be negative. If this and `ends_in_days` are 0, it is valid
    /// from seven days ago until seven days from now.
    int begins_in_days;
    /// Number of days from now until it expires; may be negative.
    int ends_in_days;
    /// If not 0, the size of an RSA key in bits, instead of EC P-256.
    unsigned rsa_bits;
    /// True if it is signed with SHA-1.
    bool uses_sha1;
    /// True to omit key identifiers and key usage, although RFC 5280 requires them.
    bool is_bare;
    /// True for an authority whose basic constraints are not critical. This violates RFC 5280, 4.2.1.9.
    bool is_loose;
} nct_certificate_options;

/// Creates a certificate. Returns NULL if OpenSSL failed. Free it with nct_test_certificate_free(). Its issuer may be
/// freed first.
nct_test_certificate *NCT_NULLABLE nct_test_certificate_create(const nct_certificate_options *wish);

/// Frees the certificate. NULL is allowed.
void nct_test_certificate_free(nct_test_certificate *NCT_NULLABLE made);

/// Returns its PEM text, NUL-terminated. Borrowed.
const char *nct_test_certificate_pem(const nct_test_certificate *made);

/// Returns its private key as PEM text, NUL-terminated. Borrowed.
const char *nct_test_certificate_key_pem(const nct_test_certificate *made);

/// Returns its public key as PEM text, NUL-terminated. Borrowed.
const char *nct_test_certificate_public_pem(const nct_test_certificate *made);

/// Returns its DER bytes. Borrowed.
const void *nct_test_certificate_der(const nct_test_certificate *made, size_t *length);

/// Returns "sha256/" and the base64 of its public key's SHA-256. Borrowed.
const char *nct_test_certificate_pin(const nct_test_certificate *made);

/// Returns the same hash as 64 hex digits. Borrowed.
const char *nct_test_certificate_hex_pin(const nct_test_certificate *made);

/// Returns a revocation list of the issuer as PEM. It contains `revoked`; it is empty if `revoked` is NULL. The caller
/// must free() it.
char *NCT_NULLABLE nct_test_certificate_revocation_list(const nct_test_certificate *issuer,
                                                        const nct_test_certificate *NCT_NULLABLE revoked);

/// Returns an OCSP response of the issuer about a certificate. It is valid for a day, which begins `begins_in_days`
/// days from now. The caller must free() it.
void *NCT_NULLABLE nct_test_certificate_ocsp_staple(const nct_test_certificate *issuer,
                                                    const nct_test_certificate *about, bool is_revoked,
                                                    int begins_in_days, size_t *length);

/// Returns the certificate, its key and `issuer` as PKCS#12. The caller must free() it.
void *NCT_NULLABLE nct_test_certificate_pkcs12(const nct_test_certificate *made,
                                               const nct_test_certificate *NCT_NULLABLE issuer, const char *password,
                                               size_t *length);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
