/// What a policy says of a chain: allowed or why not, with the pins that were seen and those that were asked for.
///
/// The same judgement is made within each TLS handshake, and here without a network. Certificates are read by OpenSSL.
///
///     nc_trust_question question = {.chain = pem, .host = nc_slice_of("api.example.com"), .at_s = time(NULL)};
///     nc_trust_verdict verdict;
///     if (nc_trust_evaluate(&verdict, trust, &question, &err) == NC_OK && verdict.status == NC_OK) …
#ifndef NETCORE_TRUST_VERDICT_H
#define NETCORE_TRUST_VERDICT_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A policy that decides which certificates are believed; trust.h makes it.
typedef struct nc_trust nc_trust;

/// "sha256/", 44 characters of base64 and a NUL.
#define NC_PIN_TEXT_BYTES 52u
/// Pins of either kind that a verdict can list; the counts tell of all.
#define NC_VERDICT_MAX_PINS 16u
/// Certificates in one question, at most.
#define NC_CHAIN_MAX_CERTIFICATES 100u
/// Bytes of one question's chain, at most.
#define NC_CHAIN_MAX_BYTES (1024u * 1024u)

/// What is worth telling about a connection that may well be allowed; bits of nc_trust_verdict.notes.
typedef NC_ENUM(nc_trust_note){
    /// The rule has expired.
    NC_NOTE_RULE_EXPIRED = 1,
    /// It is no longer enforced because of that.
    NC_NOTE_RULE_LAPSED = 2,
    /// No pin matched, and the rule only reports.
    NC_NOTE_REPORT_ONLY = 4,
    /// The name was not compared.
    NC_NOTE_NAME_UNCHECKED = 8,
    /// The chain need not verify.
    NC_NOTE_CHAIN_UNCHECKED = 16,
    /// The observer refused what the policy allowed.
    NC_NOTE_TIGHTENED = 32,
    /// The observer allowed what the policy refused; `finding` is that refusal.
    NC_NOTE_OVERRIDDEN = 64,
    /// A request in the clear; there is no chain.
    NC_NOTE_PLAINTEXT = 128,
} nc_trust_note;

/// A judgement; its texts are NUL-terminated.
typedef struct nc_trust_verdict {
    /// NC_OK: allowed. Otherwise a status of the trust band.
    nc_status status;
    /// What was found but not enforced (a rule that reports only or has lapsed, an observer's override); else as
    /// status.
    nc_status finding;
    /// OpenSSL's X509_V_ERR_ number; 0 when it had none.
    int32_t native_code;
    /// NC_NOTE_ bits.
    uint32_t notes;
    /// True when the chain listed is the one that OpenSSL verified; otherwise it is the one that was sent.
    bool is_verified;
    /// Certificates in the chain.
    uint32_t chain_count;
    /// Pins of the rule that covers the host; 0 without one.
    uint32_t pin_count;
    /// Pins of the chain's public keys, the leaf's first. Empty strings when the chain was allowed without a word.
    char chain_pins[NC_VERDICT_MAX_PINS][NC_PIN_TEXT_BYTES];
    /// Public key pins that the rule asks for.
    char pins[NC_VERDICT_MAX_PINS][NC_PIN_TEXT_BYTES];
    /// One line; empty when there is nothing to tell.
    char message[NC_ERROR_MESSAGE_BYTES];
} nc_trust_verdict;

/// Gives pin `index` of the chain; "" when it is not listed.
///
/// Pure; call from any thread.
NC_API const char *nc_verdict_chain_pin(const nc_trust_verdict *verdict, size_t index);

/// Gives pin `index` of the rule; "" when it is not listed.
///
/// Pure; call from any thread.
NC_API const char *nc_verdict_pin(const nc_trust_verdict *verdict, size_t index);

/// What is to be judged.
typedef struct nc_trust_question {
    /// Certificates as the server sent them, the leaf first: PEM, or DER one after the other.
    nc_slice chain;
    /// Host of the URL, as a name or an address; IPv6 with or without brackets.
    nc_slice host;
    /// Port; 0 means 443.
    uint16_t port;
    /// When, in seconds since 1970.
    int64_t at_s;
} nc_trust_question;

/// Judges a chain as a handshake at that time would, without the observer and without OCSP.
///
/// A chain that cannot be read is a verdict too: NC_ERR_TLS_CERTIFICATE.
/// - out: written when NC_OK is returned.
/// Returns NC_OK when there is a verdict, NC_ERR_TLS_ROOTS when the authorities or revocation lists cannot be read,
/// NC_ERR_NO_MEMORY. Thread-safe; reads the policy's CA and CRL files.
NC_API NC_NODISCARD nc_status nc_trust_evaluate(nc_trust_verdict *out, const nc_trust *trust,
                                                const nc_trust_question *question, nc_error *NC_NULLABLE err);

/// One judgement of a handshake, borrowed for the call.
typedef struct nc_trust_event {
    /// Host of the URL.
    nc_slice host;
    /// Port.
    uint16_t port;
    /// What the policy says.
    const nc_trust_verdict *verdict;
    /// Certificates in DER, the leaf first: the verified chain, or what was sent.
    const nc_slice *NC_NULLABLE chain;
    /// How many; 0 for a request in the clear.
    size_t chain_count;
    /// Events about this host that were not reported since the last one that was.
    uint64_t unreported;
} nc_trust_event;

/// Who looks on. Its functions are called on the engine's loop thread, within the handshake: they must not block.
///
/// Policies with different observers are different policies.
typedef struct nc_trust_observer {
    /// Handed to each function.
    void *NC_NULLABLE ctx;
    /// Told of refusals and of whatever a verdict notes, at most once a minute for each host and port; may be NULL.
    void (*NC_NULLABLE report)(void *NC_NULLABLE ctx, const nc_trust_event *event);
    /// Asked in each handshake, so that no session is resumed; may be NULL. True allows, false refuses; what the policy
    /// refused stays refused unless `allows_override` is set.
    bool (*NC_NULLABLE decide)(void *NC_NULLABLE ctx, const nc_trust_event *event);
    /// Called once, when the policy is freed, on any thread; may be NULL.
    void (*NC_NULLABLE release)(void *NC_NULLABLE ctx);
    /// True lets decide() allow what the policy refused. Whoever sets it answers for every connection.
    bool allows_override;
} nc_trust_observer;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
