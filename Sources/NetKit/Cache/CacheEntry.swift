#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is kept under a key: a body, and what its keeper wants to know of it later.
///
/// A store neither reads nor judges it: what is fresh is a policy's question. A value; sharing the body copies nothing.
public struct CacheEntry: Sendable, Equatable {
    /// The body.
    public var body: Bytes { didSet { reading = EntryReading() } }
    /// Whatever the keeper wrote: status, fields, validators, versions. At most 1 MiB.
    public var metadata: Bytes { didSet { reading = EntryReading() } }
    /// The host it came from, for ``CacheStore/removeAll(from:)``; empty for none.
    public var host: String
    /// Names of groups, for ``CacheStore/removeAll(tagged:)``. No NUL in them; an empty one is none.
    public var tags: Set<String>
    /// The time after which it is a miss and goes; nil for none. Finer than a millisecond is rounded down.
    public var lifetime: Duration?
    /// When it was made, to the millisecond; a store fills in now for nil.
    public var created: Date?
    /// What was read of it, for all its copies.
    var reading = EntryReading()

    /// An entry.
    public init(
        body: Bytes, metadata: Bytes = [], host: String = "", tags: Set<String> = [], lifetime: Duration? = nil,
        created: Date? = nil
    ) {
        self.body = body
        self.metadata = metadata
        self.host = host
        self.tags = tags
        self.lifetime = lifetime
        self.created = created
    }

    /// Whether both say the same.
    public static func == (one: CacheEntry, other: CacheEntry) -> Bool {
        one.body == other.body && one.metadata == other.metadata && one.host == other.host && one.tags == other.tags
            && one.lifetime == other.lifetime && one.created == other.created
    }

    /// Whether its lifetime is over; what has one and is from the clock's future is over too.
    func isOver(at now: Date) -> Bool {
        guard let lifetime, let created else { return false }
        let age = now.timeIntervalSince(created)
        return age < 0 || age >= lifetime / .seconds(1)
    }
}
