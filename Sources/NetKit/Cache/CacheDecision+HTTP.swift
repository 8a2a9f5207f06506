extension CacheDecision {
    /// Decides about a stored response by the directives of server and request (RFC 9111, 4), at a moment in
    /// milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - request: the directives of the request.
    ///   - pragma: whether its only caching directive is `Pragma: no-cache`.
    ///   - staleFor: milliseconds for which a stale response may be used while it is revalidated, in addition to its
    ///     own directive.
    init(
        now: Int64, request: CacheControl, pragma: Bool = false, entry: HTTPFreshness, hasValidator: Bool,
        staleFor: Int64? = nil
    ) {
        func ask(_ reason: CacheReason) -> CacheDecision { hasValidator ? .revalidate(reason) : .fetch(reason) }
        guard let age = entry.age(at: now) else {
            self = ask(.stale)
            return
        }
        if entry.flags.contains(.noCache) {
            self = ask(.noCache)
        } else if request.hasNoCache || pragma || Self.isTooOld(age, request, entry) {
            self = ask(.requestDirective)
        } else {
            self = Self.byLifetime(age, request, entry, staleFor) ?? ask(.stale)
        }
    }

    /// Returns true if it is older than the request allows, or has less time left than the request requires.
    private static func isTooOld(_ age: Int64, _ request: CacheControl, _ entry: HTTPFreshness) -> Bool {
        let lifetime = entry.lifetime ?? 0
        if let maxAge = request.maxAge, age > maxAge * 1000 || maxAge == 0 {
            // A reload need not revalidate an immutable response (RFC 8246, 2).
            let isLasting = maxAge == 0 && entry.flags.contains(.immutable) && lifetime > age
            if !isLasting {
                return true
            }
        }
        if let minFresh = request.minFresh, lifetime - age < minFresh * 1000 {
            return true
        }
        return false
    }

    private static func byLifetime(
        _ age: Int64, _ request: CacheControl, _ entry: HTTPFreshness, _ staleFor: Int64?
    ) -> CacheDecision? {
        let late = age - (entry.lifetime ?? 0)
        if late < 0 {
            return .use(.fresh)
        }
        if entry.flags.contains(.mustRevalidate) {
            return nil
        }
        if let maxStale = request.maxStale, maxStale == .max || late <= maxStale * 1000 {
            return .use(.staleAllowed)
        }
        if let window = [entry.staleWhileRevalidate, staleFor].compactMap({ $0 }).max(), late < window {
            return .use(.staleWhileRevalidate)
        }
        return nil
    }

    /// Returns true if a stored response may replace one that the network or the server failed to deliver (RFC 5861,
    /// 4).
    ///
    /// - Parameter staleFor: milliseconds for which it may, in addition to its own directive.
    static func mayStandIn(
        now: Int64, request: CacheControl, entry: HTTPFreshness, staleFor: Int64?
    ) -> Bool {
        guard let age = entry.age(at: now), entry.flags.isDisjoint(with: [.noCache, .mustRevalidate]) else {
            return false
        }
        let windows = [entry.staleIfError, request.staleIfError.map { $0 * 1000 }, staleFor].compactMap { $0 }
        guard let window = windows.max() else { return false }
        let (late, overflow) = age.subtractingReportingOverflow(entry.lifetime ?? 0)
        return !overflow && late < window
    }
}
