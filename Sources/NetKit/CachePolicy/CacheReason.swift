/// The reason of a cache's decision.
///
/// The first seven are YTKNetwork's, in the order in which they are checked; ``ytkCode`` is their number there.
public enum CacheReason: String, Sendable, Hashable, CaseIterable {
    // MARK: YTKNetwork's seven

    /// The policy's maximum age is negative: nothing is read.
    case invalidTime
    /// The metadata of the stored body cannot be read.
    case invalidMetadata
    /// The entry is older than the policy's maximum age, or comes from the clock's future.
    case expired
    /// The entry was stored with another version.
    case versionMismatch
    /// The entry was stored with other sensitive data, or one of entry and policy has none.
    case sensitiveDataMismatch
    /// The entry was stored by another version of the app.
    case appVersionMismatch
    /// The stored body does not satisfy the request's expectation.
    case invalidData

    // MARK: Reasons to use the response

    /// The entry is fresh.
    case fresh
    /// The entry is stale, and is used while a new response is fetched in the background.
    case staleWhileRevalidate
    /// The entry is stale, and the network failed.
    case staleIfError
    /// The entry is stale, and the request allows that (`max-stale`; RFC 9111, 5.2.1.2).
    case staleAllowed
    /// It is the last known response, at any age.
    case lastKnown

    // MARK: Reasons to use the network

    /// Nothing is stored.
    case absent
    /// The policy ignores stored responses.
    case ignored
    /// The network comes first.
    case networkFirst
    /// The entry is stale (RFC 9111, 4.2).
    case stale
    /// The response must be revalidated before each use (`no-cache`; RFC 9111, 5.2.2.4).
    case noCache
    /// The request requires a response from the server (`no-cache`, `max-age`, `min-fresh`, `Pragma`).
    case requestDirective
    /// The stored response was selected by other fields (`Vary`; RFC 9111, 4.1).
    case varies
    /// The stored response belongs to another user.
    case otherIdentity
    /// The request cannot be answered from a cache: its method, a range, a condition, or `no-store`.
    case uncacheable
}

extension CacheReason {
    /// The number of YTKNetwork's error; `nil` if it has none. ``absent`` and ``invalidMetadata`` are the same there.
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
