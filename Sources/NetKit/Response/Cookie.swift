/// A cookie of an agent's jar (RFC 6265).
public struct Cookie: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
    /// The host it belongs to, without a dot in front.
    public var domain: String
    /// Whether hosts below the domain get it too.
    public var includesSubdomains: Bool
    /// The path it belongs to.
    public var path: String
    /// When it ends, in seconds since 1970; nil: with the jar.
    public var expires: Int?
    /// Whether it goes over TLS alone.
    public var isSecure: Bool
    /// Whether scripts in a browser may not see it.
    public var isHTTPOnly: Bool

    /// A cookie.
    public init(
        name: String, value: String, domain: String, includesSubdomains: Bool = false, path: String = "/",
        expires: Int? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.includesSubdomains = includesSubdomains
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }
}
