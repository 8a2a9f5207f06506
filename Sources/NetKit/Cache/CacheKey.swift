/// The identity of a request: equal for equal requests and different for all others.
///
///     let key = try agent.cacheKey(for: request, headers: ["Accept-Language"], scope: user.id)
///
/// Keys are equal if their descriptions are. ``name`` only names an entry, because texts with the same MD5 can be
/// constructed.
///
/// Ignored are:
/// - the order of an object's names, of a set's values and of fields with different names
/// - the case of field names
/// - the spelling of the host, a default port and a fragment
///
/// Everything else counts: 1, "1" and true differ, and numbers are compared by the digits that are sent.
public struct CacheKey: Sendable, Hashable {
    /// The canonical form, which determines equality.
    public let description: [UInt8]

    init(description: [UInt8]) {
        self.description = description
    }
}
