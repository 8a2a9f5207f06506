/// The end of every chain: the transport, with challenge handling.
final class Exchange: CallEnd {
    let transport: any Transport
    let configuration: Agent.Configuration
    /// Distributes the agent's events.
    let hub: EventHub
    /// The calls in flight, and whether they may continue.
    let flights: Flights
    /// The agent's settings and state for caches.
    let cacheContext: CacheContext
    var owner: ObjectIdentifier? { ObjectIdentifier(self) }

    init(transport: any Transport, configuration: Agent.Configuration, hub: EventHub, flights: Flights) {
        self.transport = transport
        self.configuration = configuration
        self.hub = hub
        self.flights = flights
        cacheContext = CacheContext(
            appVersion: configuration.appVersion,
            jar: configuration.cookies == .off ? nil : transport as? any TransferControl,
            hooks: configuration.transferHooks, trust: configuration.trust, netrc: configuration.netrc)
    }

    func exchange(_ call: Call) async throws(NetError) -> Answer {
        if call.request.hasNotes, call.request.caching?.mode == .cacheOnly {
            throw NetError(.notCached, "the agent has no Caching, and the cache alone was to be asked")
        }
        guard call.budget.isRaced else { return try await transferred(call) }
        return try await call.budget.transfer { () async throws(NetError) in try await transferred(call) }
    }

    @inline(__always)
    private func transferred(_ call: Call) async throws(NetError) -> Answer {
        guard let watch = call.watch else { return try await reply(to: call) }
        return try await watched(call, by: watch)
    }

    // Separate and never inlined: its frame is large, and most calls have no observer.
    @inline(never)
    private func watched(_ call: Call, by watch: Watch) async throws(NetError) -> Answer {
        let number = watch.exchangeStarts(call.request)
        let heads = WatchedHeads(watch, hub: hub, keepsDotSegments: call.request.keepsDotSegments)
        do throws(NetError) {
            var tapped = call
            tapped.request.tap = heads.tap
            let reply = try await reply(to: tapped)
            heads.complete(reply)
            watch.tell(.exchangeEnded(number, .answered(reply.response)), of: call.request)
            return reply
        } catch {
            watch.tell(.exchangeEnded(number, .failed(error)), of: call.request)
            throw error
        }
    }

    @inline(__always)
    private func reply(to call: Call) async throws(NetError) -> Answer {
        let hooks = call.request.hooks(over: configuration.transferHooks)
        if hooks.redirect != nil || hooks.head != nil || call.checksBeforeSaving {
            return try await HookedExchange(exchange: self, hooks: hooks, call: call).answer()
        }
        return try await plain(call, hooks)
    }

    /// Runs one transfer, or several because of challenges.
    ///
    /// - Parameter home: a URL of the call's first origin, which may receive credentials; `nil` is the request's own
    ///   URL.
    func plain(_ call: Call, _ hooks: TransferHooks, from home: String? = nil) async throws(NetError) -> Answer {
        if call.kind == .stream {
            return Answer(try await stream(call.request, hooks, call.watch, from: home, within: call.budget))
        }
        if let plan = call.request.download {
            return try await download(call, plan, hooks, from: home)
        }
        let response = try await send(call.request, hooks, call.watch, from: home, within: call.budget)
        guard call.kind == .save, let path = call.request.savePath, (200..<300).contains(response.status) else {
            return Answer(response)
        }
        return Answer(response, in: SavedFile(path: path, byteCount: response.metrics.last?.decodedBytes ?? 0))
    }

    // Never inlined: few calls need it, and it would enlarge every call's stack frame.
    @inline(never)
    private func download(
        _ call: Call, _ plan: DownloadPlan, _ hooks: TransferHooks, from home: String?
    ) async throws(NetError) -> Answer {
        var request = call.request
        let saved = transport is EngineTransport ? nil : try SavedDownload(plan)
        request.savePath = saved?.path
        let response = try await send(request, hooks, call.watch, from: home, within: call.budget)
        // An app's own transport may wrap an engine's downloads.
        if let file = plan.file {
            return Answer(response, in: file)
        }
        guard let saved, (200..<300).contains(response.status) else { return Answer(response) }
        return Answer(response, in: try await saved.keep(response))
    }

