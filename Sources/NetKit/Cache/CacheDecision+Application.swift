/// The facts about a stored response that a ``CachePolicy`` evaluates.
struct StoredResponseFacts: Sendable, Hashable {
    /// The time at which the response was received, in milliseconds since 1970.
    var received: Int64
    /// The ``CachePolicy/version`` with which the response was stored.
    var version: Int64 = 0
    /// The version of the app that stored the response.
    var appVersion = ""
    /// Whether the response was stored with the policy's sensitive data. Also true if neither has any.
    var hasSameSensitiveData = true
    /// Whether the response meets the request's expectations.
    var hasValidData = true
    /// Whether the response has a validator, so that it can be revalidated.
    var hasValidator = false
}

/// What a store contains under a key.
enum CacheLookupResult: Sendable, Hashable {
    /// There is no entry.
    case nothing
    /// The entry's metadata cannot be read.
    case unreadable
    /// The entry is a response with these facts.
    case storedResponse(StoredResponseFacts)
}

/// The criteria of a ``CachePolicy`` for stored responses.
struct CacheCriteria: Sendable, Hashable {
    /// The largest age in milliseconds. If it is negative, nothing is read.
    var maximumAge: Int64
    var version: Int64 = 0
    var appVersion = ""
    /// Whether an expired response is revalidated.
    var revalidates = true
}

extension CacheDecision {
    /// Decides about an entry by the app's policy.
    ///
    /// The reasons are checked in YTKNetwork's order: invalid time, invalid metadata, expired, version, sensitive data,
    /// app version, invalid data. An entry whose time is in the future, because the clock was set back, counts as
    /// expired.
    /// - Parameter now: the current time in milliseconds since 1970.
    init(now: Int64, policy: CacheCriteria, entry: CacheLookupResult) {
        if policy.maximumAge < 0 {
            self = .fetch(.invalidTime)
            return
        }
        guard case .storedResponse(let facts) = entry else {
            self = .fetch(entry == .nothing ? .absent : .invalidMetadata)
            return
        }
        let (age, overflow) = now.subtractingReportingOverflow(facts.received)
        let isExpired = overflow || age < 0 || age > policy.maximumAge
        let other = Self.mismatch(policy, facts)
        if isExpired {
            // A response of another version, app or user would not be used even if it were still valid.
            self = policy.revalidates && facts.hasValidator && other == nil ? .revalidate(.expired) : .fetch(.expired)
        } else if let other {
            self = .fetch(other)
        } else {
            self = .use(.fresh)
        }
    }

    /// Returns the reason why a response is unusable, apart from its age. Returns `nil` if there is none.
    static func mismatch(_ policy: CacheCriteria, _ facts: StoredResponseFacts) -> CacheReason? {
        if facts.version != policy.version {
            return .versionMismatch
        }
        if !facts.hasSameSensitiveData {
            return .sensitiveDataMismatch
        }
        if facts.appVersion != policy.appVersion {
            return .appVersionMismatch
        }
        return facts.hasValidData ? nil : .invalidData
    }
}
