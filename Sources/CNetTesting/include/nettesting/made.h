/// Certificates of every kind for tests of trust: good ones, bad ones and those
/// of attackers, made when they are asked for.
///
///     nct_made *root = nct_make(&(nct_wish){.common_name = "Root",
///     .is_authority = true}); nct_made *leaf = nct_make(&(nct_wish){.issuer =
///     root, .common_name = "x", .names = "DNS:localhost"});
#ifndef NETTESTING_MADE_H
#define NETTESTING_MADE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A certificate and its key.
typedef struct nct_made nct_made;

/// What a certificate is to be.
typedef struct nct_wish {
    /// Who signs; NULL: it signs itself. Borrowed for the call.
    const nct_made *NCT_NULLABLE issuer;
    /// Whose key it has; NULL: a new one. Borrowed for the call.
    const nct_made *NCT_NULLABLE same_key_as;
    /// The subject's common name.
    const char *common_name;
    /// Subject alternative names, as OpenSSL writes them; NULL for none.
    const char *NCT_NULLABLE names;
    /// Name constraints, as OpenSSL writes them; NULL for none.
    const char *NCT_NULLABLE constraints;
    /// True may sign others.
    bool is_authority;
    /// Days from now when it begins and ends; both 0: a week ago, in a week.
    int begins_in_days;
    /// See there.
    int ends_in_days;
    /// When not 0, an RSA key of that many bits instead of EC P-256.
    unsigned rsa_bits;
    /// True is signed with SHA-1.
    bool uses_sha1;
    /// True leaves out what RFC 5280 asks for beyond names: key identifiers and
    /// key usage.
    bool is_bare;
    /// True is an authority whose basic constraints are not critical, against RFC
    /// 5280, 4.2.1.9.
    bool is_loose;
} nct_wish;

/// Makes one; NULL when OpenSSL refused. Free it with nct_made_free(); issuers
/// may be freed before.
nct_made *NCT_NULLABLE nct_make(const nct_wish *wish);

/// Frees it. NULL is harmless.
void nct_made_free(nct_made *NCT_NULLABLE made);

/// Its PEM text, NUL-terminated. Borrowed.
const char *nct_made_pem(const nct_made *made);

/// Its private key as PEM text, NUL-terminated. Borrowed.
const char *nct_made_key_pem(const nct_made *made);

/// Its public key as PEM text, NUL-terminated. Borrowed.
const char *nct_made_public_pem(const nct_made *made);

/// Its DER bytes. Borrowed.
const void *nct_made_der(const nct_made *made, size_t *length);

/// "sha256/" and the base64 of its public key's SHA-256. Borrowed.
const char *nct_made_pin(const nct_made *made);

/// The same as 64 hex digits. Borrowed.
const char *nct_made_hex_pin(const nct_made *made);

/// A revocation list of the issuer's, PEM, that names `revoked` unless NULL;
/// free() it.
char *NCT_NULLABLE nct_made_revocation_list(const nct_made *issuer, const nct_made *NCT_NULLABLE revoked);

/// An OCSP reply about a certificate of the issuer's, valid from
/// `begins_in_days` for a day; free() it.
void *NCT_NULLABLE nct_made_staple(const nct_made *issuer, const nct_made *about, bool is_revoked, int begins_in_days,
                                   size_t *length);

/// Writes it, its key and `issuer` as PKCS#12; free() it.
void *NCT_NULLABLE nct_made_bundle(const nct_made *made, const nct_made *NCT_NULLABLE issuer, const char *password,
                                   size_t *length);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
