internal import NetKit

/// The host that a request connects to first.
enum PathTarget: Sendable, Equatable {
    /// This machine, or a host that is unknown because the C core selects the proxy.
    case nothing
    /// The host of the URL, or the proxy or other host that is connected to instead.
    case host(String)

    /// - Parameter proxy: the agent's proxy, for requests that set none.
    init(of request: Request<Bytes>, proxy: Proxy?) {
        if request.unixSocket != nil {
            self = .nothing
            return
        }
        let target = request.url.hostAndPort
        if let proxy = request.ownProxy ?? proxy {
            switch proxy.choice {
            case .direct, .inherited: break
            case .environment:
                // The C core reads the environment variables.
                self = .nothing
                return
            case .url(let url):
                // The core matches the hosts that bypass the proxy by its own rules.
                self = proxy.bypass.isEmpty ? Self(url.hostAndPort?.host) : .nothing
                return
            }
        }
        let override = request.addressOverrides.first { override in
            (override.host == nil || override.host?.isEqualIgnoringASCIICase(to: target?.host ?? "") == true)
                && (override.port == nil || override.port == target?.port)
        }
        self = Self(override?.toHost ?? target?.host)
    }

    private init(_ host: String?) {
        guard let host, !host.isEmpty else {
            self = .nothing
            return
        }
        self = host.isLocal ? .nothing : .host(host)
    }
}

extension Reachability {
    /// Returns the host that the request connects to first, if it is unreachable. Returns `nil` if it is reachable, or
    /// if that is unknown.
    ///
    /// - Parameter proxy: the agent's proxy, for requests that set none.
    func unreachedHost(of request: Request<Bytes>, proxy: Proxy?) async -> String? {
        guard state.status == .notReachable, case .host(let host) = PathTarget(of: request, proxy: proxy) else {
            return nil
        }
        // The host may be on the local network, which can be reachable without the internet.
        return await state(of: host).status == .notReachable ? host : nil
    }
}

extension String {
    /// Whether the host is a name or address of this machine (RFC 6761, 6.3).
    fileprivate var isLocal: Bool {
        let name = lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") || name.hasPrefix("127.") || name == "::1"
            || name == "[::1]"
    }

    /// Whether the host looks like a numeric address: it consists of digits and dots, or contains a colon.
    var isNumericHost: Bool {
        contains(":") || (!isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E })
    }

    /// The host of a URL, without brackets, and the port.
    fileprivate var hostAndPort: (host: String, port: UInt16)? {
        let parts = URLParts(self)
        guard let host = parts.host else { return nil }
        let port = parts.port.flatMap { UInt16(exactly: $0) }
        return (host.canonicalHost ?? host.lowercased(), port ?? (hasScheme("https") ? 443 : 80))
    }
}
