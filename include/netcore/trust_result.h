/// Results of TLS trust evaluation: whether a policy accepts a certificate chain, the reason if not, and the pins of
/// the chain and of the policy.
///
/// The engine evaluates the server's chain in each TLS handshake. nc_trust_evaluate() does the same without a network.
/// OpenSSL parses the certificates.
///
///     nc_trust_question question = {.chain = pem, .host = nc_slice_of("api.example.com"), .at_s = time(NULL)};
///     nc_trust_result verdict;
///     if (nc_trust_evaluate(&verdict, trust, &question, &err) == NC_OK && verdict.status == NC_OK) …
#ifndef NETCORE_TRUST_RESULT_H
#define NETCORE_TRUST_RESULT_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A TLS trust policy; nc_trust_new() creates one.
typedef struct nc_trust nc_trust;

/// The size of a pin's text: "sha256/", 44 characters of base64, and NUL.
#define NC_PIN_TEXT_BYTES 52u
/// The largest number of pins of each kind that a result lists. The counts may be larger.
#define NC_TRUST_RESULT_MAX_PINS 16u
/// The largest number of certificates in one chain.
#define NC_CHAIN_MAX_CERTIFICATES 100u
/// The largest chain, in bytes.
#define NC_CHAIN_MAX_BYTES (1024u * 1024u)

/// Bits of nc_trust_result.notes: observations about a connection, whether it is allowed or not.
typedef NC_ENUM(nc_trust_flag){
    /// The rule for the host has expired.
    NC_TRUST_FLAG_RULE_EXPIRED = 1,
    /// The rule for the host is not enforced, because it has expired.
    NC_TRUST_FLAG_RULE_LAPSED = 2,
    /// No pin matched, and the rule is report-only.
    NC_TRUST_FLAG_REPORT_ONLY = 4,
    /// The name was not checked.
    NC_TRUST_FLAG_NAME_UNCHECKED = 8,
    /// The policy accepts chains that do not verify.
    NC_TRUST_FLAG_CHAIN_UNCHECKED = 16,
    /// The observer refused a connection that the policy allowed.
    NC_TRUST_FLAG_TIGHTENED = 32,
    /// The observer allowed a connection that the policy refused. `finding` is the refusal.
    NC_TRUST_FLAG_OVERRIDDEN = 64,
    /// The request uses plain http, so there is no chain.
    NC_TRUST_FLAG_PLAINTEXT = 128,
} nc_trust_flag;

/// An evaluation result. Its texts are NUL-terminated.
typedef struct nc_trust_result {
    /// NC_OK if allowed, otherwise a status of the trust range.
    nc_status status;
    /// The refusal that the policy found. It differs from `status` if it was not enforced, because the rule is
    /// report-only or has expired, or because the observer allowed the connection.
    nc_status finding;
    /// OpenSSL's X509_V_ERR_ number, or 0.
    int32_t native_code;
    /// NC_TRUST_FLAG_ bits.
    uint32_t notes;
    /// True if the listed chain is the one that OpenSSL verified. Otherwise it is the one that the server sent.
    bool is_verified;
    /// Number of certificates in the chain.
    uint32_t chain_count;
    /// Number of pins of the rule that covers the host; 0 if no rule does.
    uint32_t pin_count;
    /// Pins of the chain's public keys, the leaf's first. Empty strings if the chain was allowed without a finding.
    char chain_pins[NC_TRUST_RESULT_MAX_PINS][NC_PIN_TEXT_BYTES];
    /// Public key pins of the rule.
    char pins[NC_TRUST_RESULT_MAX_PINS][NC_PIN_TEXT_BYTES];
    /// The reason for a refusal, as one line; empty if there is none.
    char message[NC_ERROR_MESSAGE_BYTES];
} nc_trust_result;

/// Returns pin `index` of the chain, or "" if it is not listed.
///
/// Pure; call from any thread.
NC_API const char *nc_trust_result_chain_pin(const nc_trust_result *verdict, size_t index);

/// Returns pin `index` of the rule, or "" if it is not listed.
///
/// Pure; call from any thread.
NC_API const char *nc_trust_result_pin(const nc_trust_result *verdict, size_t index);

/// The chain and the host to evaluate.
typedef struct nc_trust_question {
    /// Certificates as the server sent them, the leaf first: PEM, or concatenated DER.
    nc_slice chain;
    /// Host of the URL, a name or an address; IPv6 with or without brackets.
    nc_slice host;
    /// Port. 0 means 443.
    uint16_t port;
    /// Time of the evaluation, in seconds since 1970.
    int64_t at_s;
} nc_trust_question;

/// Evaluates a chain as a handshake at `question->at_s` would, but without the observer and without OCSP.
///
/// If the chain is unreadable, the call succeeds, and the result's status is NC_ERR_TLS_CERTIFICATE.
/// - out: written if NC_OK is returned.
/// Returns NC_OK if there is a result, NC_ERR_TLS_ROOTS if the authorities or revocation lists cannot be read,
/// NC_ERR_NO_MEMORY.
/// Thread-safe; reads the policy's CA and CRL files.
NC_API NC_NODISCARD nc_status nc_trust_evaluate(nc_trust_result *out, const nc_trust *trust,
                                                const nc_trust_question *question, nc_error *NC_NULLABLE err);

/// The evaluation of one handshake, borrowed for the call.
typedef struct nc_trust_event {
    /// Host of the URL.
    nc_slice host;
    /// Port.
    uint16_t port;
    /// The policy's result.
    const nc_trust_result *verdict;
    /// Certificates in DER, the leaf first: the verified chain, or the chain that the server sent.
    const nc_slice *NC_NULLABLE chain;
    /// Number of certificates; 0 for a plaintext request.
    size_t chain_count;
    /// Number of events about this host and port that were not reported since the last report, because of the limit per
    /// minute.
    uint64_t unreported;
} nc_trust_event;

/// Observes evaluations. Its functions are called on the loop thread, within the handshake, and must not block.
///
/// Policies with different observers are never equal.
typedef struct nc_trust_observer {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// Receives refusals, and results with `notes`, at most once per minute for each host and port. May be NULL.
    void (*NC_NULLABLE report)(void *NC_NULLABLE ctx, const nc_trust_event *event);
    /// Decides on a connection: true allows it, false refuses it. TLS sessions are not resumed, so that it is called
    /// for each connection. It cannot allow a connection that the policy refused, unless `allows_override` is set. May
    /// be NULL.
    bool (*NC_NULLABLE decide)(void *NC_NULLABLE ctx, const nc_trust_event *event);
    /// Called once, when the policy is freed, on any thread; may be NULL.
    void (*NC_NULLABLE release)(void *NC_NULLABLE ctx);
    /// True permits `decide` to allow connections that the policy refused. The caller is then responsible for the
    /// security of each connection.
    bool allows_override;
} nc_trust_observer;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
