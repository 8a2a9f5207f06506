/// Why a cache decided as it did.
///
/// The first seven are YTKNetwork's, in the order in which they are looked for; ``ytkCode`` is their number there.
public enum CacheReason: String, Sendable, Hashable, CaseIterable {
    // MARK: YTKNetwork's seven

    /// The policy's maximum age is negative: nothing is read.
    case invalidTime
    /// What stands beside the stored body cannot be read.
    case invalidMetadata
    /// The entry is older than the policy's maximum age, or comes from the clock's future.
    case expired
    /// The entry was stored under another version.
    case versionMismatch
    /// The entry was stored with other sensitive data, or with none, or the policy names none.
    case sensitiveDataMismatch
    /// The entry was stored by another version of the app.
    case appVersionMismatch
    /// The stored body is not what the request expects.
    case invalidData

    // MARK: Why it is used

    /// The entry is within its time.
    case fresh
    /// The entry's time is over, and it is used while a new answer is fetched in the background.
    case staleWhileRevalidate
    /// The entry's time is over, and the network failed.
    case staleIfError
    /// The entry's time is over, and the request takes it so (`max-stale`; RFC 9111, 5.2.1.2).
    case staleAllowed
    /// It is the last known answer, whatever its age.
    case lastKnown

    // MARK: Why the network is asked

    /// Nothing is stored.
    case absent
    /// The policy does not look.
    case ignored
    /// The network comes first.
    case networkFirst
    /// The entry's time is over (RFC 9111, 4.2).
    case stale
    /// The response may not be used without asking (`no-cache`; RFC 9111, 5.2.2.4).
    case noCache
    /// The request wants an answer from its server (`no-cache`, `max-age`, `min-fresh`, `Pragma`).
    case requestDirective
    /// What is stored was chosen for other fields (`Vary`; RFC 9111, 4.1).
    case varies
    /// What is stored belongs to somebody else.
    case otherIdentity
    /// The request is not one that caches answer: its method, a range, a condition, or `no-store`.
    case uncacheable
}

extension CacheReason {
    /// The number of YTKNetwork's error for it; nil where it has none. ``absent`` is one with ``invalidMetadata`` there.
    public var ytkCode: Int? {
        switch self {
        case .invalidTime: -5
        case .invalidMetadata, .absent: -6
        case .expired: -1
        case .versionMismatch: -2
        case .sensitiveDataMismatch: -3
        case .appVersionMismatch: -4
        case .invalidData: -7
        default: nil
        }
    }
}
