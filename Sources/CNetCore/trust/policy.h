/// Trust policies, as the rest of the core uses them.
#ifndef NETCORE_PRIVATE_POLICY_H
#define NETCORE_PRIVATE_POLICY_H

#include "trust/pattern.h"

#include <netcore/hooks.h>
#include <netcore/trust.h>
#include <stdatomic.h>

/// OpenSSL's X509_STORE, declared here for folders that do not include OpenSSL.
typedef struct x509_store_st nc_root_store;

/// Returns true if a lower-case name is a public suffix, so that the strict profile refuses a wildcard before it. A
/// folder above provides it.
typedef bool (*nc_public_suffix_fn)(nc_slice name);

/// The rules by host, and the observer; defined in trust/rules.h.
typedef struct nc_rules nc_rules;

struct nc_trust {
    atomic_uint references;
    nc_rules *rules; // never NULL
    nc_trust
        *anonymous; // the equal policy without identity, which owns the CA texts; NULL if this policy has no identity
    size_t text_bytes;        // bytes after the struct
    nc_trust_options options; // each text is NUL-terminated, or NULL if empty; rules and observer are in `rules`
};

/// Returns the equal policy without identity, possibly the same object. The caller releases it.
///
/// A cross-origin redirect uses it, so that the client certificate is sent only to the request's origin. Thread-safe.
nc_trust *nc_trust_without_identity(nc_trust *trust);

/// Returns true if the policy has a client certificate.
bool nc_trust_has_identity(const nc_trust *trust);

/// Returns true if chains are verified with the policy's authorities.
bool nc_trust_needs_roots(const nc_trust *trust);
/// Returns true if the policy accepts every certificate for every name, so that nothing has to be checked.
bool nc_trust_checks_nothing(const nc_trust *trust);

/// Returns true if the policy does not authenticate the origin's name. HSTS and Alt-Svc entries of such an origin are
/// not stored.
bool nc_trust_believes_anybody(const nc_trust *trust);

/// Returns true if an observer may accept a chain that the policy refuses.
bool nc_trust_may_be_overridden(const nc_trust *trust);
/// Returns true if TLS sessions may be resumed. A resumed session has no OCSP staple and no chain for an observer.
bool nc_trust_may_resume(const nc_trust *trust);
/// Returns true if the policy has pins or an observer, which require libcurl's OpenSSL backend.
bool nc_trust_has_rules(const nc_trust *trust);

/// Returns true if a plain http request must be refused: the rule for the host and port enforces pins. Unless that rule
/// names this port, a narrower rule for another port that enforces pins also counts.
bool nc_trust_forbids_plaintext(const nc_trust *trust, const nc_host_name *host, uint16_t port, int64_t at_s);

/// Evaluates as nc_trust_evaluate(), with public suffixes for the strict profile.
NC_NODISCARD nc_status nc_trust_evaluate_with(nc_trust_verdict *out, const nc_trust *trust,
                                              const nc_trust_question *question, nc_public_suffix_fn is_public_suffix,
                                              nc_error *err);

/// Reads the policy's authorities and revocation lists into a new store. May block on disk. The caller owns `*out`.
/// Fails with NC_ERR_TLS_ROOTS; the message names the file and the reason of the system or of OpenSSL.
NC_NODISCARD nc_status nc_trust_load_roots(nc_root_store **out, const nc_trust *trust, const nc_file_ops *ops,
                                           nc_error *err);

/// Frees a store. NULL is allowed.
void nc_trust_free_roots(nc_root_store *roots);

#endif
