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
        guard let origin = url.origin, let range = origin.firstRange(of: "://") else { return nil }
        let scheme = String(origin[..<range.lowerBound])
        let place = origin[range.upperBound...]
        let known = ["http": 80, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080]
        var host = place
        var port = known[scheme] ?? 0
        // An IPv6 address has colons between brackets.
        if let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") {
            guard let number = Int(place[place.index(after: colon)...]) else { return nil }
            host = place[..<colon]
            port = number
        }
        if host.isEmpty {
            return nil
        }
        self.init(scheme: scheme, host: String(host), port: port, realm: realm, isProxy: isProxy)
    }

    /// The same space for all realms.
    var withoutRealm: ProtectionSpace {
        var space = self
        space.realm = nil
        return space
    }
}
