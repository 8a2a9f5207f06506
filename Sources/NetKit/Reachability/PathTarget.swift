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

extension Request {
    /// Whether the request waits while its host is unreachable, instead of failing. The wait counts towards the total
    /// time limit (``Limits/total``). False by default.
    public var waitsForConnectivity: Bool {
        get { callSettings?.value.waitsForConnectivity ?? false }
        set { settings.waitsForConnectivity = newValue }
    }

    /// Whether the request may use a cellular path. True by default.
    ///
    /// If this or ``Agent/Configuration/allowsCellular`` is false and the system would use a cellular path, the request
    /// fails with ``NetError/Code/cellularRefused`` before anything is sent.
    public var allowsCellular: Bool {
        get { callSettings?.value.allowsCellular ?? true }
        set { settings.allowsCellular = newValue }
    }

    /// Whether the path to the host must be checked before the request is sent.
    var needsPathCheck: Bool { hasOptions && (waitsForConnectivity || !allowsCellular) }
}

/// Applies ``Request/waitsForConnectivity`` and ``Request/allowsCellular``.
///
/// It is the interceptor closest to the network, except for a service's signing. Therefore the path is checked for each
/// attempt of a retried request.
final class Connectivity: PromptInterceptor {
    private let allowsCellular: Bool
    private let proxy: Proxy?
    private let time: TimeSource
    private let sharedReachability: Lock<Reachability?>

    /// - Parameter reachability: the monitor of the network path. If `nil`, one is created when it is first needed.
    init(allowsCellular: Bool, reachability: Reachability?, proxy: Proxy?, time: TimeSource = .system) {
        self.allowsCellular = allowsCellular
        self.proxy = proxy
        self.time = time
        sharedReachability = Lock(reachability)
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        guard case .host(let host) = PathTarget(of: call.request, proxy: proxy) else { return try await next(call) }
        let reachability = reachability
        let mayBeCellular = allowsCellular && call.request.allowsCellular
        var call = call
        var state = await Self.state(of: host, reachability, isExact: !mayBeCellular)
        if call.request.waitsForConnectivity, !Self.isGood(state, mayBeCellular) {
            try await wait(for: host, reachability, mayBeCellular, &call)
            state = await Self.state(of: host, reachability, isExact: !mayBeCellular)
        }
        if !mayBeCellular, state.status == .viaCellular {
            throw NetError(
                .cellularRefused,
                "\(host) is reachable only over cellular (\(state.interface)), and allowsCellular is false")
        }
        return try await next(call)
    }

    private var reachability: Reachability {
        if let reachability = sharedReachability.withLock({ $0 }) {
            return reachability
        }
        let newReachability = Reachability()
        return sharedReachability.withLock { shared in
            shared = shared ?? newReachability
            return shared ?? newReachability
        }
    }

    private static func isGood(_ state: PathState, _ mayBeCellular: Bool) -> Bool {
        switch state.status {
        case .unknown, .viaWiFiOrWired: true
        case .viaCellular: mayBeCellular
        case .notReachable: false
        }
    }

    /// Returns the state of the path to a host.
    ///
    /// Usually this is the state of the path to the internet. The path to the host itself is determined if that state
    /// would delay the request. With `isExact`, it is also determined for a numeric address, which needs no name
    /// lookup.
    private static func state(of host: String, _ reachability: Reachability, isExact: Bool) async -> PathState {
        let state = reachability.state
        let needsHostCheck = !isGood(state, !isExact) || (isExact && host.isNumericHost)
        return needsHostCheck ? await reachability.state(of: host) : state
    }

    /// Waits until the host is reachable, and subtracts the elapsed time from the request's total time limit.
    private func wait(
        for host: String, _ reachability: Reachability, _ mayBeCellular: Bool, _ call: inout Call
    ) async throws(NetError) {
        let limit = try call.budget.bounding(call.request).limits.total
        let start = time.now()
        call.watch?.report(.waiting(limit ?? .zero, .connectivity), of: call.request)
        do throws(NetError) {
            // The host may be on the local network, which can become reachable without the internet.
            try await reachability.focused(on: host).wait(for: limit, time: time) { Self.isGood($0, mayBeCellular) }
        } catch  where error.code == .timeout {
            throw NetError(.timeout, "\(host) was not reachable within the total time limit (limits.total)")
        }
        if let limit {
            call.request.limits.total = max(.milliseconds(1), limit - (time.now() - start))
        }
    }
}