    /// Returns the response with any status.
    ///
    /// - Parameter budget: the call's time; if `nil`, it begins with the transfer.
    func send(
        _ request: Request<Bytes>, _ hooks: TransferHooks? = nil, _ watch: Watch? = nil, from home: String? = nil,
        within budget: TimeBudget? = nil
    ) async throws(NetError) -> Response<Bytes> {
        try mayGoOn()
        do throws(NetError) {
            guard let desk = desk(for: request, hooks, watch) else {
                return try await transport.send(try budget?.bounding(request) ?? request)
            }
            return try await answer(to: request, from: home ?? request.url, asking: desk, within: budget)
        } catch {
            throw request.explained(error)
        }
    }

    private func answer(
        to request: Request<Bytes>, from home: String, asking desk: ChallengeDesk, within budget: TimeBudget?
    ) async throws(NetError) -> Response<Bytes> {
        var rounds = ChallengeRounds(
            request, from: home, agentProxy: configuration.proxy, desk: desk, within: budget)
        do throws(NetError) {
            while true {
                var received = try await tunnelled(&rounds) { request async throws(NetError) in
                    try await transport.send(request)
                }
                guard try await rounds.mayTryAgain(after: received) else {
                    if rounds.hasShown {
                        received.cameByChallenge = true
                    }
                    return rounds.trail.leading(to: received)
                }
                try mayGoOn()
            }
        } catch {
            throw rounds.trail.leading(to: error)
        }
    }

    /// Returns the stream with any status.
    func stream(
        _ request: Request<Bytes>, _ hooks: TransferHooks? = nil, _ watch: Watch? = nil, from home: String? = nil,
        within budget: TimeBudget? = nil
    ) async throws(NetError) -> ResponseStream {
        try mayGoOn()
        guard let desk = desk(for: request, hooks, watch) else {
            return try await transport.stream(try budget?.bounding(request) ?? request)
        }
        return try await self.stream(of: request, from: home ?? request.url, asking: desk, within: budget)
    }

    private func stream(
        of request: Request<Bytes>, from home: String, asking desk: ChallengeDesk, within budget: TimeBudget?
    ) async throws(NetError) -> ResponseStream {
        var rounds = ChallengeRounds(
            request, from: home, agentProxy: configuration.proxy, desk: desk, within: budget)
        do throws(NetError) {
            while true {
                var stream = try await tunnelled(&rounds) { request async throws(NetError) in
                    try await transport.stream(request)
                }
                guard try await rounds.mayTryAgain(after: stream.headOnly, behind: stream.earlierHeads) else {
                    stream.cameByChallenge = rounds.hasShown
                    return rounds.trail.leading(to: stream)
                }
                stream.supersede()
                try mayGoOn()
            }
        } catch {
            throw rounds.trail.leading(to: error)
        }
    }

    /// Returns the reply, after sending credentials to a proxy that requires them.
    private func tunnelled<Reply>(
        _ rounds: inout ChallengeRounds, _ ask: (Request<Bytes>) async throws(NetError) -> Reply
    ) async throws(NetError) -> Reply {
        while true {
            do throws(NetError) {
                return try await ask(try rounds.bounded())
            } catch {
                guard try await rounds.mayTryAgain(after: error) else { throw error }
                try mayGoOn()
            }
        }
    }

    private func mayGoOn() throws(NetError) {
        try Agent.checkCancellation()
        if flights.isCancelled {
            throw NetError(.cancelled, "the agent was invalidated")
        }
    }

    /// Returns `nil` without a source of credentials.
    private func desk(for request: Request<Bytes>, _ hooks: TransferHooks?, _ watch: Watch?) -> ChallengeDesk? {
        let handler = (hooks ?? configuration.transferHooks).challenge ?? configuration.challengeHandler
        if handler == nil, configuration.credentialStore == nil {
            return nil
        }
        // The agent's handler does not serve foreign origins.
        let serverHandler = request.outsiders.contains(.agent) ? request.transferHooks.challenge : handler
        return ChallengeDesk(
            handler: serverHandler, proxyHandler: handler, store: configuration.credentialStore, watch: watch)
    }
}
