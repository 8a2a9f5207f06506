/// Parses a certificate chain from untrusted bytes.
#ifndef NETCORE_PRIVATE_CHAIN_H
#define NETCORE_PRIVATE_CHAIN_H

#include <netcore/bytes.h>
#include <netcore/status.h>
#include <openssl/x509.h>

/// Reads PEM, or DER one after the other; at least one certificate. The caller owns `*out`.
///
/// Fails with NC_ERR_TLS_CERTIFICATE and the reason in `err`, or with NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_chain_parse(STACK_OF(X509) * *out, nc_slice bytes, nc_error *err);

#endif
