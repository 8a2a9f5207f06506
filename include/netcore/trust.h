/// TLS trust policies: authorities, pins (trust_rules.h), protocol versions, and the client's certificate.
///
/// A policy is immutable and may be shared by any number of engines and requests. Two policies never share connections,
/// unless nc_trust_is_equal() returns true.
///
/// - The environment is ignored (SSL_CERT_FILE, CURL_CA_BUNDLE).
/// - Names are compared with the subject alternative names only (RFC 9525).
/// - OpenSSL verifies the chain with X509_V_FLAG_X509_STRICT at security level 2.
/// - Pins match only certificates of the verified chain.
///
///     nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("ca.pem")};
///     nc_trust *trust;
///     if (nc_trust_new(&trust, &options, &err) == NC_OK) request.trust = trust;
#ifndef NETCORE_TRUST_H
#define NETCORE_TRUST_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/trust_result.h>
#include <netcore/trust_rules.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The source of trusted authorities.
typedef NC_ENUM(nc_roots){
    /// The system's bundle, searched for in the usual paths of Linux distributions.
    NC_ROOTS_SYSTEM = 0,
    /// The PEM certificates of one file, read when the first connection needs them.
    NC_ROOTS_FILE = 1,
    /// PEM certificates in memory.
    NC_ROOTS_BYTES = 2,
    /// Only the certificates that a rule with NC_PIN_CERTIFICATE lists for the host. At least one such rule is
    /// required.
    NC_ROOTS_PINNED = 3,
} nc_roots;

/// The lowest TLS version to accept.
typedef NC_ENUM(nc_tls_version){
    /// TLS 1.2 (RFC 5246), the default.
    NC_TLS_1_2 = 0,
    /// TLS 1.3 (RFC 8446).
    NC_TLS_1_3 = 1,
} nc_tls_version;

/// The highest TLS version to offer.
typedef NC_ENUM(nc_tls_limit){
    /// The newest version that both sides support, the default.
    NC_TLS_LIMIT_NONE = 0,
    /// TLS 1.2 (RFC 5246).
    NC_TLS_LIMIT_1_2 = 1,
    /// TLS 1.3 (RFC 8446).
    NC_TLS_LIMIT_1_3 = 2,
} nc_tls_limit;

/// Writes the pass phrase of the client certificate's key to `buffer`, without NUL.
///
/// Called on a worker thread, and may block. It may release the engine, but must not call nc_engine_close(), which
/// waits for this thread.
/// Returns the length in bytes, at most `capacity`. A larger value or 0 means that there is no pass phrase.
typedef size_t (*nc_pass_phrase_fn)(void *NC_NULLABLE ctx, char *buffer, size_t capacity);

