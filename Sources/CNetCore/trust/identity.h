/// The client certificate and its key (mutual TLS). They are read once for a connection pool, and used by all its
/// connections.
#ifndef NETCORE_PRIVATE_IDENTITY_H
#define NETCORE_PRIVATE_IDENTITY_H

#include "trust/policy.h"

#include <openssl/x509.h>

/// A certificate, its chain and its private key.
typedef struct nc_identity nc_identity;

/// OpenSSL's SSL_CTX, declared here for folders that do not include OpenSSL.
struct ssl_ctx_st;

/// Maximum size of a file or text of an identity, in bytes.
#define NC_IDENTITY_MAX_BYTES (1024u * 1024u)
/// Maximum length of a pass phrase in bytes; OpenSSL's limit.
#define NC_IDENTITY_MAX_PASSWORD_BYTES 1023u
/// OpenSSL's security level for all TLS contexts: at least 112 bits (RSA 2048, no SHA-1 signatures).
#define NC_TLS_SECURITY_LEVEL 2

/// Reads the policy's client certificate. May block on disk, never prompts on a terminal.
///
/// The caller owns `*out`, which is NULL if the policy has no client certificate. Fails with NC_ERR_TLS_IDENTITY; the
/// message contains neither the key nor the pass phrase.
NC_NODISCARD nc_status nc_trust_load_identity(nc_identity **out, const nc_trust *trust, const nc_file_ops *ops,
                                              nc_error *err);

/// Sets the identity on a TLS context, which keeps its own references. Returns false if OpenSSL refuses it.
NC_NODISCARD bool nc_identity_apply(const nc_identity *identity, struct ssl_ctx_st *context);

/// Frees an identity. NULL is allowed.
void nc_identity_free(nc_identity *identity);

/* --- bundle.c: client identities in PKCS#12 (RFC 7292): certificate, chain and key in one file --- */

struct nc_identity {
    X509 *leaf;
    STACK_OF(X509) * chain; // the certificates after the leaf
    EVP_PKEY *key;
};

/// Writes the pass phrase of the client certificate's key to `buffer`. It comes from the options or from the caller's
/// callback.
///
/// Returns its length, or 0 if there is none or it is too long.
size_t nc_identity_pass_phrase(char *buffer, size_t capacity, const nc_trust_options *options);

/// Returns true if the bytes begin like PKCS#12 and not like PEM.
bool nc_bundle_is_one(nc_slice bytes);

/// Reads a bundle into an empty identity. `name` identifies the bundle in messages. Fails with NC_ERR_TLS_IDENTITY and
/// the reason in `err`, or with NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_bundle_read(nc_identity *identity, nc_slice bytes, const nc_trust_options *options,
                                      const char *name, nc_error *err);

#endif
