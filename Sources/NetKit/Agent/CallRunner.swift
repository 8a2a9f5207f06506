/// The end of every chain of interceptors. Sends requests through the transport and handles challenges.
final class CallRunner: CallEnd {
    let transport: any Transport
    let configuration: Agent.Configuration
    /// Distributes the agent's events.
    let hub: EventHub
    /// The calls in flight, and whether they may continue.
    let inFlight: InFlightRequests
    /// The agent's settings and state that caches use.
    let cacheContext: CacheContext
    var owner: ObjectIdentifier? { ObjectIdentifier(self) }

    init(transport: any Transport, configuration: Agent.Configuration, hub: EventHub, inFlight: InFlightRequests) {
        self.transport = transport
        self.configuration = configuration
        self.hub = hub
        self.inFlight = inFlight
        cacheContext = CacheContext(
            appVersion: configuration.appVersion,
            jar: configuration.cookies == .off ? nil : transport as? any TransferControl,
            trust: configuration.trust, netrc: configuration.netrc)
    }

    func exchange(_ call: Call, _ hooks: TransferHooks) async throws(NetError) -> ChainResponse {
        if call.request.hasOptions, call.request.caching.mode == .cacheOnly {
            throw NetError(.notCached, "cache-only request, but the agent has no Caching interceptor")
        }
        guard call.budget.isRaced else { return try await runTransfers(call, hooks) }
        return try await call.budget.transfer { () async throws(NetError) in try await runTransfers(call, hooks) }
    }

    @inline(__always)
    private func runTransfers(_ call: Call, _ hooks: TransferHooks) async throws(NetError) -> ChainResponse {
        guard let watch = call.watch else { return try await response(to: call, hooks) }
        return try await runObserved(call, hooks, by: watch)
    }

    // Not inlined: its stack frame is large, and most calls have no observer.
    @inline(never)
    private func runObserved(
        _ call: Call, _ hooks: TransferHooks, by watch: Watch
    ) async throws(NetError) -> ChainResponse {
        let number = watch.reportTransferStart(call.request)
        let headObserver = ResponseHeadObserver(watch, hub: hub, keepsDotSegments: call.request.keepsDotSegments)
        do throws(NetError) {
            var observedCall = call
            observedCall.request.transferObserver = headObserver.transferObserver
            let response = try await response(to: observedCall, hooks)
            headObserver.complete(response)
            watch.report(.exchangeEnded(number, .answered(response.response)), of: call.request)
            return response
        } catch {
            watch.report(.exchangeEnded(number, .failed(error)), of: call.request)
            throw error
        }
    }

    @inline(__always)
    private func response(to call: Call, _ hooks: TransferHooks) async throws(NetError) -> ChainResponse {
        if hooks.redirect != nil || hooks.head != nil || call.checksBeforeSaving {
            return try await RedirectingExchange(callRunner: self, hooks: hooks, call: call).response()
        }
        return try await transfer(call, hooks)
    }

    /// Runs one transfer. After a challenge, runs further transfers with credentials.
    ///
    /// - Parameter originURL: the URL of the call's first request. Only its origin may receive credentials. If `nil`,
    ///   the URL of this request.
    func transfer(_ call: Call, _ hooks: TransferHooks, from originURL: String? = nil) async throws(NetError)
        -> ChainResponse
    {
        if call.kind == .stream {
            return ChainResponse(
                try await stream(call.request, hooks, call.watch, from: originURL, within: call.budget))
        }
        if let plan = call.request.download {
            return try await download(call, plan, hooks, from: originURL)
        }
        if call.kind == .webSocket {
            return ChainResponse(try await openWebSocket(call, hooks, from: originURL))
        }
        let response = try await send(call.request, hooks, call.watch, from: originURL, within: call.budget)
        guard call.kind == .save, let path = call.request.savePath, (200..<300).contains(response.status) else {
            return ChainResponse(response)
        }
        return ChainResponse(
            response, in: DownloadedFile(path: path, byteCount: response.metrics.last?.decodedBytes ?? 0))
    }

    // Not inlined: few calls need it, and it would enlarge every call's stack frame.
    @inline(never)
    private func download(
        _ call: Call, _ plan: DownloadPlan, _ hooks: TransferHooks, from originURL: String?
    ) async throws(NetError) -> ChainResponse {
        var request = call.request
        let saved = transport is EngineTransport ? nil : try DownloadRecord(plan)
        request.savePath = saved?.path
        let response = try await send(request, hooks, call.watch, from: originURL, within: call.budget)
        // A transport of the app may have passed the plan to an engine, which sets `plan.file`.
        if let file = plan.file {
            return ChainResponse(response, in: file)
        }
        guard let saved, (200..<300).contains(response.status) else { return ChainResponse(response) }
        return ChainResponse(response, in: try await saved.moveFile(response))
    }

