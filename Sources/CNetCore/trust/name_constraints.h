/// A check of name constraints that OpenSSL omits (RFC 5280, 4.2.1.10).
#ifndef NETCORE_PRIVATE_NAME_CONSTRAINTS_H
#define NETCORE_PRIVATE_NAME_CONSTRAINTS_H

#include <openssl/x509.h>
#include <stdbool.h>

/// Returns true if a certificate has a wildcard name that matches a name which an issuing authority excludes: for
/// example
/// "*.example.com" below an authority that excludes bar.example.com. OpenSSL (at least up to 3.5) compares the star as
/// a literal label.
///
/// - chain: a verified chain, the leaf first.
bool nc_constraints_exclude_wildcard(STACK_OF(X509) * chain);

#endif
