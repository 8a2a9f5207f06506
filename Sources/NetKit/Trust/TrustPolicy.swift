/// A TLS trust policy. Connections that were checked under one policy are never used under another.
///
/// The chain is verified first, then the name (subject alternative names only), and then pins are searched in the
/// verified chain. A malformed rule fails the call that adds it, or the request; it never means "no pin".
///
///     configuration.trust = try .pinned("api.example.com", ["sha256/…", "sha256/…"])  // the second one is the backup
public struct TrustPolicy: Sendable, Hashable {
    /// The source of trusted authorities.
    public enum Roots: Sendable, Hashable {
        /// The system's bundle.
        case system
        /// The PEM certificates in a file, read when the first connection needs them.
        case file(String)
        /// PEM certificates in memory, at most 16 MiB.
        case pem([UInt8])
        /// Only the certificates that a rule pins for the host.
        case pinned
    }

    /// A TLS version.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls1_2
        /// TLS 1.3 (RFC 8446).
        case tls1_3
    }

    /// The source of trusted authorities.
    public var roots: Roots
    /// The lowest accepted TLS version.
    public var minimumVersion: TLSVersion
    /// The highest accepted TLS version; `nil` is the newest supported one.
    public var maximumVersion: TLSVersion?
    /// Whether every certificate and name is accepted, which gives no protection against an active attacker. For a host
    /// with pins, the key that the server proves to have must still be pinned.
    public var acceptsAnything: Bool
    /// The client certificate for servers that request one.
    public var identity: ClientIdentity?
    /// Pins by host; the most specific matching rule applies.
    public var rules: [PinRule] = []
    /// Whether chains that do not verify are accepted. Then pins decide, and a host without an enforced pin is refused.
    /// Only the leaf's key counts, or one from which the chain to the leaf verifies.
    public var acceptsInvalidChains = false
    /// Whether names are not compared; then only the leaf's key counts as a pin.
    public var skipsNameCheck = false
    /// The path of PEM revocation lists, at least one for each authority. A certificate without a list is refused.
    public var revocationLists: String?
    /// Whether an OCSP staple (RFC 6066, 8) is requested, and a certificate without a good one refused.
    public var requiresStaple = false
    /// The ciphers up to TLS 1.2, in OpenSSL's syntax. If `nil`, OpenSSL's default applies.
    public var ciphers: String?
    /// The cipher suites of TLS 1.3, in OpenSSL's syntax. If `nil`, OpenSSL's suites apply, with 128-bit AES first,
    /// unless openssl.cnf has another order.
    public var cipherSuites: String?
    /// Whether protocols are offered by ALPN (RFC 7301). Without ALPN, HTTP/1.1 is used.
    public var usesALPN = true
    /// Whether every chain must satisfy RFC 5280 and the CA/Browser Forum's rules for public servers; see ``strict``.
    /// Cannot be combined with unverified chains.
    public var isStrict = false
    /// The largest number of certificates in a verified chain, including the server's and the trusted one; self-issued
    /// ones between them do not count. If `nil`, the policy sets no limit.
    public var maximumChainLength: Int?
    /// Receives refusals, and can refuse more.
    public var observer: TrustObserver?
    /// Whether the observer may also allow what the policy refuses. The app is then responsible for every connection.
    public let allowsOverride: Bool

    /// Creates a policy, by default with the system's authorities and TLS 1.2.
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

    /// The system's authorities, with chains that satisfy RFC 5280 and the rules for public servers.
    ///
    /// Among others, it requires:
    /// - a common name that is one of the subject alternative names
    /// - key identifiers, and short, positive serial numbers
    /// - critical, well-formed constraints
    /// - an extended key usage for servers
    /// - no DSA keys
    /// - no wildcard directly before a registry's public suffix
    ///
    /// The default policy tolerates missing parts, because private authorities often omit them. For other roots set
    /// ``isStrict``.
    public static var strict: TrustPolicy {
        var policy = TrustPolicy()
        policy.isStrict = true
        return policy
    }
}
