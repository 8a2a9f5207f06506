/// Whom a TLS connection believes: the trusted authorities and the lowest protocol version.
///
/// A policy is immutable once made and may be shared by any number of engines and requests. Connections checked under
/// one policy are never used under another. Nothing is taken from the environment (SSL_CERT_FILE, CURL_CA_BUNDLE).
///
///     nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("ca.pem")};
///     nc_trust *trust;
///     if (nc_trust_new(&trust, &options, &err) == NC_OK) request.trust = trust;
#ifndef NETCORE_TRUST_H
#define NETCORE_TRUST_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A policy that decides which certificates are believed.
typedef struct nc_trust nc_trust;

/// Where trusted authorities come from.
typedef NC_ENUM(nc_roots){
    /// The system's bundle, looked for in the usual places.
    NC_ROOTS_SYSTEM = 0,
    /// The PEM certificates in one file; read when the first connection needs them.
    NC_ROOTS_FILE = 1,
    /// PEM certificates in memory.
    NC_ROOTS_BYTES = 2,
} nc_roots;

/// The lowest TLS version that is spoken.
typedef NC_ENUM(nc_tls_version){
    /// TLS 1.2 (RFC 5246), the default.
    NC_TLS_1_2 = 0,
    /// TLS 1.3 (RFC 8446).
    NC_TLS_1_3 = 1,
} nc_tls_version;

/// What a policy is made from; all zero is the default policy.
typedef struct nc_trust_options {
    /// Where authorities come from.
    nc_roots roots;
    /// Path, for NC_ROOTS_FILE; copied.
    nc_slice ca_file;
    /// PEM text, for NC_ROOTS_BYTES; copied, at most NC_TRUST_MAX_PEM_BYTES.
    nc_slice ca_pem;
    /// The lowest protocol version.
    nc_tls_version min_version;
    /// True accepts every certificate and name: no protection against an active attacker.
    bool accepts_anything;
    /// Path of the client's own certificate and its chain, PEM, the leaf first; copied. Shown to the origin of the
    /// request's URL alone, never to another one that a redirect leads to, and never to a proxy. At most 1 MiB each.
    nc_slice identity_file;
    /// Path of its private key, PEM; empty: it stands in the same file. Copied.
    nc_slice identity_key_file;
    /// The certificate as PEM text instead of a path; copied.
    nc_slice identity_pem;
    /// The key as PEM text; empty: it stands in the same text. Copied.
    nc_slice identity_key_pem;
    /// Pass phrase of the key, without NUL, at most 1023 bytes; copied.
    nc_slice identity_password;
} nc_trust_options;

/// PEM text in one policy, in bytes, at most.
#define NC_TRUST_MAX_PEM_BYTES (16u * 1024u * 1024u)

/// Makes a policy.
///
/// The authorities themselves are read later, off the loop thread; a transfer that needs them fails with
/// NC_ERR_TLS_ROOTS when they cannot be.
/// - out:     owned by the caller; release with nc_trust_release().
/// - options: NULL means all zero.
/// Returns NC_OK, NC_ERR_USAGE when the options contradict each other, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_trust_new(nc_trust *NC_NULLABLE *NC_NONNULL out,
                                           const nc_trust_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_trust *nc_trust_retain(nc_trust *trust);

/// Drops a reference; the last one frees the policy. NULL is harmless.
///
/// Thread-safe.
NC_API void nc_trust_release(nc_trust *NC_NULLABLE trust);

/// Tells whether two policies decide alike, so that connections may be shared between them.
///
/// Thread-safe.
NC_API bool nc_trust_is_equal(const nc_trust *a, const nc_trust *b);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
