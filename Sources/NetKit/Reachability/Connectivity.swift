/// What an agent does for requests to which the way matters: it waits for one, and refuses a modem.
///
/// It stands nearest to the wire, in front of a service's signing alone, so that each try of an exchange looks at the
/// way as it is then.
final class Connectivity: Interceptor {
    private let allowsCellular: Bool
    private let proxy: Proxy?
    private let time: TimeSource
    private let kept: Lock<Reachability?>

    /// - Parameter reachability: nil makes one when it is first needed.
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

    /// How the host is reached. What the default routes say is asked to be true of the host itself when it would hold
    /// the request up, and for a numeric address, which costs no lookup, whenever the kind of the way counts.
    private static func state(of host: String, _ reachability: Reachability, isExact: Bool) async -> PathState {
        let state = reachability.state
        let isDoubtful = !isGood(state, !isExact) || (isExact && host.isNumericHost)
        return isDoubtful ? await reachability.state(of: host) : state
    }

    /// Waits, and takes the time that has passed off the request's limit.
    private func wait(
        for host: String, _ reachability: Reachability, _ mayBeCellular: Bool, _ call: inout Call
    ) async throws(NetError) {
        let limit = call.request.limits?.total
        let start = time.now()
        call.watch?.tell(.waiting(limit ?? .zero, .connectivity), of: call.request)
        do throws(NetError) {
            // Without a way to the internet one to the local network may come up.
            try await reachability.focused(on: host).wait(for: limit, time: time) { Self.isGood($0, mayBeCellular) }
        } catch  where error.code == .totalTimedOut {
            throw NetError(.totalTimedOut, "there was no way to \(host) in time")
        }
        if let limit {
            call.request.limits?.total = max(.milliseconds(1), limit - (time.now() - start))
        }
    }
}
