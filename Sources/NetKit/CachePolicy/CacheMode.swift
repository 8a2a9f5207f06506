/// In which order the cache and the network are asked.
public enum CacheMode: Sendable, Hashable {
    /// What is stored, where the rules let it be used; else the network.
    case cacheElseNetwork
    /// The network; what is stored, whatever its age, when the network fails. A server's error is an answer.
    case networkElseCache
    /// What is stored and may be used, and then what the network says: see ``Agent/answers(to:)``. A call that takes one
    /// answer gets the network's.
    case cacheThenNetwork
    /// What is stored; else the call fails with ``NetError/Code/notCached``. Nothing is sent.
    case cacheOnly
    /// What is stored, up to so long after its time is over, while a new answer is fetched in the background
    /// (RFC 5861, 3).
    case staleWhileRevalidate(Duration)
    /// The network when the time is over; what is stored, up to so long after, when the network fails or the server
    /// answers with 500, 502, 503 or 504 (RFC 5861, 4).
    case staleIfError(Duration)
    /// The last known answer at once, whatever its age; the network's answer takes its place for the next time, and is
    /// delivered only when there was none (CTNetworking's native load).
    case nativeLoad
}
