/// The stored response of a request, if it is usable, followed by the network's.
///
///     for try await answer in agent.answers(to: Request<[City]>("cities")) {
///         show(answer.value, isFinal: !answer.cache!.isHit)
///     }
///
/// Each response is decoded separately. Observers see one call, which begins with the first response that is requested,
/// and ends after the last one. Releasing the iterator ends it too.
public struct Answers<Value: Sendable>: AsyncSequence, Sendable {
    /// A response.
    public typealias Element = Response<Value>
    /// The network's error; the stored response came before it.
    public typealias Failure = NetError

    let agent: Agent
    let request: Request<Value>

    /// Returns an iterator; the lookup starts with the first response that is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(state: AnswersState(agent: agent, request: request))
    }

    /// Returns the responses one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let state: AnswersState<Value>

        /// Returns the next response, or `nil` after the network's.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Response<Value>? {
            try await state.next()
        }

        /// Returns the next response, or `nil` after the network's.
        public mutating func next() async throws(NetError) -> Response<Value>? {
            try await state.next()
        }
    }
}

/// The state of an iteration.
private final class AnswersState<Value: Sendable>: Sendable {
    private enum Stage: Sendable {
        case stored
        case network
        case over
    }

    private let agent: Agent
    private let request: Request<Value>
    private let tellOver: (@Sendable () -> Void)?
    private let watch: Watch?
    private let stage = Lock(Stage.stored)

    init(agent: Agent, request: Request<Value>) {
        var request = request
        self.agent = agent
        tellOver = request.endProgressOnce()
        self.request = request
        watch = Watch.begin(request, agent.observers(of: request), within: agent.budget(of: request, .send))
    }

    deinit {
        tellOver?()
        watch?.stoppingAtOnce(.failed(NetError(.cancelled, "the answers were let go before the last one")))
        watch?.stopped()
    }

    private func end(_ outcome: Event.Outcome) async {
        stage.withLock { $0 = .over }
        tellOver?()
        await watch?.stopping(outcome)
        watch?.stopped()
    }

    func next() async throws(NetError) -> Response<Value>? {
        let stage = stage.withLock { stage in
            defer { stage = stage == .stored ? .network : .over }
            return stage
        }
        do throws(NetError) {
            switch stage {
            case .stored:
                if let stored = try await agent.storedAnswer(to: request, watch) {
                    return stored
                }
                return try await next()
            case .network:
                let (answer, received) = try await agent.networkAnswer(to: request, watch)
                await end(.answered(received))
                return answer
            case .over:
                return nil
            }
        } catch {
            await end(.failed(error))
            throw error
        }
    }
}

extension Agent {
    /// Returns the stored response, if it is usable, and then the network's: two responses, or one.
    public func answers<Value>(to request: Request<Value>) -> Answers<Value> {
        Answers(agent: self, request: request)
    }

    fileprivate func storedAnswer<Value>(
        to request: Request<Value>, _ watch: Watch?
    ) async throws(NetError) -> Response<Value>? {
        // Without caching, a lookup would send the request.
        if case .off = try rules(of: request) {
            return nil
        }
        do throws(NetError) {
            var request = request
            request.progress = nil  // A stored response has no progress, and is not the end.
            return try await answered(request, in: .cacheOnly, watch).0
        } catch  where error.code == .notCached {
            return nil
        }
    }

    fileprivate func networkAnswer<Value>(
        to request: Request<Value>, _ watch: Watch?
    ) async throws(NetError) -> (Response<Value>, Response<Bytes>) {
        try await answered(request, in: .cacheThenNetwork, watch)
    }

    private func answered<Value>(
        _ request: Request<Value>, in mode: CacheMode, _ watch: Watch?
    ) async throws(NetError) -> (Response<Value>, Response<Bytes>) {
        try enter(request)
        defer { flights.group.leave() }
        var request = request
        request.caching = try named(rules(of: request), by: request).with(mode)
        let asked = request
        var call = Call(
            asked.decoded(by: .bytes), kind: .send, watch: watch, budget: budget(of: asked, .send))
        do throws(NetError) {
            return try await carried(&call, of: asked, isEnd: mode != .cacheOnly) { call async throws(NetError) in
                try await self.kept(try await self.whole(call), by: asked)
            }
        } catch {
            if mode == .cacheOnly, error.code == .notCached {
                throw error  // The network comes next, so this is not the end.
            }
            throw await failure(of: call, asked: asked, error)
        }
    }

    /// Rules that the request does not set itself apply to GET and HEAD only, unless they name methods.
    private func named(_ rules: CacheRules, by request: Request<some Sendable>) -> CacheRules {
        guard request.caching == nil, case .application(var policy) = rules else { return rules }
        policy.methods = policy.methods ?? [.get, .head]
        return .application(policy)
    }
}
