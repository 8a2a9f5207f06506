/// Keeps the credentials of calls fresh: one refresh for however many calls find them to be over.
///
///     let refresh = CredentialRefresh(token) { request, token in
///         request.credentials = .bearer(token.access)
///     } refresh: { token in
///         try await accounts.send(Request<Token>("refresh", method: .post, body: try .json(token?.refresh))).value
///     }
///     configuration.interceptors = [refresh]
///
/// A call whose credentials are over waits for the refresh that is under way, or begins one, and is sent once more with
/// the new ones; what comes back then is its answer. One whose body can be read once is not sent again: its answer is
/// what came, and the next call has the new ones. A refresh that fails fails every call that was under way, once each,
/// with ``NetError/Code/authentication``, and the next call may begin another. Calls that start during a refresh wait
/// for it. Calls that the refresh itself makes through the same agent pass by, and so do requests with
/// ``Request/bypassesCredentialRefresh``. A call that gives up ends alone. ``Caching`` and ``Repeats`` tell calls with
/// different credentials apart, on whichever side of it they stand. Thread-safe.
public final class CredentialRefresh<Token: Sendable>: OriginBoundInterceptor {
    /// Puts a token into a request.
    public typealias Apply = @Sendable (inout Request<Bytes>, Token) -> Void
    /// Gets a new token; the old one is what it was until now, if there was any.
    public typealias Refresh = @Sendable (Token?) async throws -> Token

    private struct State: Sendable {
        var token: Token?
        // Refreshes that have ended, and what the last one ended with.
        var round = 0
        var failure: NetError?
        var running: Promise<Token>?
    }

    private let state: Lock<State>
    private let rule: VerdictRule
    private let apply: Apply
    private let refresh: Refresh

    /// - Parameters:
    ///   - token: the credentials so far; nil sends requests without until an answer asks for some.
    ///   - rule: tells from an answer that they are over.
    ///   - apply: puts the credentials into a request.
    ///   - refresh: gets new ones in place of those that are over.
    public init(
        _ token: Token? = nil, rule: VerdictRule = .unauthorized, apply: @escaping Apply,
        refresh: @escaping Refresh
    ) {
        state = Lock(State(token: token))
        self.rule = rule
        self.apply = apply
        self.refresh = refresh
    }

    /// The credentials as they are now.
    public var token: Token? { state.withLock { $0.token } }

    /// Takes other credentials, after a login say; nil takes them away.
    ///
    /// They win over a refresh that is under way: calls that wait for it go on with these, or fail with
    /// ``NetError/Code/authentication`` for nil, and what it brings is let go.
    public func replace(_ token: Token?) {
        let superseded = state.withLock { state in
            defer { state.running = nil }
            state.token = token
            state.failure = nil
            state.round += 1
            return state.running
        }
        superseded?.fulfil(
            token.map { .success($0) }
                ?? .failure(NetError(.authentication, "the credentials were taken away during their refresh")))
    }

