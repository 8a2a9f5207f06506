/// Pins by host: which keys or certificates a server must show, beyond being believed.
///
/// A rule adds to the verification of the chain and the name and never takes its place. Of several rules that cover a
/// host the narrowest alone counts: an exact name before one label, one label before any depth, the longer name before
/// the shorter, a port before none. Whatever is malformed fails nc_trust_new(); no rule ever means "no pin" by mistake.
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

/// Rules in one policy, at most.
#define NC_TRUST_MAX_RULES 1024u
/// Pins in one rule, at most.
#define NC_TRUST_MAX_PINS 1024u
/// Each file or piece of bytes with pins, at most.
#define NC_PIN_MAX_BYTES (1024u * 1024u)

/// What a rule asks of a chain.
typedef NC_ENUM(nc_pin_mode){
    /// Nothing beyond verification: takes a host out of a wider rule. Such a rule has no pins.
    NC_PIN_NONE = 0,
    /// A pinned public key stands in the verified chain, at any place.
    NC_PIN_PUBLIC_KEY = 1,
    /// A pinned certificate stands in the verified chain, and the chain verifies with the pinned ones as its only
    /// anchors.
    NC_PIN_CERTIFICATE = 2,
} nc_pin_mode;

/// What is asked of some hosts; all zero asks nothing of nobody and is refused.
///
/// A request or redirect over plain http to a host that an enforcing rule covers is refused, whatever the rule's port,
/// unless a rule that names the request's own port asks for nothing.
typedef struct nc_trust_rule {
    /// "api.example.com", "*.example.com" (one label), "**.example.com" (any depth, and example.com itself), "**"
    /// (every host), an IPv4 address or an IPv6 address in brackets; each may end in a port (":8443"), and covers all
    /// ports otherwise. ASCII (of an international name, the form with "xn--"), letter case ignored.
    nc_slice hosts;
    /// What is asked.
    nc_pin_mode mode;
    /// SHA-256 of a public key (the SubjectPublicKeyInfo, RFC 5280, 4.1): "sha256/" or "sha256//" and base64 of 44
    /// characters, or 64 hex digits. Not for NC_PIN_CERTIFICATE.
    const nc_slice *NC_NULLABLE pins;
    /// How many.
    size_t pin_count;
    /// Certificates, or public keys where those are asked for, PEM (one or more) or DER (one), in memory.
    const nc_slice *NC_NULLABLE certificates;
    /// How many.
    size_t certificate_count;
    /// Paths: a file of the same, or a folder, of which each .cer, .crt and .pem is read.
    const nc_slice *NC_NULLABLE files;
    /// How many.
    size_t file_count;
    /// Seconds since 1970 from which on each use is noted as expired; 0 is never.
    int64_t expires_at_s;
    /// True stops enforcing the rule when it has expired: whoever can move the clock can then do without the pins.
    bool lapses;
    /// True lets a chain pass that matches no pin, and notes it; verification stays as it is.
    bool reports_only;
    /// Different pins that there have to be at least; 0 means 1. One pin alone is allowed, with a warning.
    uint32_t min_pins;
} nc_trust_rule;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
