/// Refreshes expired credentials. All calls that need new credentials share one refresh.
///
///     let refresh = CredentialRefresh(token) { request, token in
///         request.credentials = .bearer(token.access)
///     } refresh: { token in
///         try await accounts.send(Request<Token>("refresh", method: .post, body: try .json(token?.refresh))).value
///     }
///     configuration.interceptors = [refresh]
///
/// If the response to a call shows that its credentials have expired, the call waits for the running refresh, or starts
/// one. Then the call is sent again with the new credentials, and the second response is final. A call whose body can
/// be read only once is not sent again. It returns its first response, and the next call uses the new credentials.
///
/// Calls that start during a refresh wait for it, at most until ``Limits/total`` ends. If a refresh fails or exceeds
/// its time limit, all calls that wait for it fail with ``NetError/Code/authentication``. The next call may start
/// another refresh. Cancelling a call does not cancel the refresh.
///
/// Requests that the refresh closure sends through the same agent are not changed and do not wait. If the closure sends
/// a request from another task, such as `Task.detached` or a queue, set ``Request/bypassesCredentialRefresh`` on it.
/// Otherwise that request waits for the refresh while the refresh waits for the request, until ``Limits/total`` or the
/// time limit of the refresh ends.
///
/// ``Caching`` and ``RequestDeduplication`` distinguish calls with different credentials, whether they come before or
/// after this interceptor. Thread-safe.
public final class CredentialRefresh<Token: Sendable>: OriginBoundInterceptor, PromptInterceptor {
    private typealias Apply = @Sendable (inout Request<Bytes>, Token) -> Void
    private typealias Refresh = @Sendable (Token?) async throws -> Token

    private struct State: Sendable {
        var token: Token?
        // The number of refreshes that have ended, and the failure of the last one.
        var round = 0
        var failure: NetError?
        var running: Promise<Token>?
    }

    private let state: Lock<State>
    private let rule: AuthFailureClassifier
    private let apply: Apply
    private let refresh: Refresh
    private let timeLimit: Duration
    private let timer = DeadlineTimer()

    /// Creates a credential refresh.
    ///
    /// - Parameters:
    ///   - token: the current credentials. If `nil`, requests are sent without credentials until a response requires
    ///     them.
    ///   - rule: detects expired credentials in a response.
    ///   - timeLimit: the longest duration of a refresh (60 s). At its end the refresh's task is cancelled, and the
    ///     waiting calls fail with ``NetError/Code/authentication``.
    ///   - apply: adds the credentials to a request.
    ///   - refresh: returns new credentials to replace the expired ones. Its parameter is `nil` if there are none.
    public init(
        _ token: Token? = nil, rule: AuthFailureClassifier = .status(401), timeLimit: Duration = .seconds(60),
        apply: @escaping @Sendable (inout Request<Bytes>, Token) -> Void,
        refresh: @escaping @Sendable (Token?) async throws -> Token
    ) {
        state = Lock(State(token: token))
        self.rule = rule
        self.apply = apply
        self.refresh = refresh
        self.timeLimit = timeLimit
    }

    /// Creates a credential refresh for bearer tokens (RFC 6750).
    ///
    ///     CredentialRefresh(saved) { expired in try await login.post("token").value?["token"]?.string ?? "" }
    ///
    /// - Parameters:
    ///   - token: the current token. If `nil`, requests are sent without a token until a response requires one.
    ///   - rule: detects an expired token in a response.
    ///   - timeLimit: the longest duration of a refresh (60 s).
    ///   - refresh: returns a new token to replace the expired one.
    public convenience init(
        _ token: String? = nil, rule: AuthFailureClassifier = .status(401), timeLimit: Duration = .seconds(60),
        refresh: @escaping @Sendable (String?) async throws -> String
    ) where Token == String {
        self.init(
            token, rule: rule, timeLimit: timeLimit, apply: { $0.credentials = .bearer($1) }, refresh: refresh)
    }

    /// The current credentials.
    public var token: Token? { state.withLock { $0.token } }

