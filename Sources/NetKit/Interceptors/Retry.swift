/// Sends a request again after a temporary failure, if sending it twice is safe.
///
///     configuration.interceptors = [Retry()]
///     configuration.interceptors = [Retry(maxRetries: 3) { error in error.code == .refused || error.status == 423 }]
///
/// A request is sent again after a temporary network error, an exceeded time limit, or one of ``statuses``. A
/// ``condition`` replaces this choice. In both cases, one of these must hold:
/// - its method is idempotent (RFC 9110, 9.2.2), or it has an `Idempotency-Key` field; or it is one of ``methods``
/// - nothing of it reached the server
/// - it was sent on a reused connection that the server closed before the first byte of a response
///
/// A body that can be read only once is never sent again.
///
/// The delay before an attempt is a random part of an interval that doubles each time, in whole milliseconds. If the
/// response has a `Retry-After` field, its time is the delay. The request's ``Limits`` apply to each attempt, but
/// ``Limits/total`` applies to all attempts and delays together. If a delay would exceed it, there is no further
/// attempt.
///
/// The response or the error of the last attempt is the outcome of the call.
public struct Retry: PromptInterceptor {
    /// The largest number of attempts after the first one (3).
    public var maxRetries: Int
    /// The upper limit of the first delay (200 ms). It doubles for each further delay.
    public var baseDelay: Duration
    /// The upper limit of every delay (20 s), except for delays from `Retry-After`.
    public var maxDelay: Duration
    /// The longest `Retry-After` to wait for (60 s). If the server sends a longer one, there is no further attempt.
    public var maxServerDelay: Duration = .seconds(60)
    /// The time after the start of the first attempt at which attempts stop. No attempt starts later, and no
    /// `Retry-After` beyond that time is waited for. If `nil`, there is no limit.
    public var maxElapsed: Duration?
    /// The statuses after which the request is sent again: 408, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int>
    /// The methods of the requests that are sent again, even if the server may have received them. A request with
    /// another method is sent once. If `nil`, the rules above apply.
    public var methods: Set<Method>?
    /// Reports whether to send the request again after an error. It replaces the rules for errors and ``statuses``, but
    /// not those for methods.
    ///
    /// It is called for each network error and exceeded limit, and for each response whose status is at least 400 or in
    /// ``statuses``. A response is passed as an error with ``NetError/status`` and ``NetError/response``. It is not
    /// called for local errors such as wrong usage, cancellation or a failed source of the body.
    public var condition: (@Sendable (NetError) -> Bool)?
    /// Whether delays are random parts of their intervals (full jitter), so that clients do not all retry at the same
    /// time. If false, the delay is the whole interval.
    public var hasJitter = true
    /// The budget of retries. If `nil`, there is no limit.
    public var budget: RetryBudget?
    /// Waits for a network path to the host after a failure without a response. Returns true if it has waited; the next
    /// attempt then starts immediately. Returns false if the usual delay applies. `Retry(reachability:)` of
    /// NetKitOffline sets it.
    public var waitForConnectivity: (@Sendable (Call) async throws(NetError) -> Bool)?
    /// The clock and the sleep function.
    public var time: TimeSource
    /// Whether requests with any method are sent again, even if the server may have received them.
    package var isForAnyMethod = false
    /// Returns a random number from 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    var isPrompt: Bool { waitForConnectivity == nil }

    /// Creates the settings. Each value has its own budget, unless one is passed.
    public init(
        maxRetries: Int = 3, baseDelay: Duration = .milliseconds(200), maxDelay: Duration = .seconds(20),
        statuses: Set<Int> = [408, 429, 500, 502, 503, 504], methods: Set<Method>? = nil,
        budget: RetryBudget? = RetryBudget(), time: TimeSource = .system,
        condition: (@Sendable (NetError) -> Bool)? = nil
    ) {
        self.maxRetries = maxRetries
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.statuses = statuses
        self.methods = methods
        self.budget = budget
        self.time = time
        self.condition = condition
    }

