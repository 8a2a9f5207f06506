/// The client's certificate and key for mutual TLS: read once, used by every connection of a pool.
#ifndef NETCORE_PRIVATE_IDENTITY_H
#define NETCORE_PRIVATE_IDENTITY_H

#include "trust/policy.h"

/// A certificate, its chain and its private key.
typedef struct nc_identity nc_identity;

/// OpenSSL's SSL_CTX, declared here for folders that do not include OpenSSL.
struct ssl_ctx_st;

/// Maximum size of a file or text of an identity, in bytes.
#define NC_IDENTITY_MAX_BYTES (1024u * 1024u)
/// Maximum length of a pass phrase in bytes; OpenSSL's limit.
#define NC_IDENTITY_MAX_PASSWORD_BYTES 1023u
/// The security level of every TLS context: at least 112 bits (RSA 2048, no SHA-1 signatures).
#define NC_TLS_SECURITY_LEVEL 2

/// Reads the policy's client certificate. May block on disk, never prompts on a terminal.
///
/// The caller owns `*out`, which is NULL if the policy has no identity. Fails with NC_ERR_TLS_IDENTITY; its message
/// contains nothing of the key or the pass phrase.
NC_NODISCARD nc_status nc_trust_load_identity(nc_identity **out, const nc_trust *trust, const nc_file_ops *ops,
                                              nc_error *err);

/// Sets the identity on a TLS context, which keeps its own references. Returns false if OpenSSL refuses it.
NC_NODISCARD bool nc_identity_apply(const nc_identity *identity, struct ssl_ctx_st *context);

/// Frees an identity. NULL is allowed.
void nc_identity_free(nc_identity *identity);

#endif
