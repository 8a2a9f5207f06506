/// What OpenSSL leaves out of name constraints (RFC 5280, 4.2.1.10).
#ifndef NETCORE_PRIVATE_NAME_CONSTRAINTS_H
#define NETCORE_PRIVATE_NAME_CONSTRAINTS_H

#include <openssl/x509.h>
#include <stdbool.h>

/// Whether a certificate of the chain has a wildcard name that covers a name which an authority above it excludes:
/// "*.example.com" below an authority that excludes bar.example.com. OpenSSL (up to 3.5 at least) compares the star as
/// if it were a label.
///
/// - chain: a verified chain, the leaf first.
bool nc_constraints_exclude_wildcard(STACK_OF(X509) * chain);

#endif
