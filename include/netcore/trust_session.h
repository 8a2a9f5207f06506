/// Applies a trust policy to connections that the program opens itself with OpenSSL, without an engine.
///
/// A context has read the policy's files and is used for any number of connections. A session is one connection: an
/// OpenSSL object that evaluates the server's chain as the engine does, with name, pins and observer.
///
///     if (nc_trust_context_new(&context, trust, &err) == NC_OK &&
///         nc_trust_session_new(&session, context, nc_slice_of("redis.example.com"), 6379, &err) == NC_OK) {
///         SSL *tls = nc_trust_session_tls(session);
///         SSL_set_fd(tls, socket);
///         if (SSL_connect(tls) != 1) // then nc_trust_session_refusal() says whether the policy refused
#ifndef NETCORE_TRUST_SESSION_H
#define NETCORE_TRUST_SESSION_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/trust.h>

/// OpenSSL's SSL, declared here because the public headers do not include OpenSSL.
struct ssl_st;

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A policy with its authorities and its client certificate in memory.
typedef struct nc_trust_context nc_trust_context;

/// One TLS connection of a context.
typedef struct nc_trust_session nc_trust_session;

/// Creates a context. Reads the policy's files, so it may block on a disk.
///
/// - out: owned by the caller; free it with nc_trust_context_free() after its sessions.
/// Returns NC_OK, NC_ERR_TLS_ROOTS, NC_ERR_TLS_IDENTITY, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_trust_context_new(nc_trust_context *NC_NULLABLE *NC_NONNULL out, nc_trust *trust,
                                                   nc_error *NC_NULLABLE err);

/// Frees a context. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_trust_context_free(nc_trust_context *NC_NULLABLE context);

/// Creates a session for a connection to a host and port. It offers no protocol by ALPN.
///
/// - host: a name or an address; it is checked against the certificate, and a name is sent (SNI).
/// - out:  free it with nc_trust_session_free(). NULL after an error.
/// Returns NC_OK, NC_ERR_BAD_URL (a host that no certificate can contain), NC_ERR_UNSUPPORTED (OpenSSL refuses the
/// policy's ciphers), NC_ERR_TLS_IDENTITY, NC_ERR_NO_MEMORY.
/// Confined: one thread at a time for a context and all of its sessions.
NC_API NC_NODISCARD nc_status nc_trust_session_new(nc_trust_session *NC_NULLABLE *NC_NONNULL out,
                                                   nc_trust_context *context, nc_slice host, uint16_t port,
                                                   nc_error *NC_NULLABLE err);

/// Returns OpenSSL's object, a client before its handshake. It is valid as long as the session, which frees it;
/// the caller closes the socket.
///
/// Confined: one thread at a time.
NC_API struct ssl_st *nc_trust_session_tls(nc_trust_session *session);

/// Returns why the policy refused the server's chain: an NC_ERR_TLS_ or NC_ERR_PIN_ status, or NC_OK if it did not.
///
/// - err: receives the reason.
/// Confined: one thread at a time.
NC_API nc_status nc_trust_session_refusal(const nc_trust_session *session, nc_error *NC_NULLABLE err);

/// Frees a session and its OpenSSL object. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_trust_session_free(nc_trust_session *NC_NULLABLE session);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
