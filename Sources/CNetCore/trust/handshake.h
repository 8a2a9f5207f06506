/// Evaluates the server's certificates during a TLS handshake, in a callback of OpenSSL, and reports the results.
#ifndef NETCORE_PRIVATE_HANDSHAKE_H
#define NETCORE_PRIVATE_HANDSHAKE_H

#include "trust/pattern.h"
#include "trust/policy.h"
#include "trust/verified_chain_cache.h"

/* --- report.c: reports to the policy's observer, at most once a minute for each endpoint --- */

enum { NC_REPORT_MAX_ENDPOINTS = 64 };

/// The last report about an endpoint (host and port).
typedef struct nc_report_entry {
    uint64_t endpoint_hash; // hash of host and port; 0 if the slot is free
    uint64_t reported_ns;
    uint64_t unreported;
} nc_report_entry;

/// Limits the rate of reports: has the time of the last report for each endpoint. If it is full, the oldest entry is
/// replaced. Start with a zeroed struct. Confined: one thread at a time.
typedef struct nc_report_limiter {
    nc_report_entry entries[NC_REPORT_MAX_ENDPOINTS];
} nc_report_limiter;

/// Returns true if a report about an endpoint is allowed at `now_ns` (monotonic). `unreported` receives the number of
/// reports that were suppressed since the last one.
bool nc_report_limiter_allows(nc_report_limiter *gate, const nc_host_name *host, uint16_t port, uint64_t now_ns,
                              uint64_t *unreported);

/// Returns true if the policy has an observer that receives this result.
bool nc_report_is_due(const nc_trust *trust, const nc_trust_result *result);

/// Reports a refused plain http request, if the policy has an observer and the rate limit allows it.
void nc_report_plaintext(const nc_trust *trust, nc_report_limiter *gate, const nc_host_name *host, uint16_t port,
                         uint64_t now_ns);

/* --- handshake.c --- */

/// OpenSSL's SSL_CTX, declared here for folders that do not include OpenSSL.
struct ssl_ctx_st;

/// The inputs of a connection's evaluation. `trust`, `roots`, `chain_cache` and `gate` must outlive the SSL_CTX.
typedef struct nc_handshake {
    const nc_trust *trust;
    nc_root_store *roots;                 // NULL if the policy needs no authorities
    nc_verified_chain_cache *chain_cache; // chains verified with `roots`
    nc_report_limiter *gate;
    nc_host_name host;
    uint16_t port;
    const nc_clock *clock;
    void *ctx;
    /// Called for each refusal, before the handshake ends.
    void (*refused)(void *ctx, const nc_trust_result *result);
} nc_handshake;

/// Installs the evaluation for all handshakes of this context. They also request OCSP staples if the policy requires
/// them. `handshake` is copied. Returns false if memory ran out.
NC_NODISCARD bool nc_handshake_install(struct ssl_ctx_st *context, const nc_handshake *handshake);

/// Sets the policy's TLS versions and ciphers on the context of a server or a proxy. Returns false if OpenSSL refuses
/// them.
NC_NODISCARD bool nc_handshake_configure(struct ssl_ctx_st *context, const nc_trust *trust);

#endif