    /// Sends a request and returns the response. Every status is accepted.
    ///
    /// - Parameter budget: the call's time limit. If `nil`, the time begins with the transfer.
    func send(
        _ request: Request<Bytes>, _ hooks: TransferHooks = TransferHooks(), _ watch: Watch? = nil,
        from originURL: String? = nil, within budget: TimeBudget? = nil
    ) async throws(NetError) -> Response<Bytes> {
        try checkMayContinue()
        do throws(NetError) {
            guard let coordinator = coordinator(for: request, hooks, watch) else {
                return try await transport.send(try budget?.bounding(request) ?? request)
            }
            return try await response(
                to: request, from: originURL ?? request.url, challengesTo: coordinator, within: budget
            ) { request async throws(NetError) in
                try await transport.send(request)
            }
        } catch {
            throw request.explained(error)
        }
    }

    /// Opens a WebSocket, and returns the response to the handshake. Every status is accepted.
    @inline(never)
    private func openWebSocket(
        _ call: Call, _ hooks: TransferHooks, from originURL: String?
    ) async throws(NetError) -> Response<Bytes> {
        try checkMayContinue()
        guard let plan = call.request.webSocket else {
            throw NetError(.usage, "an interceptor replaced the request that opens a WebSocket")
        }
        do throws(NetError) {
            guard let coordinator = coordinator(for: call.request, hooks, call.watch) else {
                return try await plan.open(try call.budget.bounding(call.request), through: transport)
            }
            return try await response(
                to: call.request, from: originURL ?? call.request.url, challengesTo: coordinator, within: call.budget
            ) { request async throws(NetError) in
                try await plan.open(request, through: transport)
            }
        } catch {
            throw call.request.explained(error)
        }
    }

    private func response(
        to request: Request<Bytes>, from originURL: String, challengesTo coordinator: ChallengeCoordinator,
        within budget: TimeBudget?, _ send: (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async throws(NetError) -> Response<Bytes> {
        var rounds = ChallengeRounds(
            request, from: originURL, agentProxy: configuration.proxy, coordinator: coordinator, within: budget)
        do throws(NetError) {
            while true {
                var received = try await throughProxy(&rounds, send)
                guard try await rounds.prepareRetry(after: received) else {
                    if rounds.hasSentToServer {
                        received.cameByChallenge = true
                    }
                    return rounds.history.prepending(to: received)
                }
                try checkMayContinue()
            }
        } catch {
            throw rounds.history.prepending(to: error)
        }
    }

    /// Sends a request and returns the stream of the response. Every status is accepted.
    func stream(
        _ request: Request<Bytes>, _ hooks: TransferHooks = TransferHooks(), _ watch: Watch? = nil,
        from originURL: String? = nil, within budget: TimeBudget? = nil
    ) async throws(NetError) -> ResponseStream {
        try checkMayContinue()
        guard let coordinator = coordinator(for: request, hooks, watch) else {
            return try await transport.stream(try budget?.bounding(request) ?? request)
        }
        return try await self.stream(
            of: request, from: originURL ?? request.url, challengesTo: coordinator, within: budget)
    }

    private func stream(
        of request: Request<Bytes>, from originURL: String, challengesTo coordinator: ChallengeCoordinator,
        within budget: TimeBudget?
    ) async throws(NetError) -> ResponseStream {
        var rounds = ChallengeRounds(
            request, from: originURL, agentProxy: configuration.proxy, coordinator: coordinator, within: budget)
        do throws(NetError) {
            while true {
                var stream = try await throughProxy(&rounds) { request async throws(NetError) in
                    try await transport.stream(request)
                }
                guard try await rounds.prepareRetry(after: stream.headOnly, behind: stream.earlierHeads) else {
                    stream.cameByChallenge = rounds.hasSentToServer
                    return rounds.history.prepending(to: stream)
                }
                stream.supersede()
                try checkMayContinue()
            }
        } catch {
            throw rounds.history.prepending(to: error)
        }
    }

    /// Sends a request and returns the response. If a proxy requires credentials for a tunnel, sends the request again
    /// with credentials.
    private func throughProxy<Output>(
        _ rounds: inout ChallengeRounds, _ send: (Request<Bytes>) async throws(NetError) -> Output
    ) async throws(NetError) -> Output {
        while true {
            do throws(NetError) {
                return try await send(try rounds.bounded())
            } catch {
                guard try await rounds.prepareRetry(after: error) else { throw error }
                try checkMayContinue()
            }
        }
    }

    private func checkMayContinue() throws(NetError) {
        try Agent.checkCancellation()
        if inFlight.isCancelled {
            throw NetError(.cancelled, "the agent was invalidated")
        }
    }

    /// Returns the sources of credentials for a request, or `nil` if there are none.
    private func coordinator(for request: Request<Bytes>, _ hooks: TransferHooks, _ watch: Watch?)
        -> ChallengeCoordinator?
    {
        let proxyHandler = hooks.proxyChallenge
        if proxyHandler == nil, configuration.credentialStore == nil {
            return nil
        }
        return ChallengeCoordinator(
            handler: hooks.challenge, proxyHandler: proxyHandler, store: configuration.credentialStore, watch: watch)
    }
}
