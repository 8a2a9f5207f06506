/// The host that a request connects to first.
enum PathTarget: Sendable, Equatable {
    /// No host outside this machine, or an unknown host.
    case nothing
    /// A host, or the proxy before it.
    case host(String)

    /// - Parameter proxy: the proxy of a request without its own.
    init(of request: Request<Bytes>, proxy: Proxy?) {
        if request.unixSocket != nil {
            self = .nothing
            return
        }
        let own = request.url.hostAndPort
        if let proxy = request.proxy ?? proxy {
            switch proxy.choice {
            case .direct: break
            case .environment:
                // The C core chooses the environment variable.
                self = .nothing
                return
            case .url(let url):
                // The core matches the hosts that bypass the proxy by its own rules.
                self = proxy.except.isEmpty ? Self(url.hostAndPort?.host) : .nothing
                return
            }
        }
        let override = request.addressOverrides.first { override in
            (override.host == nil || override.host?.isEqualIgnoringASCIICase(to: own?.host ?? "") == true)
                && (override.port == nil || override.port == own?.port)
        }
        self = Self(override?.toHost ?? own?.host)
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
    /// - Parameter proxy: the proxy of a request without its own.
    func unreachedHost(of request: Request<Bytes>, proxy: Proxy?) async -> String? {
        guard status == .notReachable, case .host(let host) = PathTarget(of: request, proxy: proxy) else { return nil }
        // Without a path to the internet there may still be one to this host.
        return await state(of: host).status == .notReachable ? host : nil
    }
}

extension String {
    /// Names and addresses of this machine (RFC 6761, 6.3).
    fileprivate var isLocal: Bool {
        let name = lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") || name.hasPrefix("127.") || name == "::1"
            || name == "[::1]"
    }

    /// Whether it looks like a numeric address: only digits and dots, or with a colon.
    var isNumericHost: Bool {
        contains(":") || (!isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E })
    }

    /// A URL's host, without brackets, and its port.
    fileprivate var hostAndPort: (host: String, port: UInt16)? {
        guard let origin, let mark = origin.firstRange(of: "://") else { return nil }
        let standard: UInt16 = origin.hasPrefix("https") ? 443 : 80
        let place = origin[mark.upperBound...]
        if place.hasPrefix("["), let end = place.firstIndex(of: "]") {
            let port = place[place.index(after: end)...].dropFirst()
            return (String(place[place.index(after: place.startIndex)..<end]), UInt16(port) ?? standard)
        }
        let parts = place.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? UInt16(parts[1]) ?? standard : standard)
    }
}
