internal import CNetCore

/// Limits the number of retries in proportion to the number of calls, so that clients do not multiply the load of a
/// failing server.
///
/// Every call adds a fraction of a retry to the budget, and every retry takes one. If less than one is left, a failed
/// request is not sent again. Share one budget among all requests to a server. Thread-safe.
@safe public final class RetryBudget: Sendable {
    // SAFETY: include/netcore/retry.h: a budget is thread-safe and must be freed after all calls have ended. deinit runs
    // after the last call. It is `nil` if memory is exhausted, and then there are no retries.
    private nonisolated(unsafe) let raw: OpaquePointer?

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - perCall: the retries that each call adds, from 0 to 1000. For example, 0.2 is one retry for five calls.
    ///   - reserve: the retries at the beginning, which are also the largest number, from 0 to `UInt32.max`.
    public init(perCall: Double = 0.2, reserve: Int = 10) {
        var created: OpaquePointer?
        _ = unsafe nc_retry_budget_new(&created, min(1000, max(0, perCall)), UInt32(clamping: reserve))
        unsafe raw = created
    }

    deinit {
        unsafe nc_retry_budget_free(raw)
    }

    /// The number of whole retries that are left.
    package var remaining: Int { unsafe raw.map { unsafe Int(nc_retry_budget_remaining($0)) } ?? 0 }

    func add() {
        if let raw = unsafe raw {
            unsafe nc_retry_budget_add(raw)
        }
    }

    /// Takes one retry. Returns false if there is none.
    func take() -> Bool { unsafe raw.map { unsafe nc_retry_budget_take($0) } ?? false }
}

/// The C core's rules for sending a request again after a temporary failure (`netcore/retry.h`). The settings are those
/// of ``Retry``, in whole milliseconds.
struct RetryRules: Sendable {
    var maxRetries = 3
    var baseDelay: Duration
    var maxDelay: Duration
    var maxServerDelay: Duration
    var maxElapsed: Duration?
    var retriesAnyMethod = false
    var retriesAnyError = false
    var hasJitter = true

    /// One attempt and its result.
    struct Attempt: Sendable {
        var method: Method
        var hasIdempotencyKey: Bool
        /// Whether the body can be read again.
        var isRepeatable = true
        var result: Result<Answer, NetError>
        /// Retries before this attempt.
        var retries = 0
        /// The time since the start of the first attempt.
        var elapsed = Duration.zero
        /// The time that is left for all attempts and delays; `nil` without a limit.
        var left: Duration?
        /// The current time, for a Retry-After date in a response without Date.
        var epochSeconds = 0.0
    }

    /// A response with a status after which the request may be sent again.
    struct Answer: Sendable {
        var status: Int
        var headers: Headers
    }

    /// Returns the delay before the next attempt, or `nil` if no further attempt is allowed.
    ///
    /// - Parameter random: returns a random number from 0 to 1. It is called only if the delay has a jitter.
    func delay(after attempt: Attempt, random: () -> Double = { 1 }) -> Duration? {
        let first = decision(on: attempt, random: 0)
        let isRandom = first.reason == .NC_RETRY_BACKOFF && hasJitter
        let final = isRandom ? decision(on: attempt, random: random()) : first
        return final.is_retry ? .milliseconds(Int64(clamping: final.delay_ms)) : nil
    }

    private func decision(on attempt: Attempt, random: Double) -> nc_retry_decision {
        var policy = nc_retry_policy()
        policy.max_retries = UInt32(clamping: maxRetries)
        policy.base_delay_ms = UInt32(clamping: baseDelay.roundedMilliseconds)
        policy.max_delay_ms = UInt32(clamping: maxDelay.roundedMilliseconds)
        policy.max_server_delay_ms = UInt32(clamping: maxServerDelay.wholeMilliseconds)
        policy.retries_any_method = retriesAnyMethod
        policy.retries_any_error = retriesAnyError
        policy.has_no_jitter = !hasJitter
        var headers: Headers = [:]
        if case .success(let answer) = attempt.result {
            headers = answer.headers
            policy.statuses.0 = UInt16(clamping: answer.status)
        }
        var elapsed = UInt64(clamping: attempt.elapsed.wholeMilliseconds)
        if let maxElapsed {
            // In the core, 0 stands for no limit.
            policy.max_elapsed_ms = UInt64(clamping: Swift.max(1, maxElapsed.roundedMilliseconds))
            elapsed = maxElapsed > .zero ? elapsed : .max
        }
        return unsafe attempt.method.rawValue.withSlice { method in
            unsafe headers.withCoreFields { fields in
                var value = unsafe nc_retry_attempt(attempt, method: method)
                unsafe value.headers = UnsafePointer(fields.baseAddress)
                unsafe value.header_count = fields.count
                unsafe value.elapsed_ms = elapsed
                unsafe value.random = random
                return unsafe nc_retry_decide(&policy, &value)
            }
        }
    }
}

