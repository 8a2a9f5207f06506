/// Evaluates a certificate chain by a policy, in AFNetworking's order of checks, on the chain that OpenSSL verified.
#ifndef NETCORE_PRIVATE_JUDGE_H
#define NETCORE_PRIVATE_JUDGE_H

#include "trust/known_chains.h"
#include "trust/profile.h"
#include "trust/rules.h"
#include "trust/verify.h"

/// The inputs of an evaluation; borrowed.
typedef struct nc_trust_case {
    const nc_trust *trust;
    X509_STORE *roots;      // the policy's authorities and revocation lists; NULL if chains need not verify
    nc_known_chains *known; // the cache for this policy and these roots; NULL disables caching
    nc_sent_chain sent;
    const nc_host_name *host;
    uint16_t port;
    nc_public_suffix_fn is_public_suffix; // for the strict profile; NULL means that no name is a suffix
} nc_trust_case;

/// Evaluates the chain. Fills `out` except its lists.
///
/// - verified: receives the chain that OpenSSL verified, owned by the caller; NULL if none was verified.
void nc_trust_judge(nc_trust_verdict *out, STACK_OF(X509) * *verified, const nc_trust_case *asked);

/// Fills the lists of pins: those of the chain (verified, or as sent) and those of the rule. Adds them to the message
/// of a refusal for a missing pin.
void nc_trust_list_pins(nc_trust_verdict *verdict, STACK_OF(X509) * verified, const nc_trust_case *asked);

/// Calls the observer and records what it changes.
void nc_trust_let_decide(nc_trust_verdict *verdict, const nc_trust *trust, const nc_trust_event *event);

#endif
