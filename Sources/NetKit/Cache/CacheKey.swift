/// What a request is: the same for requests that are the same, and for no others.
///
///     let key = try agent.cacheKey(for: request, headers: ["Accept-Language"], scope: user.id)
///
/// Keys are equal when their descriptions are; ``name`` only names an entry, because texts with one MD5 can be made.
/// The order of an object's names, of a set's values and of fields with different names means nothing; neither does the
/// case of field names, the spelling of the host, a default port or a fragment. Everything else counts: 1, "1" and true
/// differ, numbers are the digits that are sent.
public struct CacheKey: Sendable, Hashable {
    /// The canonical description: what identity is judged on.
    public let description: [UInt8]

    init(description: [UInt8]) {
        self.description = description
    }
}
