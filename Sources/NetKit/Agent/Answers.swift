/// What is stored, where there is something to be used, and then what the network says.
///
///     for try await answer in agent.answers(to: Request<[City]>("cities")) {
///         show(answer.value, isFinal: !answer.cache!.isHit)
///     }
///
/// Each answer is decoded by itself. Whoever watches sees one call: it begins with the first answer that is asked for, and
/// ends once, after the last. Letting the iterator go ends it too.
public struct Answers<Value: Sendable>: AsyncSequence, Sendable {
    /// An answer.
    public typealias Element = Response<Value>
    /// What the network failed with; the stored answer came before it.
    public typealias Failure = NetError

    let agent: Agent
    let request: Request<Value>

    /// Asks when the first answer is wanted.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(state: AnswersState(agent: agent, request: request))
    }

    /// Gives the answers one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let state: AnswersState<Value>

        /// The next answer; nil after the network's.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Response<Value>? {
            try await state.next()
        }

        /// The next answer; nil after the network's.
        public mutating func next() async throws(NetError) -> Response<Value>? {
            try await state.next()
        }
    }
}

/// How far a sequence of answers has come.
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
        watch = Watch.begin(request, agent.observers(of: request))
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
    /// What is stored, where it may be used, and then what the network says: two answers, or one.
    public func answers<Value>(to request: Request<Value>) -> Answers<Value> {
        Answers(agent: self, request: request)
    }

    fileprivate func storedAnswer<Value>(
        to request: Request<Value>, _ watch: Watch?
    ) async throws(NetError) -> Response<Value>? {
        // Where nothing is ever stored, to ask is to send.
        if case .off = try rules(of: request) {
            return nil
        }
        do throws(NetError) {
            var request = request
            request.progress = nil  // What is stored moves nothing, and is no end.
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
        var call = Call(request.decoded(by: .bytes), kind: .send, watch: watch)
        do throws(NetError) {
            call = try await prepared(call)
            let answer = try await kept(try await whole(call), by: request)
            if mode != .cacheOnly {
                try await mayEnd(call, .answered(answer.1))
            }
            return answer
        } catch {
            if mode == .cacheOnly, error.code == .notCached {
                throw error  // The network comes next, so this is no end.
            }
            throw await failure(of: call, asked: request, error)
        }
    }

    /// Rules that the request does not bring itself stay those of requests that only read, unless they say more.
    private func named(_ rules: CacheRules, by request: Request<some Sendable>) -> CacheRules {
        guard request.caching == nil, case .application(var policy) = rules else { return rules }
        policy.methods = policy.methods ?? [.get, .head]
        return .application(policy)
    }
}