extension nc_retry_attempt {
    /// Everything except the fields of the response, the elapsed time and the random number.
    fileprivate init(_ attempt: RetryRules.Attempt, method: nc_slice) {
        unsafe self.init()
        unsafe self.method = method
        unsafe has_idempotency_key = attempt.hasIdempotencyKey
        unsafe is_repeatable = attempt.isRepeatable
        unsafe retries = UInt32(clamping: attempt.retries)
        unsafe left_ms = attempt.left.map { UInt64(clamping: $0.roundedMilliseconds) } ?? .max
        unsafe now_ms = Int64(wallTime: attempt.epochSeconds)
        switch attempt.result {
        case .success(let answer): unsafe http_status = UInt16(clamping: answer.status)
        case .failure(let error):
            unsafe status = nc_status(rawValue: UInt32(bitPattern: error.code.rawValue)) ?? .NC_ERR_INTERNAL
            // A response that came from no server has the status 0, but the request may have been sent.
            unsafe http_status = error.response.map { UInt16(clamping: Swift.max(1, $0.status)) } ?? 0
            unsafe hop_count = error.metrics.count
            unsafe is_reused = error.metrics.last?.isReused ?? false
            unsafe has_first_byte = error.metrics.last?.firstByte != nil
        }
    }
}

extension NetError {
    /// Whether nothing of the request reached a server. Then the core sends even POST again.
    package var neverReachedTheServer: Bool {
        let attempt = RetryRules.Attempt(method: .post, hasIdempotencyKey: false, result: .failure(self))
        return unsafe attempt.method.rawValue.withSlice { method in
            var policy = nc_retry_policy()
            policy.max_retries = 1
            var value = unsafe nc_retry_attempt(attempt, method: method)
            // POST is also sent again after the loss of a reused connection.
            unsafe value.is_reused = false
            return unsafe nc_retry_decide(&policy, &value).is_retry
        }
    }
}

/// The Retry-After field (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// Returns the time to wait, which the field contains in seconds or as a date. Returns `nil` for other text and for
    /// a date in the past.
    ///
    /// A date is compared with the response's Date field, because both come from the server's clock.
    /// - Parameter epochSeconds: the current time, for a response without a Date.
    package static func wait(_ headers: Headers, epochSeconds: Double) -> Duration? {
        unsafe headers.withCoreFields { fields in
            var delay: UInt64 = 0
            let now = Int64(wallTime: epochSeconds)
            guard unsafe nc_retry_after(&delay, fields.baseAddress, fields.count, now) else { return nil }
            return .milliseconds(Int64(clamping: delay))
        }
    }
}

extension Int64 {
    /// Milliseconds since 1970. For an unknown time, a moment before every date.
    fileprivate init(wallTime epochSeconds: Double) {
        self.init(moment: epochSeconds.isNaN ? -.infinity : epochSeconds * 1000)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up and limited to the range of Int64.
    fileprivate var roundedMilliseconds: Int64 {
        let whole = wholeMilliseconds
        return whole == .max || .milliseconds(whole) == self ? whole : whole + 1
    }
}

extension Int64 {
    /// Creates a point in time, a duration or a count, rounded down. The value is limited to the range from -2^62 to
    /// 2^62, so that the core can add to it without overflow. NaN becomes 2^62.
    init(moment value: Double) {
        // With the arguments in this order, NaN becomes 2^62.
        self = Int64(Swift.max(-0x1p62, Swift.min(0x1p62, value.rounded(.down))))
    }
}
