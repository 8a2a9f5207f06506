/// The strict profile: the form that RFC 5280 and the rules for public servers (CA/Browser Forum, Baseline
/// Requirements) demand of a chain that already verified.
#ifndef NETCORE_PRIVATE_PROFILE_H
#define NETCORE_PRIVATE_PROFILE_H

#include "trust/policy.h"

#include <openssl/x509_vfy.h>

/// What is looked at; borrowed.
typedef struct nc_profile_case {
    STACK_OF(X509) * chain; // verified, the leaf first
    X509_STORE *lists;      // with the revocation lists; NULL: none
    nc_public_suffix_fn is_public_suffix;
} nc_profile_case;

/// Returns what the chain lacks, as a constant sentence without a subject ("has a serial number that …"), or NULL.
///
/// - at: the certificate at fault, counted from 1; 0 for a revocation list.
const char *nc_profile_fault(const nc_profile_case *looked_at, int *at);

/* --- names, in profile_names.c --- */

/// Whether the names of a leaf have the right form, and its common name is one of them. Returns what is wrong, or NULL.
const char *nc_profile_names_fault(X509 *leaf, nc_public_suffix_fn is_public_suffix);

/// Whether name constraints have the form of RFC 5280, 4.2.1.10; false also if they cannot be read.
bool nc_profile_constraints_hold(X509 *certificate);

#endif
