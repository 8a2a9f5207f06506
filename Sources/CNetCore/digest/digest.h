/// OpenSSL's digest algorithms, each fetched once per process.
#ifndef NETCORE_PRIVATE_DIGEST_H
#define NETCORE_PRIVATE_DIGEST_H

#include <netcore/digest.h>
#include <openssl/types.h>

/// Returns OpenSSL's algorithm of a kind in `out`; it stays valid until the process ends. Fails with NC_ERR_UNSUPPORTED
/// if no provider has it, or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_digest_algorithm(const EVP_MD **out, nc_digest_kind kind, nc_error *err);

enum { NC_SHA1_BYTES = 20 };

/// Computes SHA-1, only for the handshake of WebSocket (RFC 6455, 4.2.2), where it protects nothing. Returns false if
/// OpenSSL does not provide it.
NC_NODISCARD bool nc_sha1(uint8_t out[NC_SHA1_BYTES], nc_slice bytes);

#endif
