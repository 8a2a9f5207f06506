/// Whom a TLS connection believes. Connections checked under one policy are never used under another.
///
/// The chain is verified first, then the name (subject alternative names alone), then pins are looked for in the chain
/// that was verified. A rule that is malformed fails the call that adds it, or the request; it never means "no pin".
///
///     configuration.trust = try .pinned("api.example.com", ["sha256/…", "sha256/…"])  // the second one is the backup
public struct TrustPolicy: Sendable, Hashable {
    /// Where trusted authorities come from.
    public enum Roots: Sendable, Hashable {
        /// The system's bundle.
        case system
        /// The PEM certificates in a file, read when the first connection needs them.
        case file(String)
        /// PEM certificates in memory, 16 MiB at most.
        case pem([UInt8])
        /// Nobody but the certificates that a rule pins for the host.
        case pinned
    }

    /// A TLS version that is spoken.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls1_2
        /// TLS 1.3 (RFC 8446).
        case tls1_3
    }

    /// Where authorities come from.
    public var roots: Roots
    /// The lowest TLS version that is spoken.
    public var minimumVersion: TLSVersion
    /// The highest TLS version that is spoken; nil is the newest there is.
    public var maximumVersion: TLSVersion?
    /// True accepts every certificate and name: no protection against an active attacker. Where a rule with pins covers
    /// the host, the key that the server proves to hold must be pinned all the same.
    public var acceptsAnything: Bool
    /// The client's own certificate, for servers that ask for one.
    public var identity: ClientIdentity?
    /// Pins by host; the narrowest rule that covers a host counts for it.
    public var rules: [PinRule] = []
    /// True lets chains pass that do not verify: then pins decide, a host without an enforced pin is refused, and of keys
    /// only the leaf's counts, or one from which the chain to the leaf verifies.
    public var acceptsInvalidChains = false
    /// True does not compare names; of keys only the leaf's counts then.
    public var skipsNameCheck = false
    /// Path of PEM revocation lists, at least one for each authority; a certificate whose list is missing is refused.
    public var revocationLists: String?
    /// True asks for a stapled OCSP reply (RFC 6066, 8) and refuses a certificate without a good one.
    public var requiresStaple = false
    /// Ciphers up to TLS 1.2, in OpenSSL's syntax; nil is its default.
    public var ciphers: String?
    /// Cipher suites of TLS 1.3, in OpenSSL's syntax; nil is its own, AES with 128 bits first, unless openssl.cnf has
    /// another order.
    public var cipherSuites: String?
    /// False offers no protocol by ALPN (RFC 7301), so that HTTP/1.1 is spoken.
    public var usesALPN = true
    /// Whether every chain must have the form that RFC 5280 and the rules for public servers (CA/Browser Forum) demand:
    /// ``strict`` says more. Not together with chains that are not verified.
    public var isStrict = false
    /// Certificates of a verified chain at most, the server's and the trusted one included; self-issued ones between them
    /// do not count. nil is no limit of the policy's.
    public var maximumChainLength: Int?
    /// Who is told of refusals, and may refuse more.
    public var observer: TrustObserver?
    /// Whether the observer may also allow what the policy refuses. Whoever sets it answers for every connection.
    public let allowsOverride: Bool

    /// The system's authorities and TLS 1.2, unless said otherwise.
    public init(
        roots: Roots = .system, minimumVersion: TLSVersion = .tls1_2, acceptsAnything: Bool = false,
        identity: ClientIdentity? = nil, allowsOverride: Bool = false
    ) {
        self.roots = roots
        self.minimumVersion = minimumVersion
        self.acceptsAnything = acceptsAnything
        self.identity = identity
        self.allowsOverride = allowsOverride
    }

    /// The system's authorities, and chains in the form that RFC 5280 and the rules for public servers demand.
    ///
    /// Among others: the common name is one of the subject alternative names, keys are named, serial numbers are positive
    /// and short, constraints are critical and well-formed, the extended key usage is a server's, no key is DSA's, no
    /// wildcard stands before a public suffix of a registry. The standard policy passes over what is merely missing,
    /// since private authorities often leave it out. For other roots set ``isStrict``.
    public static var strict: TrustPolicy {
        var policy = TrustPolicy()
        policy.isStrict = true
        return policy
    }
}
