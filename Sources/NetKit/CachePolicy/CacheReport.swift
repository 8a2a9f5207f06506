/// The cache's decision about a request, and the source of its response.
public struct CacheReport: Sendable, Hashable {
    /// The source of a response.
    public enum Outcome: Sendable, Hashable {
        /// A fresh response from the cache.
        case hit
        /// A stale response from the cache.
        case staleHit
        /// A response from the cache that the server has revalidated (304).
        case revalidated
        /// A response from the network.
        case network
        /// There is no response, because no stored one was usable, and the request was not allowed to use the network.
        case none
    }

    /// The decision about the stored response, before anything was sent.
    public var decision: CacheDecision
    /// The source of the response.
    public var outcome: Outcome
    /// The age of the stored response; `nil` if there was none.
    public var age: Duration?
    /// The freshness lifetime of the stored response; `nil` if there was no stored response, or if it has no lifetime.
    public var lifetime: Duration?
    /// Whether the response from the network can be stored. Also false if writing to the store failed: the write of
    /// this response, if the call waits for it, or otherwise the last write before it.
    public var isStorable = false

    /// The reason for the decision.
    public var reason: CacheReason { decision.reason }

    /// Whether the response came from the cache.
    public var isHit: Bool { [.hit, .staleHit, .revalidated].contains(outcome) }
}

/// What a cache decides to do for a request, with the reason.
public enum CacheDecision: Sendable, Hashable {
    /// The stored response is used.
    case use(CacheReason)
    /// The server is asked whether the stored response is still valid.
    case revalidate(CacheReason)
    /// The request is sent, and the stored response is not used.
    case fetch(CacheReason)

    /// The reason for the decision.
    var reason: CacheReason {
        switch self {
        case .use(let reason), .revalidate(let reason), .fetch(let reason): reason
        }
    }

    /// Whether the stored response is used.
    package var isUse: Bool {
        if case .use = self { true } else { false }
    }
}

extension CacheDecision: CustomStringConvertible {
    /// A text such as "use (fresh)".
    public var description: String {
        switch self {
        case .use(let reason): "use (\(reason))"
        case .revalidate(let reason): "revalidate (\(reason))"
        case .fetch(let reason): "fetch (\(reason))"
        }
    }
}

/// The reason for a cache's decision.
///
/// The first seven reasons are those of YTKNetwork, in the order in which they are checked. `ytkCode` of
/// `NetKitCompat` is their number there.
public enum CacheReason: String, Sendable, Hashable, CaseIterable {
    // MARK: Reasons of YTKNetwork

    /// The policy's maximum age is negative, so nothing is read.
    case invalidTime
    /// The metadata of the stored body cannot be read.
    case invalidMetadata
    /// The entry is older than the policy's maximum age, or its time is in the future because the clock was set back.
    case expired
    /// The entry was stored with another ``CachePolicy/version``.
    case versionMismatch
    /// The entry was stored with other ``CachePolicy/sensitiveData``, or only one of entry and policy has any.
    case sensitiveDataMismatch
    /// The entry was stored by another version of the app.
    case appVersionMismatch
    /// The stored response does not meet the request's expectations, such as its JSON shape.
    case invalidData

    // MARK: Reasons to use the response

    /// The stored response is fresh.
    case fresh
    /// The stored response is stale, and is used while a new one is fetched in the background.
    case staleWhileRevalidate
    /// The stored response is used because the network or the server has failed.
    case staleIfError
    /// The stored response is stale, and the request allows that (`max-stale`; RFC 9111, 5.2.1.2).
    case staleAllowed
    /// The stored response is the last known one, and the mode uses it at any age.
    case lastKnown

    // MARK: Reasons to use the network

    /// Nothing is stored.
    case absent
    /// The policy ignores stored responses.
    case ignored
    /// The cache mode uses the network first.
    case networkFirst
    /// The stored response is stale (RFC 9111, 4.2).
    case stale
    /// The stored response must be revalidated before each use (`no-cache`; RFC 9111, 5.2.2.4).
    case noCache
    /// The request requires a response from the server (`no-cache`, `max-age`, `min-fresh`, `Pragma`).
    case requestDirective
    /// The stored response is for other values of the request fields in its `Vary` field (RFC 9111, 4.1).
    case varies
    /// The stored response belongs to another user.
    case otherIdentity
    /// A stored response cannot be used for the request because of its method, a range, a condition, or `no-store`.
    case uncacheable
}

/// The data that the cache attaches to a response while the interceptors return it to the caller.
final class CacheAnnotation: Sendable {
    /// The report for the caller and the observers.
    let report: CacheReport
    /// Stores the response. It is called after the response was checked and decoded, and returns false if storing
    /// fails. `nil` if the response is not to be stored.
    let store: (@Sendable () async -> Bool)?

    init(_ report: CacheReport, store: (@Sendable () async -> Bool)? = nil) {
        self.report = report
        self.store = store
    }
}
