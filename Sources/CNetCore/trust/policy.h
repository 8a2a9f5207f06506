/// Internal interface of trust policies.
#ifndef NETCORE_PRIVATE_POLICY_H
#define NETCORE_PRIVATE_POLICY_H

#include "trust/pattern.h"

#include <netcore/digest.h>
#include <netcore/hooks.h>
#include <netcore/trust.h>
#include <stdatomic.h>

/// OpenSSL's X509_STORE, declared here for folders that do not include OpenSSL.
typedef struct x509_store_st nc_root_store;

/// The rules by host, and the observer; defined in trust/rules.h.
typedef struct nc_rules nc_rules;

enum { NC_TRUST_MARK_BYTES = NC_SHA256_BYTES };

/// The values of nc_trust.mark_state: one thread stores the mark, the others compute it themselves meanwhile.
enum { NC_TRUST_MARK_MISSING, NC_TRUST_MARK_BEING_STORED, NC_TRUST_MARK_STORED };

struct nc_trust {
    atomic_uint references;
    atomic_int mark_state;
    uint8_t mark[NC_TRUST_MARK_BYTES]; // if it is stored
    nc_rules *rules;                   // never NULL
    nc_trust *anonymous; // the equal policy without client certificate, which owns the texts; NULL if this has none
    size_t text_bytes;   // size of the texts behind the struct
    nc_trust_options options; // texts are NUL-terminated, or NULL if empty; rules and observer are in `rules` instead
};

/// Returns the equal policy without client certificate, which may be the same object. The caller releases it.
///
/// A cross-origin redirect uses it, so that the client certificate is sent only to the request's origin. Thread-safe.
nc_trust *nc_trust_without_identity(nc_trust *trust);

/// Returns true if the policy has a client certificate.
bool nc_trust_has_identity(const nc_trust *trust);

/// Computes a digest that is equal for policies that make the same decisions, in every process. It covers neither the
/// client certificate nor the contents of files. Computed once for each policy.
///
/// Returns false if an observer makes decisions, which are unknown, if memory is exhausted, or if OpenSSL fails.
/// Thread-safe.
NC_NODISCARD bool nc_trust_mark(uint8_t out[NC_TRUST_MARK_BYTES], nc_trust *trust);

/// Returns true if chains are verified with the policy's authorities.
bool nc_trust_needs_roots(const nc_trust *trust);
/// Returns true if the policy accepts every certificate for every name, so that no handshake needs an evaluation.
bool nc_trust_checks_nothing(const nc_trust *trust);

/// Returns true if the policy does not authenticate the origin's name. HSTS and Alt-Svc fields are then ignored.
bool nc_trust_skips_authentication(const nc_trust *trust);

/// Returns true if an observer may accept a chain that the policy refuses.
bool nc_trust_may_be_overridden(const nc_trust *trust);
/// Returns true if TLS sessions may be resumed. In a resumed session there is neither an OCSP staple nor a chain for
/// the observer.
bool nc_trust_may_resume(const nc_trust *trust);
/// Returns true if the policy has pins or an observer, which require libcurl's OpenSSL backend.
bool nc_trust_has_rules(const nc_trust *trust);

/// Returns true if a plain http request must be refused, because the rule for the host and port enforces pins. If that
/// rule does not name the port, the request is also refused if a narrower rule for another port enforces pins.
bool nc_trust_forbids_plaintext(const nc_trust *trust, const nc_host_name *host, uint16_t port, int64_t at_s);

/// Reads the policy's authorities and revocation lists into a new store. May block on disk. The caller owns `*out`.
/// Fails with NC_ERR_TLS_ROOTS; the message names the file and the reason of the system or of OpenSSL.
NC_NODISCARD nc_status nc_trust_load_roots(nc_root_store **out, const nc_trust *trust, const nc_file_ops *ops,
                                           nc_error *err);

/// Frees a store. NULL is allowed.
void nc_trust_free_roots(nc_root_store *roots);

#endif
