/// Where credentials belong: the realm of a server, or of a proxy (RFC 9110, 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// "http" or "https"; of a proxy the scheme of its URL.
    public let scheme: String
    /// The host in its canonical form: ASCII in lower case, international labels as "xn--…", IPv6 in brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// The realm; nil stands for all realms of the host that nothing is said of.
    public var realm: String?
    /// Whether it is a proxy's.
    public let isProxy: Bool

    /// A space by its parts.
    public init(scheme: String, host: String, port: Int, realm: String? = nil, isProxy: Bool = false) {
        self.scheme = scheme.lowercased()
        let canonical = host.canonicalHost
        self.host = canonical.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 } ?? host.lowercased()
        self.port = port
        self.realm = realm
        self.isProxy = isProxy
    }

    /// The space of a URL; nil where it names no host.
    public init?(url: String, realm: String? = nil, isProxy: Bool = false) {
        guard let origin = url.origin, let range = origin.firstRange(of: "://") else { return nil }
        let scheme = String(origin[..<range.lowerBound])
        let place = origin[range.upperBound...]
        let known = ["http": 80, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080]
        var host = place
        var port = known[scheme] ?? 0
        // An IPv6 address holds colons of its own, between brackets.
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

    /// The same for all realms.
    var withoutRealm: ProtectionSpace {
        var space = self
        space.realm = nil
        return space
    }
}
