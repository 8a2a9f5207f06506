/// What stands beside a stored body: for lists and looks into a store.
public struct CachedHead: Sendable {
    /// The status code.
    public let status: Int
    /// The protocol it came in.
    public let httpVersion: HTTPVersion
    /// The fields that are kept.
    public let headers: Headers
    /// The URL that answered, without credentials.
    public let url: String
    /// When it was received: seconds since 1970.
    public let receivedEpochSeconds: Double
    /// Of ``CachePolicy``.
    public let version: Int64
    /// Of ``CachePolicy``.
    public let appVersion: String
}

extension CacheEntry {
    /// What is kept of an answer; nil for an entry that is none.
    public var cachedHead: CachedHead? {
        guard case .answer(let answer)? = StoredMetadata(metadata) else { return nil }
        let head = answer.head
        return CachedHead(
            status: head.status, httpVersion: head.httpVersion, headers: answer.headers, url: head.url,
            receivedEpochSeconds: Double(head.received) / 1000, version: head.version, appVersion: head.appVersion)
    }
}
