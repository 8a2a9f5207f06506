public import NetKit

/// An interceptor that checks the path to the host before a call is sent, like the checks of HZYNetwork and
/// CTNetworking.
///
///     configuration.interceptors = [Retry(), ReachabilityCheck(reachability)]
///
/// A call without a path fails with `NetError.Code.unreachable`, and nothing is sent. If the request has
/// `Request.waitsForConnectivity`, the call waits for a path instead. If the path is cellular and the call must
/// not use it, the call fails with `NetError.Code.cellularRefused`.
///
/// After `Retry`, each attempt is checked. Before it, a call without a path fails without a retry.
///
/// A call without a path fails or waits only if the system has no route to its host. It is sent in these cases:
/// - the state is unknown
/// - the host is this machine, or is reached through a Unix socket, or through a proxy from environment variables
/// - the host is on the local network, even if there is no path to the internet
public struct ReachabilityCheck: Interceptor {
    private let reachability: Reachability
    private let allowsCellular: Bool
    private let proxy: Proxy?

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - reachability: the monitor of the network path.
    ///   - allowsCellular: whether calls may use a cellular path. A single request can refuse it with
    ///     `Request.allowsCellular`.
    ///   - proxy: the agent's proxy, for requests that set none.
    public init(_ reachability: Reachability, allowsCellular: Bool = true, proxy: Proxy? = nil) {
        self.reachability = reachability
        self.allowsCellular = allowsCellular
        self.proxy = proxy
    }

    /// Sends the call when its path may be used, or throws the error.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        guard case .host(let host) = PathTarget(of: call.request, proxy: proxy) else { return try await next(call) }
        let mayBeCellular = allowsCellular && call.request.allowsCellular
        var call = call
        var state = await state(of: host, mayBeCellular)
        if call.request.waitsForConnectivity {
            if !Self.isGood(state, mayBeCellular) {
                try await wait(for: host, mayBeCellular, &call)
                state = await self.state(of: host, mayBeCellular)
            }
        } else if state.status == .notReachable {
            throw NetError(.unreachable, "\(host) is not reachable")
        }
        if !mayBeCellular, state.status == .viaCellular {
            throw NetError(
                .cellularRefused,
                "\(host) is reachable only over cellular (\(state.interface)), and allowsCellular is false")
        }
        return try await next(call)
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
    /// would delay or end the call. If the path must not be cellular, it is also determined for a numeric address,
    /// which needs no name lookup.
    private func state(of host: String, _ mayBeCellular: Bool) async -> PathState {
        let state = reachability.state
        let needsHostCheck = !Self.isGood(state, mayBeCellular) || (!mayBeCellular && host.isNumericHost)
        return needsHostCheck ? await reachability.state(of: host) : state
    }

    /// Waits until the host is reachable, and subtracts the elapsed time from the request's total time limit.
    private func wait(for host: String, _ mayBeCellular: Bool, _ call: inout Call) async throws(NetError) {
        let limit = call.request.limits.total
        let time = TimeSource.system
        let start = time.now()
        let activity = "waiting for a path to \(host)"
        do throws(NetError) {
            try await call.waiting(limit ?? .zero, for: .connectivity, activity) { () async throws(NetError) in
                // The host may be on the local network, which can become reachable without the internet.
                try await reachability.focused(on: host).wait(for: limit, time: time) {
                    Self.isGood($0, mayBeCellular)
                }
            }
        } catch  where error.code == .timeout {
            throw NetError(.timeout, "\(activity) exceeded the total time limit of \(limit ?? .zero) (limits.total)")
        }
        if let limit {
            call.request.limits.total = max(.milliseconds(1), limit - (time.now() - start))
        }
    }
}

private enum ConnectivityOption: ComparedRequestOption {
    static let defaultValue = false
}

private enum CellularOption: ComparedRequestOption {
    static let defaultValue = true
}

extension Request {
    /// Whether the request waits while its host is unreachable, instead of failing. The wait counts towards the total
    /// time limit (`Limits.total`). False by default. `ReachabilityCheck` applies it.
    public var waitsForConnectivity: Bool {
        get { self[ConnectivityOption.self] }
        set { self[ConnectivityOption.self] = newValue }
    }

    /// Whether the request may use a cellular path. True by default.
    ///
    /// If it is false and the system would use a cellular path, `ReachabilityCheck` fails the call with
    /// `NetError.Code.cellularRefused` before anything is sent.
    public var allowsCellular: Bool {
        get { self[CellularOption.self] }
        set { self[CellularOption.self] = newValue }
    }
}

extension Retry {
    /// Creates the default settings with a wait for the path to the host.
    ///
    /// If there is no path to the host after a failure, the next attempt starts when there is a path, and after
    /// `maxPathDelay` (60 s) at the latest. The usual delay does not apply then.
    public init(
        maxRetries: Int = 3, budget: RetryBudget? = RetryBudget(), time: TimeSource = .system,
        reachability: Reachability, maxPathDelay: Duration = .seconds(60)
    ) {
        self.init(maxRetries: maxRetries, budget: budget, time: time)
        waitForConnectivity = { call throws(NetError) in
            guard let host = await reachability.unreachedHost(of: call.request, proxy: nil) else { return false }
            try await call.waiting(maxPathDelay, for: .connectivity, "waiting for a path to \(host)") {
                () async throws(NetError) in
                do throws(NetError) {
                    try await reachability.focused(on: host).wait(for: maxPathDelay, time: time) {
                        $0.status != .notReachable
                    }
                } catch  where error.code == .timeout {
                    // The next attempt fails with the error of the network.
                }
            }
            return true
        }
    }
}
