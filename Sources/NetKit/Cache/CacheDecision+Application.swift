/// What is known of a stored answer, as far as an app's policy asks.
struct CacheFacts: Sendable, Hashable {
    /// When it was received, in milliseconds since 1970.
    var received: Int64
    /// Of the policy it was stored under.
    var version: Int64 = 0
    /// Of the app that stored it.
    var appVersion = ""
    /// Whether it was stored with the sensitive data that are asked for; true where neither has any.
    var hasSameSensitiveData = true
    /// Whether the body is what the request expects.
    var hasValidData = true
    /// Whether the server can be asked if it still holds.
    var hasValidator = false
}

/// What was found under a key.
enum CacheFinding: Sendable, Hashable {
    /// Nothing.
    case nothing
    /// An entry whose metadata cannot be read.
    case unreadable
    /// An answer.
    case answer(CacheFacts)
}

/// What an app's policy asks of an entry.
struct CacheCriteria: Sendable, Hashable {
    /// Milliseconds; negative means that nothing is read.
    var maximumAge: Int64
    var version: Int64 = 0
    var appVersion = ""
    /// Whether what is too old is asked about.
    var revalidates = true
}

extension CacheDecision {
    /// Decides about an entry under an app's policy, at a moment in milliseconds since 1970.
    ///
    /// The reasons are looked for in YTKNetwork's order: invalid time, invalid metadata, expired, version, sensitive
    /// data, app version, invalid data. An entry from the clock's future is expired: a clock that has gone back makes
    /// entries old, never young.
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
            // An answer of another version, app or user is not worth asking about.
            self = policy.revalidates && facts.hasValidator && other == nil ? .revalidate(.expired) : .fetch(.expired)
        } else if let other {
            self = .fetch(other)
        } else {
            self = .use(.fresh)
        }
    }

    /// What makes an answer of no use, whatever its age; nil when it is the right one.
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
