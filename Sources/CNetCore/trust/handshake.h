/// Evaluates the server's certificates during a TLS handshake: OpenSSL calls the policy, which accepts or refuses.
#ifndef NETCORE_PRIVATE_HANDSHAKE_H
#define NETCORE_PRIVATE_HANDSHAKE_H

#include "trust/known_chains.h"
#include "trust/report.h"

/// OpenSSL's SSL_CTX, declared here for folders that do not include OpenSSL.
struct ssl_ctx_st;

/// The inputs of a connection's evaluation. `trust`, `roots`, `known` and `gate` must outlive the SSL_CTX.
typedef struct nc_handshake {
    const nc_trust *trust;
    nc_root_store *roots;   // NULL if there are none
    nc_known_chains *known; // chains verified with `roots`
    nc_report_gate *gate;
    nc_host_name host;
    uint16_t port;
    nc_public_suffix_fn is_public_suffix;
    const nc_clock *clock;
    void *ctx;
    /// Called for each refusal, before the handshake ends.
    void (*refused)(void *ctx, const nc_trust_verdict *verdict);
} nc_handshake;

/// Makes every handshake of this context use the evaluation, and request OCSP staples if the policy requires them.
/// Copies `handshake`. Returns false if memory ran out.
NC_NODISCARD bool nc_handshake_install(struct ssl_ctx_st *context, const nc_handshake *handshake);

/// Sets the policy's TLS versions and ciphers on a context, also on a proxy's. Returns false if OpenSSL refuses them.
NC_NODISCARD bool nc_handshake_configure(struct ssl_ctx_st *context, const nc_trust *trust);

#endif
