/// Refreshes expired credentials: one refresh serves all calls that need it.
///
///     let refresh = CredentialRefresh(token) { request, token in
///         request.credentials = .bearer(token.access)
///     } refresh: { token in
///         try await accounts.send(Request<Token>("refresh", method: .post, body: try .json(token?.refresh))).value
///     }
///     configuration.interceptors = [refresh]
///
/// A call whose credentials have expired waits for the running refresh, or starts one. It is then sent again with the
/// new credentials, and that response is final. A call whose body can be read only once is not sent again. It returns
/// its first response, and the next call uses the new credentials.
///
/// A failed refresh fails every call that was in flight and needs it, with ``NetError/Code/authentication``. The next
/// call may start another one. Calls that start during a refresh wait for it, at most until ``Limits/total`` ends. A
/// refresh that exceeds its time limit has failed. A cancelled call does not affect the others.
///
/// Requests that the refresh itself sends through the same agent are not changed, nor are those with
/// ``Request/bypassesCredentialRefresh``. Set it on a request that the refresh sends from another task, such as
/// `Task.detached` or a queue. Without it that request looks like any other: it waits for the refresh, and the refresh
/// waits for it, until ``Limits/total`` or the refresh's time limit ends.
///
/// ``Caching`` and ``Repeats`` distinguish calls with different credentials,
/// both before and behind this interceptor. Thread-safe.
public final class CredentialRefresh<Token: Sendable>: OriginBoundInterceptor, PromptInterceptor {
    /// Adds a token to a request.
    public typealias Apply = @Sendable (inout Request<Bytes>, Token) -> Void
    /// Returns a new token; the parameter is the old one, if there is any.
    public typealias Refresh = @Sendable (Token?) async throws -> Token

    private struct State: Sendable {
        var token: Token?
        // The number of refreshes that have ended, and the failure of the last one.
        var round = 0
        var failure: NetError?
        var running: Promise<Token>?
    }

    private let state: Lock<State>
    private let rule: VerdictRule
    private let apply: Apply
    private let refresh: Refresh
    private let timeLimit: Duration
    private let timer = DeadlineTimer()

    /// Creates a credential refresh.
    ///
    /// - Parameters:
    ///   - token: the current credentials; if `nil`, requests are sent without any until a response requires them.
    ///   - rule: detects expired credentials in a response.
    ///   - timeLimit: the maximum duration of a refresh (60 s). Then its task is cancelled, the waiting calls fail with
    ///     ``NetError/Code/authentication``, and the next call may start another refresh.
    ///   - apply: adds the credentials to a request.
    ///   - refresh: returns new credentials to replace the expired ones.
    public init(
        _ token: Token? = nil, rule: VerdictRule = .unauthorized, timeLimit: Duration = .seconds(60),
        apply: @escaping Apply, refresh: @escaping Refresh
    ) {
        state = Lock(State(token: token))
        self.rule = rule
        self.apply = apply
        self.refresh = refresh
        self.timeLimit = timeLimit
    }

    /// The current credentials.
    public var token: Token? { state.withLock { $0.token } }

    /// Replaces the credentials, for example after a login; `nil` removes them.
    ///
    /// They take precedence over a running refresh: its result is discarded. Calls that wait for it continue with the
    /// new credentials, or fail with ``NetError/Code/authentication`` for `nil`.
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

    /// Returns the request with the current credentials, or `nil` if it is not changed.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? {
        guard !passes(request), let token else { return nil }
        return with(token, request)
    }

    private func passes(_ request: Request<Bytes>) -> Bool {
        request.bypassesCredentialRefresh || RefreshUnderWay.numbers.contains(ObjectIdentifier(self))
    }

    /// Sends the call with valid credentials and returns its response.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        if passes(call.request) {
            return try await next(call)
        }
        let (known, round) = try await current(within: call.budget)
        var trail = RedirectTrail()
        let answer = try await judged(try await next(with(known, call)), call)
        guard answer.isExpired else { return answer.reply }
        var again = call
        let led = call.request.led(along: answer.reply.metrics)
        // A redirect to another origin drops the credentials: new ones would not change that server's response.
        guard isAtHome(led, call, answer.reply) else { return answer.reply }
        if led.method != call.request.method {
            // A server has acted on the request and redirected to its result: only that is requested again.
            again.request = led
            trail.add(redirectsOf: answer.reply)
        }
        let renewal = renewal(after: round)
        // The call cannot be sent again, but later calls use the new credentials.
        guard again.isRepeatable else { return answer.reply }
        answer.reply.discard()
        let fresh = try await call.budget.value(of: renewal, Self.waiting)
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

    /// Returns the credentials to start with, after a running refresh has ended.
    private func current(within budget: TimeBudget) async throws(NetError) -> (Token?, Int) {
        let (running, token, round) = state.withLock { ($0.running, $0.token, $0.round) }
        guard let running else { return (token, round) }
        return (try await budget.value(of: running, Self.waiting), round + 1)
    }

    /// Returns the credentials after a round: of a refresh that has ended since, or of a new one.
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

    /// Starts a separate task: the call that started it may be cancelled, and others still need the result.
    private func begin(_ promise: Promise<Token>, from old: Token?) {
        let numbers = RefreshUnderWay.numbers.union([ObjectIdentifier(self)])
        Task {
            let outcome = await RefreshUnderWay.$numbers.withValue(numbers) { await self.refreshedInTime(from: old) }
            state.withLock { state in
                // Otherwise the credentials were replaced in the meantime.
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

    /// The new credentials, or a failure after the time limit, also where the refresh ignores that it is cancelled.
    private func refreshedInTime(from old: Token?) async -> Result<Token, NetError> {
        do throws(NetError) {
            return try await TimeBudget(timeLimit, timer: timer).race(Self.waiting) { _ in
                await self.refreshed(from: old)
            }
        } catch {
            return .failure(NetError(.authentication, "\(Self.waiting) took longer than its limit of \(timeLimit)"))
        }
    }

    private static var waiting: String {
        "the refresh of the credentials (a request that the refresh sends from another task waits for itself without"
            + " bypassesCredentialRefresh)"
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

/// The refreshes that the current task works for.
enum RefreshUnderWay {
    @TaskLocal static var numbers: Set<ObjectIdentifier> = []
}

private enum BypassNote: RequestNote {
    static let standard = false
}

extension Request {
    /// Whether ``CredentialRefresh`` leaves the request unchanged, for requests that a refresh sends from a detached
    /// task.
    public var bypassesCredentialRefresh: Bool {
        get { self[BypassNote.self] }
        set { self[BypassNote.self] = newValue }
    }
}
