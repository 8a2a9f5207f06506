/// What a request has to reach first.
enum PathTarget: Sendable, Equatable {
    /// Nothing outside of this machine, as far as anybody can say, or nobody knows what.
    case nothing
    /// A host, or the proxy before it.
    case host(String)

    /// - Parameter proxy: that of a request that brings none.
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
                // Which variable counts is the core's affair.
                self = .nothing
                return
            case .url(let url):
                // Hosts that are asked without it may be matched in ways of its own.
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
    /// The host that a request has to reach first and to which there is no way; nil while nobody knows, too.
    ///
    /// - Parameter proxy: that of a request that brings none.
    func unreachedHost(of request: Request<Bytes>, proxy: Proxy?) async -> String? {
        guard status == .notReachable, case .host(let host) = PathTarget(of: request, proxy: proxy) else { return nil }
        // Without a way to the internet there may still be one to this host.
        return await state(of: host).status == .notReachable ? host : nil
    }
}

extension String {
    /// Names and addresses of this machine itself (RFC 6761, 6.3).
    fileprivate var isLocal: Bool {
        let name = lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") || name.hasPrefix("127.") || name == "::1"
            || name == "[::1]"
    }

    /// Whether it looks like a numeric address: of digits and dots, or with a colon.
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
