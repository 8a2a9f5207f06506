/// A proxy for requests. Its credentials and fields never reach the servers behind it.
public struct Proxy: Sendable, Equatable {
    enum Choice: Sendable, Hashable {
        case direct
        case environment
        case url(String)
    }

    let choice: Choice
    /// The credentials for the proxy.
    public var credentials: Credentials?
    /// The hosts that are reached without the proxy; "*" is all.
    public var except: [String]
    /// Fields for the proxy only. When it forwards a plain http request, the proxy decides which of them it passes on.
    public var headers: Headers
    /// Whether an HTTP proxy tunnels (CONNECT) http URLs too.
    public var usesTunnel: Bool

    private init(_ choice: Choice) {
        self.choice = choice
        except = []
        headers = [:]
        usesTunnel = false
    }

    /// Creates a proxy from a URL with scheme, host and port. The scheme is http, https, socks4, socks4a, socks5 or
    /// socks5h (the proxy resolves names).
    public init(
        _ url: String, credentials: Credentials? = nil, except: [String] = [], headers: Headers = [:],
        usesTunnel: Bool = false
    ) {
        choice = .url(url)
        self.credentials = credentials
        self.except = except
        self.headers = headers
        self.usesTunnel = usesTunnel
    }

    /// No proxy; environment variables are ignored.
    public static let direct = Proxy(.direct)

    /// The proxy of http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY. Anything that can set these variables can read the
    /// traffic.
    public static let environment = Proxy(.environment)

    /// Returns the same proxy with other credentials.
    func asked(with credentials: Credentials) -> Proxy {
        var other = self
        other.credentials = credentials
        return other
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxy's URL without a name or a password.
    public var description: String {
        switch choice {
        case .direct: return "Proxy.direct"
        case .environment: return "Proxy.environment"
        case .url(let url):
            // Search scalars: a combining mark after "@" would form one Character with it.
            guard let at = url.unicodeScalars.lastIndex(of: "@") else { return "Proxy(\(url))" }
            let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
            return "Proxy(\(scheme)\(url[url.unicodeScalars.index(after: at)...]))"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
