/// A proxy for requests.
///
///     configuration.proxy = Proxy(
///         "socks5h://proxy.example.com:1080", credentials: .basic(user: "ada", password: "secret"),
///         bypass: ["localhost", "*.internal"])
///
/// NetKit sends the proxy's credentials only to the proxy.
public struct Proxy: Sendable, Equatable {
    package enum Choice: Sendable, Hashable {
        case inherited
        case direct
        case environment
        case url(String)
    }

    /// The proxy, or its absence.
    package let choice: Choice
    /// The credentials for the proxy.
    public var credentials: Credentials?
    /// The hosts that are reached without the proxy. A host such as "internal", or a pattern such as "*.internal" or
    /// ".internal", stands for the host and its subdomains. "*" stands for all hosts, and "10.0.0.0/8" for addresses.
    public var bypass: [String]
    /// Header fields for the proxy. A server does not receive them through a tunnel. If the proxy forwards a plain http
    /// request, it decides which of these fields it passes on.
    public var headers: Headers
    /// Whether requests for http URLs use a tunnel (CONNECT) through an HTTP proxy too. Those for https URLs always do.
    public var usesTunnel: Bool

    private init(_ choice: Choice) {
        self.choice = choice
        bypass = []
        headers = [:]
        usesTunnel = false
    }

    /// Creates a proxy from a URL with scheme, host and port. The scheme is http, https, socks4, socks4a, socks5 or
    /// socks5h. With socks4a and socks5h, the proxy resolves host names.
    public init(
        _ url: String, credentials: Credentials? = nil, bypass: [String] = [], headers: Headers = [:],
        usesTunnel: Bool = false
    ) {
        choice = .url(url)
        self.credentials = credentials
        self.bypass = bypass
        self.headers = headers
        self.usesTunnel = usesTunnel
    }

    /// The proxy of the agent.
    public static let inherited = Proxy(.inherited)

    /// No proxy; environment variables are ignored.
    public static let direct = Proxy(.direct)

    /// The proxy that the environment variables http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY select. Note that any
    /// program that can set these variables can redirect the traffic and read it.
    public static let environment = Proxy(.environment)

    /// ``bypass`` in the form of libcurl, in which a pattern of a domain begins with a dot.
    var bypassList: String {
        bypass.map { $0.hasPrefix("*.") ? String($0.dropFirst()) : $0 }.joined(separator: ",")
    }

    /// Returns the same proxy with other credentials.
    func replacingCredentials(by credentials: Credentials) -> Proxy {
        var other = self
        other.credentials = credentials
        return other
    }
}

extension Proxy: ExpressibleByStringLiteral {
    /// Creates a proxy from a literal with its URL: `configuration.proxy = "http://proxy.example.com:3128"`.
    public init(stringLiteral url: String) {
        self.init(url)
    }
}

extension Proxy: SecretHolding {
    /// The proxy's URL without a name or a password.
    public var description: String {
        switch choice {
        case .inherited: return "Proxy.inherited"
        case .direct: return "Proxy.direct"
        case .environment: return "Proxy.environment"
        case .url(let url):
            // Search scalars: a combining mark after "@" would form one Character with it.
            guard let at = url.unicodeScalars.lastIndex(of: "@") else { return "Proxy(\(url))" }
            let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
            return "Proxy(\(scheme)\(url[url.unicodeScalars.index(after: at)...]))"
        }
    }
}
