/// The client's own certificate and key, read once and shown on each connection of a lane (mutual TLS).
#ifndef NETCORE_PRIVATE_IDENTITY_H
#define NETCORE_PRIVATE_IDENTITY_H

#include "trust/policy.h"

/// A certificate, its chain and its private key.
typedef struct nc_identity nc_identity;

/// OpenSSL's SSL_CTX, by the name that folders without OpenSSL may use.
struct ssl_ctx_st;

/// Each file or text of an identity, in bytes, at most.
#define NC_IDENTITY_MAX_BYTES (1024u * 1024u)
/// Pass phrase in bytes, at most: OpenSSL's own limit.
#define NC_IDENTITY_MAX_PASSWORD_BYTES 1023u
/// The security level of every TLS context: at least 112 bits (RSA 2048, no SHA-1 signatures).
#define NC_TLS_SECURITY_LEVEL 2

/// Reads the policy's client certificate; may block on disk, never asks a terminal. The caller owns `*out`, which is
/// NULL when the policy has none. NC_ERR_TLS_IDENTITY says what is wrong, without a word of the key or its pass phrase.
NC_NODISCARD nc_status nc_trust_load_identity(nc_identity **out, const nc_trust *trust, const nc_file_ops *ops,
                                              nc_error *err);

/// Has a TLS context show the identity; false when OpenSSL refuses. The context keeps what it needs.
NC_NODISCARD bool nc_identity_apply(const nc_identity *identity, struct ssl_ctx_st *context);

/// Frees what nc_trust_load_identity() made; NULL is harmless.
void nc_identity_free(nc_identity *identity);

#endif
