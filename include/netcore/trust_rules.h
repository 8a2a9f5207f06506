/// Pins by host: the keys or certificates that a server's chain must contain.
///
/// Pins are checked in addition to the verification of the chain and the name, never instead of it. If several rules
/// cover a host, only the most specific one applies. The order is:
///
/// - an exact name ("api.example.com") before a pattern for one label ("*"), and that before a pattern for any depth
///   ("**")
/// - a longer name before a shorter one
/// - a rule with a port before one without
///
/// A malformed rule fails nc_trust_new(), so that a mistake never disables pinning.
///
///     const nc_slice pins[] = {nc_slice_of("sha256/…"), nc_slice_of("sha256/…")}; // the second one is the backup
///     const nc_trust_rule rule = {
///         .hosts = nc_slice_of("**.example.com"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 2};
///     nc_trust_options options = {.rules = &rule, .rule_count = 1};
#ifndef NETCORE_TRUST_RULES_H
#define NETCORE_TRUST_RULES_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest number of rules in one policy.
#define NC_TRUST_MAX_RULES 1024u
/// The largest number of pins in one rule.
#define NC_TRUST_MAX_PINS 1024u
/// The largest file or piece of memory with pins, in bytes.
#define NC_PIN_MAX_BYTES (1024u * 1024u)

/// The requirement that a rule makes on a verified chain.
typedef NC_ENUM(nc_pin_mode){
    /// No pins. Use such a rule to exclude a host from the rule of a wider pattern.
    NC_PIN_NONE = 0,
    /// The verified chain contains a pinned public key, at any position.
    NC_PIN_PUBLIC_KEY = 1,
    /// The verified chain contains a pinned certificate, and verifies with the pinned certificates as its only anchors.
    NC_PIN_CERTIFICATE = 2,
} nc_pin_mode;

/// The pins of some hosts. An all-zero rule is refused.
///
/// A request or redirect over plain http to a host with an enforced rule is refused, even if the rule has another port.
/// The exception is a rule with the request's port and the mode NC_PIN_NONE.
typedef struct nc_trust_rule {
    /// The hosts, ASCII (an international name in its "xn--" form), case-insensitive:
    ///
    /// - "api.example.com"
    /// - "*.example.com": one label
    /// - "**.example.com": any depth, and example.com
    /// - "**": every host
    /// - an IPv4 address, or an IPv6 address in brackets
    ///
    /// Each of these may end with a port (":8443"). Without a port the rule covers all ports.
    nc_slice hosts;
    /// Requirement on the chain.
    nc_pin_mode mode;
    /// SHA-256 of public keys (SubjectPublicKeyInfo, RFC 5280, 4.1): "sha256/" or "sha256//" and 44 characters of
    /// base64, or 64 hex digits. Not for NC_PIN_CERTIFICATE.
    const nc_slice *NC_NULLABLE pins;
    /// Number of `pins`.
    size_t pin_count;
    /// Certificates, or public keys for NC_PIN_PUBLIC_KEY, in memory: PEM (one or more) or DER (one).
    const nc_slice *NC_NULLABLE certificates;
    /// Number of `certificates`.
    size_t certificate_count;
    /// Paths of files with such certificates or keys, or of directories, whose .cer, .crt and .pem files are read.
    const nc_slice *NC_NULLABLE files;
    /// Number of `files`.
    size_t file_count;
    /// Expiry, in seconds since 1970; 0 means never. After it each use of the rule is reported as expired.
    int64_t expires_at_s;
    /// True stops enforcing the rule after its expiry. An attacker that can change the clock can then bypass the pins.
    bool lapses;
    /// True accepts a chain that matches no pin, and reports it. The chain is still verified.
    bool reports_only;
    /// Smallest number of different pins; 0 means 1. A single pin is allowed and causes a warning.
    uint32_t min_pins;
} nc_trust_rule;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
