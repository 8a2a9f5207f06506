/// Through whom requests go. What a proxy is told never reaches the servers behind it.
public struct Proxy: Sendable, Equatable {
    enum Choice: Sendable, Hashable {
        case direct
        case environment
        case url(String)
    }

    let choice: Choice
    /// Who asks the proxy.
    public var credentials: Credentials?
    /// Hosts asked without it; "*" is all.
    public var except: [String]
    /// Fields for the proxy alone; of a plain http request that it forwards, it alone decides what it hands on.
    public var headers: Headers
    /// True asks an HTTP proxy for a tunnel (CONNECT) for http URLs too.
    public var usesTunnel: Bool

    private init(_ choice: Choice) {
        self.choice = choice
        except = []
        headers = [:]
        usesTunnel = false
    }

    /// The proxy of this URL: http, https, socks4, socks4a, socks5 or socks5h (which looks names up itself), host and
    /// port.
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

    /// No proxy, whatever the environment says.
    public static let direct = Proxy(.direct)

    /// What http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY say. Whoever sets them reads what goes through.
    public static let environment = Proxy(.environment)

    /// The same proxy, asked in another name.
    func asked(with credentials: Credentials) -> Proxy {
        var other = self
        other.credentials = credentials
        return other
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxy's URL without a name or a password in it.
    public var description: String {
        switch choice {
        case .direct: return "Proxy.direct"
        case .environment: return "Proxy.environment"
        case .url(let url):
            // Among scalars: what stands behind it may make one Character of both, which is no "@".
            guard let at = url.unicodeScalars.lastIndex(of: "@") else { return "Proxy(\(url))" }
            let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
            return "Proxy(\(scheme)\(url[url.unicodeScalars.index(after: at)...]))"
        }
    }

    /// As ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` tells nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
