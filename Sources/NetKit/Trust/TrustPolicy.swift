/// A TLS trust policy: the rules by which server certificates are accepted. A connection that was accepted under one
/// policy is never used under another.
///
/// The chain is verified first. Then the host is compared with the subject alternative names; the common name is
/// ignored. Then the pins for the host are compared with the keys of the verified chain. A malformed pin rule is an
/// error, and is never treated as a missing pin: the function that adds it throws, or the request fails.
///
///     configuration.trust = try .pinned("api.example.com", ["sha256/…", "sha256/…"])  // the second one is the backup
public struct TrustPolicy: Sendable, Hashable {
    /// The source of the trusted certificate authorities.
    public enum Roots: Sendable, Hashable {
        /// The system's bundle.
        case system
        /// The PEM certificates in a file, instead of the system's. To trust both, append them to a copy of the bundle.
        /// The file is read when the first connection needs it.
        case file(String)
        /// PEM certificates in memory, at most 16 MiB.
        case pem([UInt8])
        /// Only the certificates that the ``PinRule`` for the host contains.
        case pinned
    }

    /// A TLS version.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// The source of the trusted certificate authorities.
    public var roots: Roots
    /// The lowest accepted TLS version.
    public var minimumVersion: TLSVersion
    /// The highest accepted TLS version. If `nil`, it is the newest version that OpenSSL supports.
    public var maximumVersion: TLSVersion?
    /// Whether every certificate and name is accepted, which gives no protection against an active attacker. If there
    /// are pins for the host, the server's own key must still be one of them.
    public var acceptsAnything: Bool
    /// The client certificate, which is sent to servers that request one.
    public var identity: ClientIdentity?
    /// The pin rules. For each host, the most specific matching rule applies.
    public var rules: [PinRule] = []
    /// Whether chains that do not verify are accepted if a pin matches. A host without an enforced pin is then refused.
    /// A pin counts only if it matches the leaf's key, or a key from which the chain verifies down to the leaf.
    public var acceptsInvalidChains = false
    /// Whether the host is not compared with the names in the certificate. If true, pins are compared with the leaf's
    /// key only.
    public var skipsNameCheck = false
    /// The path of a file with PEM certificate revocation lists. It must have a list for each authority: a certificate
    /// whose issuer has no list is refused.
    public var revocationLists: String?
    /// Whether the server must send an OCSP staple (RFC 6066, 8) that confirms that its certificate is not revoked.
    public var requiresStaple = false
    /// The ciphers up to TLS 1.2, in OpenSSL's syntax. If `nil`, OpenSSL's default applies.
    public var ciphers: String?
    /// The cipher suites of TLS 1.3, in OpenSSL's syntax. If `nil`, OpenSSL's suites apply, with 128-bit AES first. If
    /// openssl.cnf sets another order, that order applies.
    public var cipherSuites: String?
    /// Whether protocols are offered by ALPN (RFC 7301). Without ALPN, HTTP/1.1 is used.
    public var usesALPN = true
    /// Whether every chain must satisfy RFC 5280 and the CA/Browser Forum's rules for public servers; see ``strict``.
    /// It cannot be combined with ``acceptsAnything`` or ``acceptsInvalidChains``.
    public var isStrict = false
    /// The largest number of certificates in a verified chain, including the server's certificate and the trust anchor.
    /// Self-issued certificates between them do not count. If `nil`, the policy sets no limit.
    public var maximumChainLength: Int?
    /// An observer that is notified of refused chains and can refuse others.
    public var observer: TrustObserver?
    /// Whether the observer may also accept chains that the policy refuses. The application is then responsible for the
    /// security of every connection.
    public let allowsOverride: Bool

    /// Creates a policy. By default, it trusts the system's authorities and accepts TLS 1.2 and later.
    public init(
        roots: Roots = .system, minimumVersion: TLSVersion = .tls12, acceptsAnything: Bool = false,
        identity: ClientIdentity? = nil, allowsOverride: Bool = false
    ) {
        self.roots = roots
        self.minimumVersion = minimumVersion
        self.acceptsAnything = acceptsAnything
        self.identity = identity
        self.allowsOverride = allowsOverride
    }

    /// Returns a policy that trusts the PEM certificates in a file instead of the system's authorities
    /// (``Roots/file(_:)``).
    ///
    ///     configuration.trust = .caFile("/etc/app/ca.pem")
    public static func caFile(_ path: String) -> TrustPolicy { TrustPolicy(roots: .file(path)) }

    /// A policy that accepts every certificate and name (``acceptsAnything``), for tests. It gives no protection against
    /// an active attacker.
    public static var insecure: TrustPolicy { TrustPolicy(acceptsAnything: true) }

    /// A policy that trusts the system's authorities and accepts only chains that satisfy RFC 5280 and the CA/Browser
    /// Forum's rules for public servers.
    ///
    /// Among others, it requires:
    /// - a common name that is one of the subject alternative names
    /// - key identifiers, and short, positive serial numbers
    /// - basic constraints that are well-formed and marked critical
    /// - an extended key usage for servers
    /// - no DSA keys
    /// - no wildcard directly before a public suffix such as `co.uk`
    ///
    /// The default policy does not require these, because certificates of private authorities often omit some of them.
    /// To use the strict rules with other roots, set ``isStrict``.
    public static var strict: TrustPolicy {
        var policy = TrustPolicy()
        policy.isStrict = true
        return policy
    }
}

/// A client certificate with its private key. It is used only for the origin of the request's URL. Its description and
/// `dump` do not show it.
public struct ClientIdentity: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case files(certificate: String, key: String)
        case texts(certificate: [UInt8], key: [UInt8])
    }

    /// A closure that returns a pass phrase. Two objects are never equal, even with the same closure.
    final class PassPhrase: Sendable, IdentityHashable {
        let ask: @Sendable () -> String?

        init(_ ask: @escaping @Sendable () -> String?) {
            self.ask = ask
        }
    }

    let source: Source
    let password: String
    let passPhrase: PassPhrase?

    /// Returns the identity in a file. The file is a PEM file with the certificate and its chain, leaf first, or a
    /// PKCS#12 file that also contains the key.
    ///
    /// - Parameters:
    ///   - certificate: the file's path.
    ///   - key: the PEM file of the key; `nil` if the certificate's file contains it.
    ///   - password: the key's pass phrase.
    ///   - passPhrase: returns the pass phrase if `password` is `nil`. If it returns `nil`, the certificate cannot be
    ///     used. It is called on a worker thread each time the certificate is read, and may wait for the user. Two
    ///     identities with a closure are never equal.
    public static func file(
        certificate: String, key: String? = nil, password: String? = nil,
        passPhrase: (@Sendable () -> String?)? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            source: .files(certificate: certificate, key: key ?? ""), password: password ?? "",
            passPhrase: passPhrase.map { PassPhrase($0) })
    }

    /// Returns an identity in memory. The bytes are PEM text with the certificate and its chain, leaf first, or a
    /// PKCS#12 archive that also contains the key.
    ///
    /// - Parameters:
    ///   - certificate: the text or the archive.
    ///   - key: the PEM text of the key; `nil` if the certificate's text contains it.
    ///   - password: the key's pass phrase.
    ///   - passPhrase: returns the pass phrase; see ``file(certificate:key:password:passPhrase:)``.
    public static func pem(
        certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil,
        passPhrase: (@Sendable () -> String?)? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            source: .texts(certificate: certificate, key: key ?? []), password: password ?? "",
            passPhrase: passPhrase.map { PassPhrase($0) })
    }
}

extension ClientIdentity: SecretHolding {}
