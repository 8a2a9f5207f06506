/// Whom a TLS connection believes. Connections checked under one policy are never used under another.
public struct TrustPolicy: Sendable, Hashable {
    /// Where trusted authorities come from.
    public enum Roots: Sendable, Hashable {
        /// The system's bundle.
        case system
        /// The PEM certificates in a file, read when the first connection needs them.
        case file(String)
        /// PEM certificates in memory, 16 MiB at most.
        case pem([UInt8])
    }

    /// The lowest TLS version that is spoken.
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
    /// True accepts every certificate and name: no protection against an active attacker.
    public var acceptsAnything: Bool
    /// The client's own certificate, for servers that ask for one.
    public var identity: ClientIdentity?

    /// The system's authorities and TLS 1.2, unless said otherwise.
    public init(
        roots: Roots = .system, minimumVersion: TLSVersion = .tls1_2, acceptsAnything: Bool = false,
        identity: ClientIdentity? = nil
    ) {
        self.roots = roots
        self.minimumVersion = minimumVersion
        self.acceptsAnything = acceptsAnything
        self.identity = identity
    }
}
