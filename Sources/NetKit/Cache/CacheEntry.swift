#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Synchronization

/// An entry of a cache store: a body and its metadata.
///
/// A store neither reads nor evaluates it: freshness is decided by a policy. Copies share the body.
public struct CacheEntry: Sendable, Equatable {
    private(set) var kept: KeptEntry

    /// Creates an entry.
    public init(
        body: Bytes, metadata: Bytes = [], host: String = "", tags: Set<String> = [], lifetime: Duration? = nil,
        created: Date? = nil
    ) {
        kept = KeptEntry(
            EntryContent(
                body: body, metadata: metadata, host: host, tags: tags, lifetime: lifetime, created: created))
    }
}

extension CacheEntry {
    /// Setting it replaces the whole content: other copies keep the old one.
    private var content: EntryContent {
        get { kept.value }
        set { kept = KeptEntry(newValue) }
    }

    /// The body.
    public var body: Bytes {
        get { kept.value.body }
        set { content.body = newValue }
    }

    /// The writer's data about the body: status, fields, validators, versions. At most 1 MiB.
    public var metadata: Bytes {
        get { kept.value.metadata }
        set { content.metadata = newValue }
    }

    /// The host it came from, for ``CacheStore/removeAll(from:)``; empty for none.
    public var host: String {
        get { kept.value.host }
        set { content.host = newValue }
    }

    /// The names of groups, for ``CacheStore/removeAll(tagged:)``. A NUL is not allowed; an empty name is ignored.
    public var tags: Set<String> {
        get { kept.value.tags }
        set { content.tags = newValue }
    }

    /// The time after which it is a miss and is removed; `nil` for none. Rounded down to milliseconds.
    public var lifetime: Duration? {
        get { kept.value.lifetime }
        set { content.lifetime = newValue }
    }

    /// The time of its creation, in whole milliseconds. If `nil`, the store sets the current time.
    public var created: Date? {
        get { kept.value.created }
        set { content.created = newValue }
    }

    /// Returns true if both have the same content.
    public static func == (one: CacheEntry, other: CacheEntry) -> Bool { one.content == other.content }

    /// Returns true after its lifetime; an entry with a lifetime and a creation time in the future is over too.
    func isOver(at now: Date) -> Bool {
        guard let lifetime, let created else { return false }
        let age = now.timeIntervalSince(created)
        return age < 0 || age >= lifetime / .seconds(1)
    }
}

/// The content of an entry.
struct EntryContent: Sendable, Equatable {
    var body: Bytes
    var metadata: Bytes
    var host: String
    var tags: Set<String>
    var lifetime: Duration?
    var created: Date?
}

/// A content behind one reference, with its decoded response: a store in memory returns the same entry many times.
final class KeptEntry: Sendable {
    let value: EntryContent
    private let found = AtomicLazyReference<StoredPiece>()

    init(_ value: EntryContent) {
        self.value = value
    }

    /// The decoded response; `nil` before the first decoding.
    var piece: StoredPiece? { found.load() }

    func remember(_ piece: StoredPiece) {
        _ = found.storeIfNil(piece)
    }
}