    /// Replaces the credentials, for example after a login. `nil` removes them.
    ///
    /// The result of a running refresh is then discarded. Calls that wait for the refresh continue with the new
    /// credentials. If they were removed, the calls fail with ``NetError/Code/authentication``.
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
                ?? .failure(NetError(.authentication, "the credentials were removed during their refresh")))
    }

    /// Returns the request with the current credentials. Returns `nil` if there are none, or if the request bypasses
    /// the refresh.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? {
        guard !bypasses(request), let token else { return nil }
        return adding(token, to: request)
    }

    private func bypasses(_ request: Request<Bytes>) -> Bool {
        request.credentials == .none || request.bypassesCredentialRefresh
            || RunningRefreshes.identifiers.contains(ObjectIdentifier(self))
    }

    /// Sends the call with the current credentials. If they have expired, sends it again with new credentials.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        if bypasses(call.request) {
            return try await next(call)
        }
        let (known, round) = try await current(within: call.budget)
        var history = RedirectHistory()
        let checkedResponse = try await checked(try await next(adding(known, to: call)), call)
        guard checkedResponse.isExpired else { return checkedResponse.response }
        var retryCall = call
        let lastRequest = call.request.lastHop(along: checkedResponse.response.metrics)
        // After a redirect to another origin, no credentials are sent, so new ones would not change the response.
        guard isSameOrigin(lastRequest, call, checkedResponse.response) else { return checkedResponse.response }
        if lastRequest.method != call.request.method {
            // A server has acted on the request and redirected to the result. Only the result is requested again.
            retryCall.request = lastRequest
            history.add(redirectsOf: checkedResponse.response)
        }
        let renewal = renewal(after: round)
        // The call cannot be sent again, but later calls use the new credentials.
        guard retryCall.isRepeatable else { return checkedResponse.response }
        checkedResponse.response.discard()
        let fresh = try await call.budget.value(of: renewal, Self.waiting)
        history.beginTransfer()
        do throws(NetError) {
            return history.prepending(
                to: try await checked(try await next(adding(fresh, to: retryCall)), retryCall).response)
        } catch {
            throw history.prepending(to: error)
        }
    }

    private func isSameOrigin(_ lastRequest: Request<Bytes>, _ call: Call, _ response: ChainResponse) -> Bool {
        call.request.url.secured(as: response.metrics.first?.url).hasSameOrigin(as: lastRequest.url)
    }

    private func adding(_ token: Token?, to call: Call) -> Call {
        guard let token else { return call }
        var call = call
        call.request = adding(token, to: call.request)
        return call
    }

    private func adding(_ token: Token, to request: Request<Bytes>) -> Request<Bytes> {
        var applied = request
        apply(&applied, token)
        return applied.markingIdentity(comparedTo: request)
    }

    private func checked(_ response: ChainResponse, _ call: Call) async throws(NetError) -> (
        isExpired: Bool, response: ChainResponse
    ) {
        let (classification, response) = try await rule.classified(response)
        guard case .refused(let reason) = classification else { return (classification == .expired, response) }
        call.watch?.report(.credentialsRefused(reason), of: call.request)
        throw NetError(.authentication, "the service rejected the credentials: \(reason)", response: response.response)
    }

    // MARK: The shared refresh

    /// Returns the current credentials and the number of the refreshes so far. Waits for a running refresh first.
    private func current(within budget: TimeBudget) async throws(NetError) -> (Token?, Int) {
        let (running, token, round) = state.withLock { ($0.running, $0.token, $0.round) }
        guard let running else { return (token, round) }
        return (try await budget.value(of: running, Self.waiting), round + 1)
    }

    /// Returns a promise of credentials that are newer than those of `round`. If no refresh is running and none has
    /// ended since, starts one.
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

    /// Starts the refresh in a separate task. If the call that needs it is cancelled, other calls still need the
    /// result.
    private func begin(_ promise: Promise<Token>, from old: Token?) {
        let identifiers = RunningRefreshes.identifiers.union([ObjectIdentifier(self)])
        Task {
            let outcome = await RunningRefreshes.$identifiers.withValue(identifiers) {
                await self.refreshedInTime(from: old)
            }
            state.withLock { state in
                // If this fails, replace(_:) has set other credentials in the meantime.
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

    /// Returns the new credentials. After the time limit it returns a failure, even if the closure ignores that its
    /// task is cancelled.
    private func refreshedInTime(from old: Token?) async -> Result<Token, NetError> {
        do throws(NetError) {
            return try await TimeBudget(timeLimit, timer: timer).race(Self.waiting) { _ in
                await self.refreshed(from: old)
            }
        } catch {
            return .failure(NetError(.authentication, "\(Self.waiting) exceeded its time limit of \(timeLimit)"))
        }
    }

    private static var waiting: String {
        "the credential refresh (a request that it sends from another task never ends unless it sets"
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

/// The refreshes in progress on whose behalf the current task runs.
enum RunningRefreshes {
    @TaskLocal static var identifiers: Set<ObjectIdentifier> = []
}

extension Request {
    /// Whether ``CredentialRefresh`` does not change the request and does not make it wait. Set it on requests that a
    /// refresh sends from a detached task.
    public var bypassesCredentialRefresh: Bool {
        get { callSettings?.value.bypassesRefresh ?? false }
        set { settings.bypassesRefresh = newValue }
    }
}
