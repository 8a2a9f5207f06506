/// A server's or a proxy's demand for credentials (RFC 9110, 11).
public struct Challenge: Sendable {
    /// The URL whose request was refused, without credentials.
    public let url: String
    /// The authentication scheme as the server wrote it, such as "Digest".
    public let scheme: String
    /// The realm; `nil` if the challenge has none.
    public let realm: String?
    /// Whether the challenge comes from a proxy.
    public let isProxy: Bool
    /// How many times credentials were sent and refused before.
    public let previousFailureCount: Int
    /// The response with status 401 or 407. If the response is streamed, it has no body here.
    public let response: Response<Bytes>
    /// The matching credentials of the agent's ``CredentialStore``, which ``ChallengeAction/useDefault`` sends once.
    public internal(set) var proposed: Credentials?
}

/// The action that an application takes for a ``Challenge``.
public enum ChallengeAction: Sendable {
    /// Sends the request again with these credentials.
    case use(Credentials)
    /// Does the same as ``use(_:)``, and stores the credentials in the agent's ``CredentialStore`` if they are
    /// accepted.
    case keep(Credentials)
    /// Sends the matching credentials of the agent's ``CredentialStore``, unless they were already sent or there are
    /// none. In that case, the 401 or 407 is returned as the response.
    case useDefault
    /// Ends the request with ``NetError/Code/cancelled``.
    case cancel
    /// Ignores this challenge and continues with the next challenge of the response. After the last challenge, the 401
    /// or 407 is returned as the response.
    case reject
    /// Ends the request with ``NetError/Code/authentication``, with this error as ``NetError/underlying``.
    case fail(any Error)
}

/// The scope of credentials: the realm of a server or a proxy (RFC 9110, 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// "http" or "https"; for a proxy, the scheme of its URL.
    public let scheme: String
    /// The host in canonical form: ASCII in lower case, international labels as "xn--…", IPv6 in brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// The realm; `nil` stands for all realms of the host that have no entry.
    public var realm: String?
    /// Whether it is the space of a proxy.
    public let isProxy: Bool

    /// Creates a space from its parts.
    public init(scheme: String, host: String, port: Int, realm: String? = nil, isProxy: Bool = false) {
        self.scheme = scheme.lowercased()
        let canonical = host.canonicalHost
        self.host = canonical.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 } ?? host.lowercased()
        self.port = port
        self.realm = realm
        self.isProxy = isProxy
    }

    /// Creates the space of a URL; `nil` if the URL has no host.
    public init?(url: String, realm: String? = nil, isProxy: Bool = false) {
        let parts = URLParts(url)
        guard let host = parts.host, !host.isEmpty, !parts.hasInvalidPort else { return nil }
        let known = ["http": 80, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080]
        let port = parts.port ?? known[parts.scheme.lowercased()] ?? 0
        self.init(scheme: parts.scheme, host: host, port: port, realm: realm, isProxy: isProxy)
    }

    /// The same space for all realms.
    var withoutRealm: ProtectionSpace {
        var space = self
        space.realm = nil
        return space
    }
}
