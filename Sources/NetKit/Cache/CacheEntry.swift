#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Synchronization

/// What is kept under a key: a body, and what its keeper wants to know of it later.
///
/// A store neither reads nor judges it: what is fresh is a policy's question. A value; sharing the body copies nothing.
public struct CacheEntry: Sendable, Equatable {
    private(set) var kept: KeptEntry

    /// An entry.
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
    /// Changed as a whole: what has been handed on stays as it was.
    private var content: EntryContent {
        get { kept.value }
        set { kept = KeptEntry(newValue) }
    }

    /// The body.
    public var body: Bytes {
        get { kept.value.body }
        set { content.body = newValue }
    }

    /// Whatever the keeper wrote: status, fields, validators, versions. At most 1 MiB.
    public var metadata: Bytes {
        get { kept.value.metadata }
        set { content.metadata = newValue }
    }

    /// The host it came from, for ``CacheStore/removeAll(from:)``; empty for none.
    public var host: String {
        get { kept.value.host }
        set { content.host = newValue }
    }

    /// Names of groups, for ``CacheStore/removeAll(tagged:)``. No NUL in them; an empty one is none.
    public var tags: Set<String> {
        get { kept.value.tags }
        set { content.tags = newValue }
    }

    /// The time after which it is a miss and goes; nil for none. Finer than a millisecond is rounded down.
    public var lifetime: Duration? {
        get { kept.value.lifetime }
        set { content.lifetime = newValue }
    }

    /// When it was made, to the millisecond; a store fills in now for nil.
    public var created: Date? {
        get { kept.value.created }
        set { content.created = newValue }
    }

    /// Whether both say the same.
    public static func == (one: CacheEntry, other: CacheEntry) -> Bool { one.content == other.content }

    /// Whether its lifetime is over; what has one and is from the clock's future is over too.
    func isOver(at now: Date) -> Bool {
        guard let lifetime, let created else { return false }
        let age = now.timeIntervalSince(created)
        return age < 0 || age >= lifetime / .seconds(1)
    }
}

/// What an entry says.
struct EntryContent: Sendable, Equatable {
    var body: Bytes
    var metadata: Bytes
    var host: String
    var tags: Set<String>
    var lifetime: Duration?
    var created: Date?
}

/// A content behind one reference, with what was found in it: a store in memory gives the same entry many times.
final class KeptEntry: Sendable {
    let value: EntryContent
    private let found = AtomicLazyReference<StoredPiece>()

    init(_ value: EntryContent) {
        self.value = value
    }

    /// What was found in it first; nil before.
    var piece: StoredPiece? { found.load() }

    func remember(_ piece: StoredPiece) {
        _ = found.storeIfNil(piece)
    }
}
