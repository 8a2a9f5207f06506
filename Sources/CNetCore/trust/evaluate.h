/// Evaluates a certificate chain by a policy. The order of the checks is that of AFNetworking; pins are compared with
/// the chain that OpenSSL verified.
#ifndef NETCORE_PRIVATE_EVALUATE_H
#define NETCORE_PRIVATE_EVALUATE_H

#include "trust/policy.h"
#include "trust/rules.h"
#include "trust/verified_chain_cache.h"
#include "trust/verify.h"

/// The inputs of an evaluation; borrowed.
typedef struct nc_trust_input {
    const nc_trust *trust;
    X509_STORE *roots; // authorities and revocation lists of the policy; NULL if chains need not verify
    nc_verified_chain_cache *chain_cache; // verified-chain cache for this policy and these roots; NULL if there is none
    nc_sent_chain sent;
    const nc_host_name *host;
    uint16_t port;
} nc_trust_input;

/// Evaluates the chain. Fills `out` except for its lists of pins.
///
/// - verified: receives the chain that OpenSSL verified, owned by the caller; NULL if none was verified.
void nc_trust_evaluate_chain(nc_trust_result *out, STACK_OF(X509) * *verified, const nc_trust_input *input);

/// Fills the lists of pins: those of the chain (the verified one, or the one that was sent) and those of the rule. If
/// the chain was refused because no pin matches, adds the first pins to the message.
void nc_trust_list_pins(nc_trust_result *result, STACK_OF(X509) * verified, const nc_trust_input *input);

/// Calls the policy's observer, and changes the result if the observer decides differently.
void nc_trust_call_observer(nc_trust_result *result, const nc_trust *trust, const nc_trust_event *event);

/* --- profile.c: the strict profile of RFC 5280 and the CA/Browser Forum (Baseline Requirements) --- */

/// The inputs of the check; borrowed.
typedef struct nc_profile_input {
    STACK_OF(X509) * chain; // the verified chain, the leaf first
    X509_STORE *lists;      // contains the revocation lists; NULL if there are none
} nc_profile_input;

/// Returns the first violation as a static text without subject ("has a serial number that …"), or NULL if there is
/// none.
///
/// - at: receives the certificate's position, counted from 1; 0 for a revocation list.
const char *nc_profile_fault(const nc_profile_input *input, int *at);

#endif
