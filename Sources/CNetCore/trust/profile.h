/// The strict profile: requirements of RFC 5280 and of the CA/Browser Forum (Baseline Requirements) for a verified
/// chain.
#ifndef NETCORE_PRIVATE_PROFILE_H
#define NETCORE_PRIVATE_PROFILE_H

#include "trust/policy.h"

#include <openssl/x509_vfy.h>

/// The inputs of the check; borrowed.
typedef struct nc_profile_case {
    STACK_OF(X509) * chain; // verified, the leaf first
    X509_STORE *lists;      // with the revocation lists; NULL for none
    nc_public_suffix_fn is_public_suffix;
} nc_profile_case;

/// Returns the first violation as a static predicate ("has a serial number that …"), or NULL.
///
/// - at: receives the certificate's position, counted from 1; 0 for a revocation list.
const char *nc_profile_fault(const nc_profile_case *looked_at, int *at);

/* --- names, in profile_names.c --- */

/// Checks the form of a leaf's names, and that its common name is one of them. Returns the violation, or NULL.
const char *nc_profile_names_fault(X509 *leaf, nc_public_suffix_fn is_public_suffix);

/// Returns true if name constraints have the form of RFC 5280, 4.2.1.10. Returns false if they cannot be read.
bool nc_profile_constraints_hold(X509 *certificate);

#endif
