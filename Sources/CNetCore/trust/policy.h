/// What the rest of the core sees of a trust policy.
#ifndef NETCORE_PRIVATE_POLICY_H
#define NETCORE_PRIVATE_POLICY_H

#include "trust/pattern.h"

#include <netcore/hooks.h>
#include <netcore/trust.h>
#include <stdatomic.h>

/// OpenSSL's X509_STORE, by the name that folders without OpenSSL may use.
typedef struct x509_store_st nc_root_store;

/// Whether a name in lower case is a public suffix of a registry, so that the strict profile refuses a wildcard before
/// it. The folders above know the list.
typedef bool (*nc_public_suffix_fn)(nc_slice name);

/// The rules by host, and the observer; trust/rules.h knows them.
typedef struct nc_rules nc_rules;

struct nc_trust {
    atomic_uint references;
    nc_rules *rules;     // never NULL
    nc_trust *anonymous; // The equal policy without identity, whose CA texts this one borrows; NULL when it has none.
    size_t text_bytes;   // What lies behind the struct.
    nc_trust_options options; // Each text is NUL-terminated; NULL when empty. Rules and observer are in `rules`.
};

/// The equal policy without identity, which may be the same one; the caller releases it.
///
/// A redirect to another origin goes on with it, so that the certificate is shown nowhere else. Thread-safe.
nc_trust *nc_trust_without_identity(nc_trust *trust);

/// Tells whether the policy has a client certificate.
bool nc_trust_has_identity(const nc_trust *trust);

/// Tells whether chains are verified with the policy's own authorities.
bool nc_trust_needs_roots(const nc_trust *trust);
/// Tells whether the policy accepts whatever it is shown, by whom it may be: nothing has to be checked.
bool nc_trust_checks_nothing(const nc_trust *trust);

/// Tells whether anybody may answer for the origin: its name is not compared, so that what is heard is not remembered
/// for others.
bool nc_trust_believes_anybody(const nc_trust *trust);

/// Tells whether an observer may allow what the policy refuses.
bool nc_trust_may_be_overridden(const nc_trust *trust);
/// Tells whether TLS sessions may be resumed: one that is brings no stapled reply, and nothing to ask an observer of.
bool nc_trust_may_resume(const nc_trust *trust);
/// Tells whether the policy has rules with pins, or an observer: what a libcurl without OpenSSL cannot do.
bool nc_trust_has_rules(const nc_trust *trust);

/// Whether a request in the clear has to be refused: the rule for the host and port enforces pins, or, unless that rule
/// is for this very port, a narrower one for another port does.
bool nc_trust_forbids_plaintext(const nc_trust *trust, const nc_host_name *host, uint16_t port, int64_t at_s);

/// nc_trust_evaluate(), with the list of public suffixes for the strict profile.
NC_NODISCARD nc_status nc_trust_evaluate_with(nc_trust_verdict *out, const nc_trust *trust,
                                              const nc_trust_question *question, nc_public_suffix_fn is_public_suffix,
                                              nc_error *err);

/// Reads the policy's authorities and revocation lists into a new store; may block on disk. The caller owns `*out`.
/// NC_ERR_TLS_ROOTS names the file, and errno or OpenSSL's reason.
NC_NODISCARD nc_status nc_trust_load_roots(nc_root_store **out, const nc_trust *trust, const nc_file_ops *ops,
                                           nc_error *err);

/// Frees what nc_trust_load_roots() made; NULL is harmless.
void nc_trust_free_roots(nc_root_store *roots);

#endif
