/// The freshness of a stored response by the server's directives (RFC 9111, 4.2), computed once, when it is stored.
///
/// Times are milliseconds; moments are counted since 1970.
struct HTTPFreshness: Sendable, Equatable {
    /// Further conditions of using the response.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        /// Must be revalidated before each use.
        static let noCache = Self(rawValue: 1)
        /// Must not be used when it is stale.
        static let mustRevalidate = Self(rawValue: 2)
        /// Does not change while it is fresh (RFC 8246).
        static let immutable = Self(rawValue: 4)
        /// Has a heuristic lifetime.
        static let heuristic = Self(rawValue: 8)
    }

    /// Its freshness lifetime; `nil` if not defined.
    var lifetime: Int64?
    /// Its age when it was received.
    var initialAge: Int64 = 0
    /// When it was received.
    var received: Int64 = 0
    /// How long it may be used while it is revalidated; `nil` if not defined.
    var staleWhileRevalidate: Int64?
    /// How long it may be used after a server failure; `nil` if not defined.
    var staleIfError: Int64?
    var flags: Flags = []

    init() {}

    /// - Parameters:
    ///   - asked: when the request was sent.
    ///   - received: when the response arrived.
    init(_ status: Int, _ headers: Headers, asked: Int64, received: Int64, policy: HTTPCachePolicy) {
        let control = CacheControl(headers)
        let date = headers["Date"].flatMap { HTTPDate.epochSeconds(ofAnyCase: $0) }.map { $0 * 1000 }
        self.received = received
        initialAge = Self.initialAge(headers, date: date, asked: asked, received: received)
        if let maxAge = control.maxAge {
            lifetime = maxAge * 1000
        } else if let expires = headers["Expires"] {
            let end = HTTPDate.epochSeconds(ofAnyCase: expires).map { $0 * 1000 }
            lifetime = end.map { max(0, $0 - (date ?? received)) } ?? 0
        } else if let guess = Self.guess(status, headers, control, date: date ?? received, policy: policy) {
            lifetime = guess
            flags.insert(.heuristic)
        }
        staleWhileRevalidate = control.staleWhileRevalidate.map { $0 * 1000 }
        staleIfError = control.staleIfError.map { $0 * 1000 }
        if control.hasNoCache {
            flags.insert(.noCache)
        }
        if control.hasMustRevalidate {
            flags.insert(.mustRevalidate)
        }
        if control.isImmutable {
            flags.insert(.immutable)
        }
    }

    /// RFC 9111, 4.2.3: the larger of the apparent age by Date, and Age plus the response delay.
    private static func initialAge(_ headers: Headers, date: Int64?, asked: Int64, received: Int64) -> Int64 {
        let apparent = date.map { max(0, received - $0) } ?? 0
        // The first of several ages applies (RFC 9111, 5.1).
        let told = headers["Age"].flatMap { $0.split(separator: ",").first }
        let age = told.flatMap { DeltaSeconds.read(String($0).trimmingBlanks) } ?? 0
        let delay = max(0, received - asked)
        // Date has whole seconds: a response of the current second has age 0.
        return max(apparent < 1000 ? 0 : apparent, age * 1000 + delay)
    }

    /// The heuristic freshness (RFC 9111, 4.2.2).
    private static func guess(
        _ status: Int, _ headers: Headers, _ control: CacheControl, date: Int64, policy: HTTPCachePolicy
    ) -> Int64? {
        guard policy.heuristicFraction > 0, HTTPStorage.isHeuristicallyCacheable(status) || control.isPublic,
            let modified = headers["Last-Modified"].flatMap({ HTTPDate.epochSeconds(ofAnyCase: $0) })
        else { return nil }
        let since = Double(max(0, date - modified * 1000))
        let limit = Double(policy.heuristicLimit.wholeMilliseconds)
        return Int64(min(since * min(1, policy.heuristicFraction), max(0, limit)))
    }

    /// Returns its current age, or `nil` if the clock was set back to before its arrival.
    func age(at now: Int64) -> Int64? {
        let (resident, overflow) = now.subtractingReportingOverflow(received)
        guard !overflow, resident >= 0 else { return nil }
        let (age, isTooLarge) = initialAge.addingReportingOverflow(resident)
        return isTooLarge ? .max : age
    }
}

extension Duration {
    /// Whole milliseconds, rounded down and limited to the range of Int64.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow {
            return seconds < 0 ? .min : .max
        }
        let fraction = attoseconds / 1_000_000_000_000_000
        let (sum, isTooLarge) = milliseconds.addingReportingOverflow(fraction)
        let rounded = attoseconds < 0 && attoseconds % 1_000_000_000_000_000 != 0 ? sum - 1 : sum
        return isTooLarge ? (seconds < 0 ? .min : .max) : rounded
    }
}
