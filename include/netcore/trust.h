/// Whom a TLS connection believes: authorities, pins (trust_rules.h), protocol versions, the client's own certificate.
///
/// A policy is immutable once made and may be shared by any number of engines and requests. Connections checked under
/// one policy are never used under another. Nothing is taken from the environment (SSL_CERT_FILE, CURL_CA_BUNDLE).
/// Names are compared with the subject alternative names alone (RFC 9525), the chain is verified by OpenSSL with
/// X509_V_FLAG_X509_STRICT at security level 2, and pins count only within the chain that it has verified.
///
///     nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("ca.pem")};
///     nc_trust *trust;
///     if (nc_trust_new(&trust, &options, &err) == NC_OK) request.trust = trust;
#ifndef NETCORE_TRUST_H
#define NETCORE_TRUST_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/trust_rules.h>
#include <netcore/trust_verdict.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Where trusted authorities come from.
typedef NC_ENUM(nc_roots){
    /// The system's bundle, looked for in the usual places.
    NC_ROOTS_SYSTEM = 0,
    /// The PEM certificates in one file; read when the first connection needs them.
    NC_ROOTS_FILE = 1,
    /// PEM certificates in memory.
    NC_ROOTS_BYTES = 2,
    /// Nobody but the certificates that a rule of mode NC_PIN_CERTIFICATE names for the host; there is such a rule.
    NC_ROOTS_PINNED = 3,
} nc_roots;

/// The lowest TLS version that is spoken.
typedef NC_ENUM(nc_tls_version){
    /// TLS 1.2 (RFC 5246), the default.
    NC_TLS_1_2 = 0,
    /// TLS 1.3 (RFC 8446).
    NC_TLS_1_3 = 1,
} nc_tls_version;

/// The highest TLS version that is spoken.
typedef NC_ENUM(nc_tls_limit){
    /// The newest that both sides have, the default.
    NC_TLS_LIMIT_NONE = 0,
    /// TLS 1.2 (RFC 5246).
    NC_TLS_LIMIT_1_2 = 1,
    /// TLS 1.3 (RFC 8446).
    NC_TLS_LIMIT_1_3 = 2,
} nc_tls_limit;

/// Writes the pass phrase of the client's key to `buffer`, without NUL; called on a worker thread, and may block. It
/// may release the engine, but not wait in nc_engine_close(), which waits for this thread.
///
/// Returns its length in bytes, at most `capacity`; more than that, or 0, means that there is none.
typedef size_t (*nc_pass_phrase_fn)(void *NC_NULLABLE ctx, char *buffer, size_t capacity);

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
    /// True accepts every certificate and name, also of proxies: no protection against an active attacker. Where a rule
    /// with pins covers the host, the key that the other side proves to hold must be pinned all the same.
    bool accepts_anything;
    /// Path of the client's own certificate and its chain, PEM with the leaf first, or PKCS#12 with its key; copied.
    /// Shown to the origin of the request's URL alone, never to another one that a redirect leads to, and never to a
    /// proxy. At most 1 MiB each.
    nc_slice identity_file;
    /// Path of its private key, PEM; empty: it stands in the same file. Copied.
    nc_slice identity_key_file;
    /// The certificate as bytes, PEM or PKCS#12, instead of a path; copied.
    nc_slice identity_pem;
    /// The key as PEM text; empty: it stands in the same text. Copied.
    nc_slice identity_key_pem;
    /// Pass phrase of the key, without NUL, at most 1023 bytes; copied.
    nc_slice identity_password;
    /// Asked for the pass phrase when `identity_password` is empty and one is needed; may be NULL.
    nc_pass_phrase_fn NC_NULLABLE identity_pass_phrase;
    /// Handed to it; lives until `identity_release`.
    void *NC_NULLABLE identity_ctx;
    /// Called once with it when the policy is freed, on any thread, and only when it was made; may be NULL.
    void (*NC_NULLABLE identity_release)(void *NC_NULLABLE ctx);
    /// Rules by host; copied, and what they name is read at once. NULL when there are none.
    const nc_trust_rule *NC_NULLABLE rules;
    /// How many, at most NC_TRUST_MAX_RULES.
    size_t rule_count;
    /// True lets a chain pass that does not verify, of the origin alone. Then pins decide: a host without a rule that
    /// enforces some is refused, unless its name is not checked either. Of a chain that does not verify only the leaf's
    /// key counts, or a pinned key that is sent along and from which the chain to the leaf verifies.
    bool accepts_invalid_chains;
    /// True does not compare the origin's name. Each such connection is noted, and of keys only the leaf's counts.
    bool skips_name_check;
    /// Path of PEM certificate revocation lists, at least one for each authority; copied. Each certificate of a chain
    /// is looked up, and one whose list is missing or too old is refused. Not together with chains that are not
    /// verified.
    nc_slice crl_file;
    /// True asks for a stapled OCSP reply (RFC 6066, 8) and refuses a certificate without a good one.
    bool requires_staple;
    /// The highest protocol version.
    nc_tls_limit max_version;
    /// Ciphers up to TLS 1.2, in OpenSSL's syntax; copied. Empty: OpenSSL's default.
    nc_slice ciphers;
    /// Cipher suites of TLS 1.3, in OpenSSL's syntax; copied. Empty: OpenSSL's, AES with 128 bits first; an order that
    /// openssl.cnf has stands.
    nc_slice cipher_suites;
    /// True offers no protocol by ALPN (RFC 7301), so that HTTP/1.1 is spoken.
    bool skips_alpn;
    /// Who is told of refusals and may refuse more; copied.
    nc_trust_observer observer;
    /// True demands of every chain the form of RFC 5280 and of the rules for public servers (CA/Browser Forum); see
    /// docs/trust.md, "The strict profile". Not together with chains that are not verified.
    bool is_strict;
    /// Certificates of a verified chain at most, the leaf and the trusted one included, self-issued ones between them
    /// not (as for path lengths, RFC 5280, 4.2.1.9); 0 is no limit of the policy's.
    uint32_t max_chain_length;
} nc_trust_options;

/// PEM text in one policy, in bytes, at most.
#define NC_TRUST_MAX_PEM_BYTES (16u * 1024u * 1024u)

/// Makes a policy.
///
/// Files with pins are read here. The authorities are read later, off the loop thread; a transfer that needs them fails
/// with NC_ERR_TLS_ROOTS when they cannot be.
/// - out:     owned by the caller; release with nc_trust_release().
/// - options: NULL means all zero. The observer's release is called on success only, with the last reference.
/// Returns NC_OK, NC_ERR_USAGE when the options contradict each other, NC_ERR_BAD_PIN (a pin or host pattern that is
/// malformed, empty, unknown or cannot be read, or a rule with too few), NC_ERR_NO_MEMORY.
/// Thread-safe.
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

/// Counts what is unwise about a policy although it works, such as a rule without a backup pin.
///
/// Thread-safe.
NC_API size_t nc_trust_warning_count(const nc_trust *trust);

/// Writes warning `index` to `out`, one line, NUL-terminated and cut to fit.
///
/// Returns false, and writes an empty line, when there is none. Thread-safe.
NC_API bool nc_trust_warning_at(const nc_trust *trust, size_t index, char *out, size_t capacity);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