    /// The request with the credentials as they are now, unless it passes by.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? {
        guard !passes(request), let token else { return nil }
        return with(token, request)
    }

    private func passes(_ request: Request<Bytes>) -> Bool {
        request.bypassesCredentialRefresh || RefreshUnderWay.numbers.contains(ObjectIdentifier(self))
    }

    /// Answers with what comes back by credentials that will do, if there are any.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        if passes(call.request) {
            return try await next(call)
        }
        let (known, round) = try await current()
        var trail = RedirectTrail()
        let answer = try await judged(try await next(with(known, call)), call)
        guard answer.isExpired else { return answer.reply }
        var again = call
        let led = call.request.led(along: answer.reply.metrics)
        // A redirect to another origin drops the credentials: new ones do not change that server's answer.
        guard isAtHome(led, call, answer.reply) else { return answer.reply }
        if led.method != call.request.method {
            // A server has acted on the request, and led on to what it answers: that alone is asked once more.
            again.request = led
            trail.add(redirectsOf: answer.reply)
        }
        let renewal = renewal(after: round)
        // The calls after it have what this one cannot be sent again for.
        guard again.isRepeatable else { return answer.reply }
        answer.reply.discard()
        let fresh = try await renewal.value()
        trail.goesOn()
        do throws(NetError) {
            return trail.leading(to: try await judged(try await next(with(fresh, again)), again).reply)
        } catch {
            throw trail.leading(to: error)
        }
    }

    private func isAtHome(_ led: Request<Bytes>, _ call: Call, _ reply: Answer) -> Bool {
        call.request.url.secured(as: reply.metrics.first?.url).hasSameOrigin(as: led.url)
    }

    private func with(_ token: Token?, _ call: Call) -> Call {
        guard let token else { return call }
        var call = call
        call.request = with(token, call.request)
        return call
    }

    private func with(_ token: Token, _ request: Request<Bytes>) -> Request<Bytes> {
        var applied = request
        apply(&applied, token)
        return applied.tellingIdentity(beside: request)
    }

    private func judged(_ reply: Answer, _ call: Call) async throws(NetError) -> (isExpired: Bool, reply: Answer) {
        let (verdict, reply) = try await rule.verdict(on: reply)
        guard case .refused(let reason) = verdict else { return (verdict == .expired, reply) }
        call.watch?.tell(.credentialsRefused(reason), of: call.request)
        throw NetError(.authentication, "the service refuses the credentials: \(reason)", response: reply.response)
    }

    // MARK: One refresh for all

    /// The credentials to begin with, after a refresh that is under way.
    private func current() async throws(NetError) -> (Token?, Int) {
        let (running, token, round) = state.withLock { ($0.running, $0.token, $0.round) }
        guard let running else { return (token, round) }
        return (try await running.value(), round + 1)
    }

    /// The credentials that came after a round: those of a refresh that has ended since, or of one that begins now.
    private func renewal(after round: Int) -> Promise<Token> {
        let promise = Promise<Token>()
        let (known, running, old) = state.withLock { state -> (Result<Token, NetError>?, Promise<Token>, Token?) in
            if let running = state.running {
                return (nil, running, nil)
            }
            if state.round != round {
                if let failure = state.failure {
                    return (.failure(failure), promise, nil)
                }
                if let token = state.token {
                    return (.success(token), promise, nil)
                }
            }
            state.running = promise
            return (nil, promise, state.token)
        }
        if let known {
            promise.fulfil(known)
        } else if running === promise {
            begin(promise, from: old)
        }
        return running
    }

    /// A task of its own: the caller that began it may give up, and the others still want it.
    private func begin(_ promise: Promise<Token>, from old: Token?) {
        let numbers = RefreshUnderWay.numbers.union([ObjectIdentifier(self)])
        Task {
            let outcome = await RefreshUnderWay.$numbers.withValue(numbers) { await self.refreshed(from: old) }
            state.withLock { state in
                // Otherwise somebody has replaced the credentials meanwhile.
                guard state.running === promise else { return }
                state.running = nil
                state.round += 1
                switch outcome {
                case .success(let token): (state.token, state.failure) = (token, nil)
                case .failure(let error): state.failure = error
                }
            }
            promise.fulfil(outcome)
        }
    }

    private func refreshed(from old: Token?) async -> Result<Token, NetError> {
        do {
            return .success(try await refresh(old))
        } catch {
            let cause = error as? NetError
            return .failure(
                NetError(
                    .authentication, "the credentials could not be refreshed: \(cause?.message ?? "\(error)")",
                    response: cause?.response, underlying: error))
        }
    }
}

/// Which refreshes the task works for.
enum RefreshUnderWay {
    @TaskLocal static var numbers: Set<ObjectIdentifier> = []
}

private enum BypassNote: RequestNote {
    static let standard = false
}

extension Request {
    /// Whether ``CredentialRefresh`` lets it pass as it is; for what a refresh sends from a task of its own.
    public var bypassesCredentialRefresh: Bool {
        get { self[BypassNote.self] }
        set { self[BypassNote.self] = newValue }
    }
}
