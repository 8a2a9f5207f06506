/// The order of cache and network.
public enum CacheMode: Sendable, Hashable {
    /// Uses the stored response if the rules allow it, otherwise the network.
    case cacheElseNetwork
    /// Uses the network. If that fails, uses the stored response at any age. A server's error status is a response.
    case networkElseCache
    /// Returns the stored response, if usable, and then the network's: see ``Agent/answers(to:)``. A call for a single
    /// response gets the network's.
    case cacheThenNetwork
    /// Uses the stored response, otherwise fails with ``NetError/Code/notCached``. Sends nothing.
    case cacheOnly
    /// Uses the stored response, also within this time after it became stale. Meanwhile fetches a new one in the
    /// background (RFC 5861, 3).
    case staleWhileRevalidate(Duration)
    /// Uses the network for a stale response. Uses the stored response, within this time after it became stale, if the
    /// network fails or the server responds with 500, 502, 503 or 504 (RFC 5861, 4).
    case staleIfError(Duration)
    /// Returns the last known response immediately, at any age. The network's response replaces it for the next call,
    /// and is delivered only if there was none (CTNetworking's native load).
    case nativeLoad
}
