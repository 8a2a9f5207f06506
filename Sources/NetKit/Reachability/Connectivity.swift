/// Handles requests that depend on the network path: waits for connectivity, and refuses a cellular path.
///
/// It is the interceptor closest to the network, except for a service's signing. So each attempt of a transfer uses the
/// current path.
final class Connectivity: PromptInterceptor {
    private let allowsCellular: Bool
    private let proxy: Proxy?
    private let time: TimeSource
    private let kept: Lock<Reachability?>

    /// - Parameter reachability: if `nil`, one is created when it is first needed.
    init(allowsCellular: Bool, reachability: Reachability?, proxy: Proxy?, time: TimeSource = .system) {
        self.allowsCellular = allowsCellular
        self.proxy = proxy
        self.time = time
        kept = Lock(reachability)
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
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
            throw NetError(.cellularRefused, "\(host) is reached over a modem alone (\(state.interface))")
        }
        return try await next(call)
    }

    private var reachability: Reachability {
        if let reachability = kept.withLock({ $0 }) {
            return reachability
        }
        let made = Reachability()
        return kept.withLock { kept in
            kept = kept ?? made
            return kept ?? made
        }
    }

    private static func isGood(_ state: PathState, _ mayBeCellular: Bool) -> Bool {
        switch state.status {
        case .unknown, .viaWiFiOrWired: true
        case .viaCellular: mayBeCellular
        case .notReachable: false
        }
    }

    /// Returns the path to the host. The state of the default route is used first. The host itself is checked if that
    /// state would delay the request. A numeric address needs no lookup, so it is also checked if the kind of the path
    /// matters.
    private static func state(of host: String, _ reachability: Reachability, isExact: Bool) async -> PathState {
        let state = reachability.state
        let isDoubtful = !isGood(state, !isExact) || (isExact && host.isNumericHost)
        return isDoubtful ? await reachability.state(of: host) : state
    }

    /// Waits, and subtracts the elapsed time from the request's limit.
    private func wait(
        for host: String, _ reachability: Reachability, _ mayBeCellular: Bool, _ call: inout Call
    ) async throws(NetError) {
        let limit = try call.budget.bounding(call.request).limits?.total
        let start = time.now()
        call.watch?.tell(.waiting(limit ?? .zero, .connectivity), of: call.request)
        do throws(NetError) {
            // A path to the local network may appear without one to the internet.
            try await reachability.focused(on: host).wait(for: limit, time: time) { Self.isGood($0, mayBeCellular) }
        } catch  where error.code == .totalTimedOut {
            throw NetError(.totalTimedOut, "there was no way to \(host) in time")
        }
        if let limit {
            call.request.limits?.total = max(.milliseconds(1), limit - (time.now() - start))
        }
    }
}