    /// Sends the request until an attempt needs no retry or no retry is allowed, and returns the last response. A
    /// ``RetryPolicy`` of the request or its service overrides these settings.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        guard let policy = call.request.retryPolicy else { return try await send(call, next) }
        guard let settings = policy.settings(over: self) else { return try await next(call) }
        return try await settings.send(call, next)
    }

    private func send(_ call: Call, _ next: Next) async throws(NetError) -> ChainResponse {
        budget?.add()
        var retries = 0
        let begin = time.now()
        while true {
            let outcome: Result<ChainResponse, NetError>
            do throws(NetError) {
                outcome = .success(try await next(call))
            } catch {
                outcome = .failure(error)
            }
            guard isCandidate(outcome, of: call.request) else { return try outcome.get() }
            let attempt = RetryRules.Attempt(
                method: call.request.method, hasIdempotencyKey: call.request.headers.hasAny(["Idempotency-Key"]),
                isRepeatable: call.isRepeatable, result: outcome.map { .init(status: $0.status, headers: $0.headers) },
                retries: retries,
                elapsed: time.now() - begin, left: call.budget.remaining, epochSeconds: time.epochSeconds())
            guard let wait = rules.delay(after: attempt, random: random), !Task.isCancelled, meetsCondition(outcome),
                budget?.take() ?? true
            else { return try outcome.get() }
            if case .success(let response) = outcome {
                response.discard()
            }
            retries += 1
            if outcome.isFailure, try await waitForConnectivity?(call) == true {
                continue
            }
            try await time.wait(wait, for: .retry, in: call)
        }
    }

    /// Whether the outcome may be a failure after which the settings allow another attempt.
    private func isCandidate(_ outcome: Result<ChainResponse, NetError>, of request: Request<Bytes>) -> Bool {
        if let methods, !methods.contains(request.method) { return false }
        guard case .success(let response) = outcome else { return true }
        return statuses.contains(response.status) || (condition != nil && response.status >= 400)
    }

    private func meetsCondition(_ outcome: Result<ChainResponse, NetError>) -> Bool {
        guard let condition else { return true }
        return switch outcome {
        case .success(let response): condition(NetError(unacceptable: response.response))
        case .failure(let error): condition(error)
        }
    }

    private var rules: RetryRules {
        RetryRules(
            maxRetries: maxRetries, baseDelay: baseDelay, maxDelay: maxDelay, maxServerDelay: maxServerDelay,
            maxElapsed: maxElapsed, retriesAnyMethod: methods != nil || isForAnyMethod,
            retriesAnyError: condition != nil, hasJitter: hasJitter)
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}

/// Whether and how a request is sent again after a temporary failure.
public enum RetryPolicy: Sendable {
    /// The policy of the service, or else the agent's ``Retry`` interceptor. Without one, the request is sent once.
    case inherited
    /// The request is sent once.
    case never
    /// The request is sent again at most this many times. The other settings are those of the agent's ``Retry``, or the
    /// defaults of ``Retry`` if the agent has none.
    case upTo(Int)
    /// The request is sent again as this ``Retry`` describes.
    case custom(Retry)

    /// Returns the settings of a call.
    ///
    /// - Parameter configured: the interceptor of the agent; `nil` if it has none.
    func settings(over configured: Retry?) -> Retry? {
        switch self {
        case .inherited: return configured
        case .never: return nil
        case .upTo(let count):
            var settings = configured ?? Retry()
            settings.maxRetries = count
            return settings
        case .custom(let settings): return settings
        }
    }
}

extension RetryPolicy: ExpressibleByIntegerLiteral {
    /// Creates ``upTo(_:)`` from a literal: `request.retries = 2`.
    public init(integerLiteral count: Int) {
        self = .upTo(count)
    }
}

private enum RetryPolicyOption: RequestOption {
    static let defaultValue = RetryPolicy.inherited
}

extension Request {
    /// Whether and how the request is sent again after a temporary failure.
    public var retries: RetryPolicy {
        get { hasOptions ? self[RetryPolicyOption.self] : .inherited }
        set { self[RetryPolicyOption.self] = newValue }
    }

    /// The policy of the request or its service; `nil` if neither has one.
    var retryPolicy: RetryPolicy? {
        guard hasOptions else { return nil }
        for policy in [retries, service?.configuration.retries ?? .inherited] {
            if case .inherited = policy { continue }
            return policy
        }
        return nil
    }
}
