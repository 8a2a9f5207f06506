/// The stored response of a request, if it is usable, followed by the response from the network.
struct CacheThenNetwork<Value: Sendable>: AsyncSequence, Sendable {
    let agent: Agent
    /// Creates the request of one iteration.
    let request: @Sendable () async throws(NetError) -> Request<Value>

    /// Returns an iterator. The call begins with the first call of `next()`.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(agent: agent, request: request)
    }

    /// Returns the responses one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let agent: Agent
        fileprivate let request: @Sendable () async throws(NetError) -> Request<Value>
        private var state: CacheThenNetworkState<Value>?
        private var isOver = false

        fileprivate init(agent: Agent, request: @escaping @Sendable () async throws(NetError) -> Request<Value>) {
            self.agent = agent
            self.request = request
        }

        /// Returns the next response, or `nil` after the response from the network.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Response<Value>? {
            guard !isOver else { return nil }
            do throws(NetError) {
                let state = try await startedState()
                let response = try await state.next()
                isOver = response == nil
                return response
            } catch {
                isOver = true
                throw error
            }
        }

        private mutating func startedState() async throws(NetError) -> CacheThenNetworkState<Value> {
            if let state {
                return state
            }
            let started = CacheThenNetworkState(agent: agent, request: try await request())
            state = started
            return started
        }
    }
}

/// The state of one iteration.
private final class CacheThenNetworkState<Value: Sendable>: Sendable {
    private enum Stage: Sendable {
        case stored
        case network
        case ended
    }

    private let agent: Agent
    private let request: Request<Value>
    private let reportOutcome: (@Sendable () -> Void)?
    private let watch: Watch?
    private let listing: ListedCall?
    private let stage = Lock(Stage.stored)

    init(agent: Agent, request: Request<Value>) {
        var request = request
        self.agent = agent
        listing = agent.listedCall(of: request)
        if let listing {
            request.removeListeners()
            request.transferHandle = listing.control.transferHandle
        }
        reportOutcome = request.endProgressOnce()
        self.request = request
        watch = Watch.begin(request, agent.observers(of: request), within: agent.budget(of: request, .send))
    }

    deinit {
        reportOutcome?()
        watch?.reportStoppingWithoutWaiting(
            .failed(NetError(.cancelled, "the response sequence was released before its last response")))
        watch?.reportStopped()
        listing?.end(with: NetError(.cancelled, "the response sequence was released before its last response"))
    }

    private func end(_ outcome: Event.Outcome) async {
        stage.withLock { $0 = .ended }
        reportOutcome?()
        await watch?.reportStopping(outcome)
        watch?.reportStopped()
    }

    func next() async throws(NetError) -> Response<Value>? {
        guard let listing else { return try await nextResponse() }
        let response: Response<Value>?
        do throws(NetError) {
            response = try await listing.perform { () async throws(NetError) in
                try await listing.control.waitWhilePaused()
                return try await self.nextResponse()
            }
        } catch {
            throw await listing.fail(error)
        }
        guard let response else { return nil }
        let isLast = stage.withLock { $0 == .ended }
        return isLast
            ? try await listing.finish(with: .success(response)) : try await listing.pass(.success(response))
    }

    private func nextResponse() async throws(NetError) -> Response<Value>? {
        let stage = stage.withLock { stage in
            defer { stage = stage == .stored ? .network : .ended }
            return stage
        }
        do throws(NetError) {
            switch stage {
            case .stored:
                if let stored = try await agent.storedResponse(to: request, watch) {
                    return stored
                }
                return try await nextResponse()
            case .network:
                let (response, received) = try await agent.networkResponse(to: request, watch)
                await end(.answered(received))
                return response
            case .ended:
                return nil
            }
        } catch {
            await end(.failed(error))
            throw error
        }
    }
}

extension Agent {
    /// Returns a sequence of the stored response, if it is usable, and the response from the network.
    ///
    ///     for try await answer in agent.answers(to: Request<[City]>("cities")) {
    ///         show(answer.value, isFinal: !answer.cache!.isHit)
    ///     }
    ///
    /// An error ends the sequence, also after the stored response. Each response is decoded separately, and passed
    /// through the request's listeners. For observers, each iteration of the sequence is one call. The call begins
    /// with the first use of the iterator. It ends after the last response or when the iterator is released.
    public func answers<Call: RequestConvertible>(
        to call: Call
    ) -> some AsyncSequence<Response<Call.Value>, NetError> & Sendable {
        CacheThenNetwork(agent: self) { () async throws(NetError) in try await call.callRequest { !self.isBare($0) } }
    }

    /// Begins to list the call of a request among the request tasks, or returns `nil` if it is not listed.
    fileprivate func listedCall<Value>(of request: Request<Value>) -> ListedCall? {
        guard request.isListed else { return nil }
        let listing = ListedCall(control(of: request), in: registry, with: request.listeners)
        listing.followCancellation()
        return listing
    }

    fileprivate func storedResponse<Value>(
        to request: Request<Value>, _ watch: Watch?
    ) async throws(NetError) -> Response<Value>? {
        // If caching is off, the lookup below would send the request instead.
        if case .off = try rules(of: request) {
            return nil
        }
        do throws(NetError) {
            var request = request
            request.progress = nil  // Only the network request reports progress and its end.
            return try await response(to: request, in: .cacheOnly, watch).0
        } catch  where error.code == .notCached {
            return nil
        }
    }

    fileprivate func networkResponse<Value>(
        to request: Request<Value>, _ watch: Watch?
    ) async throws(NetError) -> (Response<Value>, Response<Bytes>) {
        try await response(to: request, in: .cacheThenNetwork, watch)
    }

    private func response<Value>(
        to request: Request<Value>, in mode: CacheMode, _ watch: Watch?
    ) async throws(NetError) -> (Response<Value>, Response<Bytes>) {
        try enter(request)
        defer { inFlight.group.leave() }
        var request = request
        request.caching = try applicableRules(rules(of: request), for: request).with(mode)
        let requestWithRules = request
        var call = Call(
            requestWithRules.erased, kind: .send, watch: watch, budget: budget(of: requestWithRules, .send)
        )
        do throws(NetError) {
            return try await runWithinTimeLimit(&call, of: requestWithRules, isEnd: mode != .cacheOnly) {
                call async throws(NetError) in
                try await self.decodedAndStored(try await self.wholeResponse(to: call), by: requestWithRules)
            }
        } catch {
            if mode == .cacheOnly, error.code == .notCached {
                throw error  // This does not end the call: the network request follows.
            }
            throw await failure(of: call, for: requestWithRules, error)
        }
    }

    /// Returns the rules for this request. If the request itself sets no rules, those of the ``Caching`` interceptor
    /// apply to GET and HEAD only, unless ``CachePolicy/methods`` is set.
    private func applicableRules(_ rules: CacheRules, for request: Request<some Sendable>) -> CacheRules {
        guard !request.setsCachePolicy, case .application(var policy) = rules else { return rules }
        policy.methods = policy.methods ?? [.get, .head]
        return .application(policy)
    }
}
