/// The judgement within a TLS handshake: OpenSSL asks, the policy answers, the connection goes on or ends.
#ifndef NETCORE_PRIVATE_HANDSHAKE_H
#define NETCORE_PRIVATE_HANDSHAKE_H

#include "trust/known_chains.h"
#include "trust/report.h"

/// OpenSSL's SSL_CTX, by the name that folders without OpenSSL may use.
struct ssl_ctx_st;

/// What a connection's context is judged by; `trust`, `roots`, `known` and `gate` outlive it.
typedef struct nc_handshake {
    const nc_trust *trust;
    nc_root_store *roots;   // NULL where there are none
    nc_known_chains *known; // those that verified with these
    nc_report_gate *gate;
    nc_host_name host;
    uint16_t port;
    nc_public_suffix_fn is_public_suffix;
    const nc_clock *clock;
    void *ctx;
    /// Told of a refusal, before the handshake ends; never of what is allowed.
    void (*refused)(void *ctx, const nc_trust_verdict *verdict);
} nc_handshake;

/// Has every handshake of this context judged so, and OCSP replies asked for where the policy requires them; copied.
/// False without memory.
NC_NODISCARD bool nc_handshake_install(struct ssl_ctx_st *context, const nc_handshake *handshake);

/// Sets what the policy says of versions and ciphers on any context, a proxy's too; false when OpenSSL refuses.
NC_NODISCARD bool nc_handshake_configure(struct ssl_ctx_st *context, const nc_trust *trust);

#endif