/// Options of a policy. All zero is the default policy.
typedef struct nc_trust_options {
    /// Source of the authorities.
    nc_roots roots;
    /// Path, for NC_ROOTS_FILE; copied.
    nc_slice ca_file;
    /// PEM text, for NC_ROOTS_BYTES; copied, at most NC_TRUST_MAX_PEM_BYTES.
    nc_slice ca_pem;
    /// The lowest TLS version.
    nc_tls_version min_version;
    /// True accepts every certificate and name, of proxies too. Connections are then not protected against an active
    /// attacker. If a rule with pins covers the host, the key of the leaf certificate must still be pinned.
    bool accepts_anything;
    /// Path of the client certificate and its chain: PEM with the leaf first, or PKCS#12 with its key. Copied. At most
    /// 1 MiB. The certificate is sent only to the origin of the request's URL, never after a cross-origin redirect and
    /// never to a proxy.
    nc_slice identity_file;
    /// Path of the certificate's private key, PEM, at most 1 MiB; copied. Empty means that `identity_file` contains the
    /// key.
    nc_slice identity_key_file;
    /// The client certificate as PEM or PKCS#12 bytes, instead of a path; copied.
    nc_slice identity_pem;
    /// The private key as PEM text; copied. Empty means that `identity_pem` contains it.
    nc_slice identity_key_pem;
    /// Pass phrase of the key, without NUL, at most 1023 bytes; copied.
    nc_slice identity_password;
    /// Called for the pass phrase if one is needed and `identity_password` is empty. May be NULL.
    nc_pass_phrase_fn NC_NULLABLE identity_pass_phrase;
    /// Passed to `identity_pass_phrase` and `identity_release`. Must stay valid until `identity_release` is called.
    void *NC_NULLABLE identity_ctx;
    /// Called once when the policy is freed, on any thread, if nc_trust_new() succeeded. May be NULL.
    void (*NC_NULLABLE identity_release)(void *NC_NULLABLE ctx);
    /// Rules by host; copied. The files that they list are read by nc_trust_new(). NULL means none.
    const nc_trust_rule *NC_NULLABLE rules;
    /// Number of rules, at most NC_TRUST_MAX_RULES.
    size_t rule_count;
    /// True accepts an origin's chain that does not verify, if a pin matches. If no enforced rule covers the host, the
    /// chain is refused; if `skips_name_check` is true too, every chain of such a host is accepted. A pin matches the
    /// leaf's key. It also matches the key of another certificate, if the server sends that certificate and the chain
    /// from it to the leaf verifies.
    bool accepts_invalid_chains;
    /// True skips the name check of the origin. The observer receives each such connection. Pins are compared with the
    /// leaf's key only.
    bool skips_name_check;
    /// Path of PEM certificate revocation lists, at least one for each authority; copied. Each certificate of a chain
    /// is checked. A certificate is refused if its list is missing or expired. May not be combined with
    /// `accepts_invalid_chains`.
    nc_slice crl_file;
    /// True requires an OCSP staple (RFC 6066, 8), and refuses a certificate if the staple is missing or does not
    /// report it as good.
    bool requires_staple;
    /// The highest TLS version to offer.
    nc_tls_limit max_version;
    /// Ciphers up to TLS 1.2, in OpenSSL's syntax; copied. Empty means OpenSSL's default.
    nc_slice ciphers;
    /// Cipher suites of TLS 1.3, in OpenSSL's syntax; copied. Empty means OpenSSL's suites, with 128-bit AES first. An
    /// order in openssl.cnf takes precedence.
    nc_slice cipher_suites;
    /// True offers no protocol by ALPN (RFC 7301), so that HTTP/1.1 is used.
    bool skips_alpn;
    /// Receives refusals and may refuse more connections; copied.
    nc_trust_observer observer;
    /// True requires every chain to satisfy RFC 5280 and the rules for public servers (CA/Browser Forum); see
    /// docs/trust.md, "The strict profile". May not be combined with `accepts_invalid_chains`.
    bool is_strict;
    /// Largest number of certificates in a verified chain, including the leaf and the trusted authority. Self-issued
    /// certificates between these two do not count (as in RFC 5280, 4.2.1.9). 0 means no limit.
    uint32_t max_chain_length;
} nc_trust_options;

/// The largest PEM text of one policy, in bytes.
#define NC_TRUST_MAX_PEM_BYTES (16u * 1024u * 1024u)

/// Creates a policy.
///
/// Files with pins are read by this call. The authorities are read later, on a worker thread. If they cannot be read,
/// each transfer that needs them fails with NC_ERR_TLS_ROOTS.
/// - out:     owned by the caller; release it with nc_trust_release().
/// - options: NULL means all zero. If the call succeeds, the observer's `release` is called when the policy is freed.
/// Returns NC_OK, NC_ERR_USAGE (contradictory options), NC_ERR_BAD_PIN (a malformed, empty, unknown or unreadable pin
/// or host pattern, or a rule with too few pins), NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_trust_new(nc_trust *NC_NULLABLE *NC_NONNULL out,
                                           const nc_trust_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_trust *nc_trust_retain(nc_trust *trust);

/// Drops a reference. The last one frees the policy. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_trust_release(nc_trust *NC_NULLABLE trust);

/// Returns true if two policies make the same decisions, so that they may share connections.
///
/// Thread-safe.
NC_API bool nc_trust_is_equal(const nc_trust *a, const nc_trust *b);

/// Returns the number of warnings about a policy, such as a rule without a backup pin. A policy with warnings works.
///
/// Thread-safe.
NC_API size_t nc_trust_warning_count(const nc_trust *trust);

/// Writes warning `index` to `out` as one line, NUL-terminated and truncated to `capacity`.
///
/// Returns false and writes an empty line if there is no such warning.
/// Thread-safe.
NC_API bool nc_trust_warning_at(const nc_trust *trust, size_t index, char *out, size_t capacity);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
