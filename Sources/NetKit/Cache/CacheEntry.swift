#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Synchronization

/// An entry of a cache store: a body and its metadata.
///
/// A store does not evaluate its contents. Whether a response is fresh is decided by ``Caching``. Copies of an entry
/// share the body.
public struct CacheEntry: Sendable, Equatable {
    private(set) var storage: CacheEntryStorage

    /// Creates an entry.
    public init(
        body: Bytes, metadata: Bytes = [], host: String = "", tags: Set<String> = [], lifetime: Duration? = nil,
        created: Date? = nil
    ) {
        storage = CacheEntryStorage(
            CacheEntryContent(
                body: body, metadata: metadata, host: host, tags: tags, lifetime: lifetime, created: created))
    }
}

extension CacheEntry {
    // Setting it creates a new storage object, because copies of the entry may refer to the old one.
    private var content: CacheEntryContent {
        get { storage.value }
        set { storage = CacheEntryStorage(newValue) }
    }

    /// The body.
    public var body: Bytes {
        get { storage.value.body }
        set { content.body = newValue }
    }

    /// Data about the body, in a format of its writer. ``Caching`` writes status, fields and versions. At most 1 MiB.
    public var metadata: Bytes {
        get { storage.value.metadata }
        set { content.metadata = newValue }
    }

    /// The host that the body came from, for ``CacheSelection/host(_:)``. Empty if there is none.
    public var host: String {
        get { storage.value.host }
        set { content.host = newValue }
    }

    /// The names of groups, for ``CacheSelection/tagged(_:)``. They must not contain a NUL. Empty names are
    /// ignored.
    public var tags: Set<String> {
        get { storage.value.tags }
        set { content.tags = newValue }
    }

    /// The time after its creation at which the entry is removed, rounded down to milliseconds. If `nil`, it has no
    /// limited lifetime.
    public var lifetime: Duration? {
        get { storage.value.lifetime }
        set { content.lifetime = newValue }
    }

    /// The time at which the entry was created, in whole milliseconds. If `nil`, the store sets the current time.
    public var created: Date? {
        get { storage.value.created }
        set { content.created = newValue }
    }

    /// Returns true if the lifetime has ended. An entry with a lifetime whose creation time is in the future counts as
    /// ended.
    func isOver(at now: Date) -> Bool {
        guard let lifetime, let created else { return false }
        let age = now.timeIntervalSince(created)
        return age < 0 || age >= lifetime / .seconds(1)
    }
}

/// The content of an entry.
struct CacheEntryContent: Sendable, Equatable {
    var body: Bytes
    var metadata: Bytes
    var host: String
    var tags: Set<String>
    var lifetime: Duration?
    var created: Date?
}

/// The content of an entry, and its decoded response. A store in memory returns the same entry many times, so that the
/// response is decoded only once.
final class CacheEntryStorage: Sendable, Equatable {
    let value: CacheEntryContent
    private let decoded = AtomicLazyReference<CachedResponse>()

    init(_ value: CacheEntryContent) {
        self.value = value
    }

    /// Returns true if both have the same content.
    static func == (one: CacheEntryStorage, other: CacheEntryStorage) -> Bool { one.value == other.value }

    /// The decoded response; `nil` if it was not decoded yet.
    var cachedResponse: CachedResponse? { decoded.load() }

    func setDecoded(_ cachedResponse: CachedResponse) {
        _ = decoded.storeIfNil(cachedResponse)
    }
}
