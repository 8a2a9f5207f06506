/// The judgement itself: AFNetworking's order of questions, each of them answered on what OpenSSL has verified.
#ifndef NETCORE_PRIVATE_JUDGE_H
#define NETCORE_PRIVATE_JUDGE_H

#include "trust/known_chains.h"
#include "trust/profile.h"
#include "trust/rules.h"
#include "trust/verify.h"

/// What is judged; borrowed.
typedef struct nc_trust_case {
    const nc_trust *trust;
    X509_STORE *roots;      // the policy's authorities and revocation lists; NULL where chains need not verify
    nc_known_chains *known; // of this policy and these roots; NULL: nothing is remembered
    nc_sent_chain sent;
    const nc_host_name *host;
    uint16_t port;
    nc_public_suffix_fn is_public_suffix; // for the strict profile; NULL: no name is one
} nc_trust_case;

/// Judges. Fills `out` but for its lists.
///
/// - verified: the chain that OpenSSL verified, owned by the caller; NULL where none was.
void nc_trust_judge(nc_trust_verdict *out, STACK_OF(X509) * *verified, const nc_trust_case *asked);

/// Fills the lists of pins, for a verdict that somebody reads: the chain's (the verified one, or what was sent) and the
/// rule's; and adds them to the message of a refusal for want of a pin.
void nc_trust_list_pins(nc_trust_verdict *verdict, STACK_OF(X509) * verified, const nc_trust_case *asked);

/// Lets the observer decide, and notes what it changes.
void nc_trust_let_decide(nc_trust_verdict *verdict, const nc_trust *trust, const nc_trust_event *event);

#endif
