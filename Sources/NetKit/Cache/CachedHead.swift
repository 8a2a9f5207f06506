/// The head of a stored response, for listing and inspecting a store.
public struct CachedHead: Sendable {
    /// The status code.
    public let status: Int
    /// The HTTP version.
    public let httpVersion: HTTPVersion
    /// The stored fields.
    public let headers: Headers
    /// The URL of the response, without credentials.
    public let url: String
    /// The time of arrival, in seconds since 1970.
    public let receivedEpochSeconds: Double
    /// The version in ``CachePolicy``.
    public let version: Int64
    /// The app version in ``CachePolicy``.
    public let appVersion: String
}

extension CacheEntry {
    /// The head of the stored response; `nil` for an entry that is no response.
    public var cachedHead: CachedHead? {
        guard case .answer(let answer)? = StoredMetadata(metadata) else { return nil }
        let head = answer.head
        return CachedHead(
            status: head.status, httpVersion: head.httpVersion, headers: answer.headers, url: head.url,
            receivedEpochSeconds: Double(head.received) / 1000, version: head.version, appVersion: head.appVersion)
    }
}
