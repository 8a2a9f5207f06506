/// The facts about a stored response that an app's policy evaluates.
struct CacheFacts: Sendable, Hashable {
    /// When it was received, in milliseconds since 1970.
    var received: Int64
    /// The version of the policy it was stored under.
    var version: Int64 = 0
    /// The version of the app that stored it.
    var appVersion = ""
    /// Whether it was stored with the requested sensitive data; true if neither has any.
    var hasSameSensitiveData = true
    /// Whether the body satisfies the request's expectation.
    var hasValidData = true
    /// Whether it can be revalidated.
    var hasValidator = false
}

/// The result of looking up a key.
enum CacheFinding: Sendable, Hashable {
    /// No entry.
    case nothing
    /// An entry whose metadata cannot be read.
    case unreadable
    /// A response.
    case answer(CacheFacts)
}

/// The criteria of an app's policy for an entry.
struct CacheCriteria: Sendable, Hashable {
    /// Milliseconds; negative means that nothing is read.
    var maximumAge: Int64
    var version: Int64 = 0
    var appVersion = ""
    /// Whether an expired response is revalidated.
    var revalidates = true
}

extension CacheDecision {
    /// Decides about an entry under an app's policy, at a moment in milliseconds since 1970.
    ///
    /// The reasons are checked in YTKNetwork's order: invalid time, invalid metadata, expired, version, sensitive data,
    /// app version, invalid data. An entry from the clock's future is expired: a clock that was set back makes entries
    /// old, never young.
    init(now: Int64, policy: CacheCriteria, entry: CacheFinding) {
        if policy.maximumAge < 0 {
            self = .fetch(.invalidTime)
            return
        }
        guard case .answer(let facts) = entry else {
            self = .fetch(entry == .nothing ? .absent : .invalidMetadata)
            return
        }
        let (age, overflow) = now.subtractingReportingOverflow(facts.received)
        let isExpired = overflow || age < 0 || age > policy.maximumAge
        let other = Self.mismatch(policy, facts)
        if isExpired {
            // A response of another version, app or user is not worth revalidating.
            self = policy.revalidates && facts.hasValidator && other == nil ? .revalidate(.expired) : .fetch(.expired)
        } else if let other {
            self = .fetch(other)
        } else {
            self = .use(.fresh)
        }
    }

    /// Returns why a response is unusable at any age, or `nil` if it is usable.
    static func mismatch(_ policy: CacheCriteria, _ facts: CacheFacts) -> CacheReason? {
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
