#if Redis
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import NetKit

/// A cache store in Redis or Valkey, which any number of processes and computers share.
///
///     let redis = try RedisClient("redis://cache.example", prefix: "shop", sealKey: key)
///     let caching = Caching(try RedisCacheStore(redis).twoTier(), rules: .http(), hashKey: hashKey)
///
/// An entry is replaced atomically. After each lookup its checksum is verified, so a damaged entry, or one that belongs
/// to another key, is removed and counts as missing. The same applies to an entry whose tags or hosts the server has
/// evicted.
///
/// `entry(for:)` never throws: if the server does not answer within the time limit of the client, the entry counts as
/// missing. Changes that fail throw. `Caching` then reports `notStored` to the observers, and the request succeeds.
/// Removals with many entries run in steps of 256. docs/shared.md lists all failures.
///
/// Pass a `hashKey` to `Caching`, so that all processes distinguish users by the same hashes. Thread-safe.
public final class RedisCacheStore: CacheStore {
    /// The counts of a store since it was created, in this process.
    public struct Statistics: Sendable, Equatable {
        /// The number of lookups that found an entry.
        public var hits = 0
        /// The number of lookups that found no entry, for any reason.
        public var misses = 0
        /// The number of lookups whose entry was damaged. They are misses too.
        public var damaged = 0
        /// The number of lookups that the server did not answer in time, or with an error. They are misses too.
        public var failedLookups = 0
        /// The number of writes and removals that the server did not answer in time, or with an error.
        public var failedChanges = 0
    }

    /// The number of entries that a script handles, so that it does not delay other clients.
    static let step = 256
    /// The time limit of one step of a removal of many entries, or of a list.
    private static let stepTimeLimit = Duration.seconds(2)

    let client: RedisClient
    private let maximumEntryBytes: Int
    private let maximumAge: Duration
    private let now: @Sendable () -> Date
    private let counts = Lock(Statistics())
    /// Identifies the messages of this store.
    let sender = Bytes((0..<16).map { _ in UInt8.random(in: 0...255) })
    let subscriptions = Lock<[InvalidationListener]>([])

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - client: the client, whose prefix selects the entries.
    ///   - maximumEntryBytes: the largest size of an entry's body and metadata in bytes, 1 to 512 MiB. Larger entries are
    ///     not stored.
    ///   - maximumAge: the time after which the server removes an entry that has no shorter lifetime.
    ///   - now: the clock.
    public init(
        _ client: RedisClient, maximumEntryBytes: Int = 4 << 20, maximumAge: Duration = .seconds(7 * 86_400),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client
        self.maximumEntryBytes = min(max(1, maximumEntryBytes), 512 << 20)
        self.maximumAge = max(.milliseconds(1), min(maximumAge, .seconds(10 * 366 * 86_400)))
        self.now = now
    }

    /// The counts so far.
    public var statistics: Statistics { counts.withLock { $0 } }

    // MARK: - CacheStore

    /// Returns the entry of a key, or `nil` if there is none, or if the server does not answer in time.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        do throws(NetError) {
            let found = try await lookup(key)
            counts.withLock { counts in
                counts.hits += found == nil ? 0 : 1
                counts.misses += found == nil ? 1 : 0
            }
            return found
        } catch {
            counts.withLock { counts in
                counts.misses += 1
                counts.failedLookups += 1
            }
            return nil
        }
    }

    private func lookup(_ key: CacheKey) async throws(NetError) -> CacheEntry? {
        let name = try client.seal.name(Bytes(key.description))
        let reply = try await client.run(StoreScripts.get, keys: ["e" + name], words([name]))
        if case .integer(let code) = reply {
            counts.withLock { $0.damaged += code == 1 ? 1 : 0 }
            return nil
        }
        let fields = (reply.items ?? []).compactMap(\.bytes)
        guard fields.count == 3 else { throw NetError(.badResponse, "the Redis server returned an unexpected reply") }
        let sets = String(decoding: fields[1], as: UTF8.self)
        let entry = StoredEntry.entry(fields[0], fields[2], for: key, name: name, sets: sets, client.seal)
        guard let entry else {
            counts.withLock { $0.damaged += 1 }
            _ = try await client.run(StoreScripts.removeDamaged, keys: ["e" + name], words([name]) + [fields[0]])
            return nil
        }
        if entry.remainingMilliseconds(at: now()) == 0 {
            _ = try await client.run(StoreScripts.removeDamaged, keys: ["e" + name], words([name]) + [fields[0]])
            return nil
        }
        return entry
    }

    /// Stores an entry; see `CacheStore.put(_:for:)`.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        let size = entry.body.count + entry.metadata.count
        guard size <= maximumEntryBytes else {
            throw NetError(.tooLarge, "an entry of \(size) bytes exceeds the limit of \(maximumEntryBytes) bytes")
        }
        if entry.tags.contains(where: { $0.utf8.contains(0) }) {
            throw NetError(.usage, "a cache tag contains a NUL byte")
        }
        var entry = entry
        let now = now()
        entry.created = entry.created ?? now
        entry.tags.remove("")
        let name = try client.seal.name(Bytes(key.description))
        var sets = try entry.tags.sorted().map { tag throws(NetError) in try setName(tag: tag) }.joined()
        if !entry.host.isEmpty {
            sets += try setName(host: entry.host)
        }
        let stored = try StoredEntry(entry, for: key, name: name, sets: sets, client.seal)
        let longest = Int64(maximumAge / .milliseconds(1))
        // An entry of the future may become valid, so it is kept.
        let remaining = entry.created.map { $0 > now } == true ? longest : entry.remainingMilliseconds(at: now)
        let life = min(remaining ?? longest, longest)
        let arguments = words([name]) + [stored.head, Bytes(sets), stored.body, Bytes("\(life)")]
        try await change { () async throws(NetError) in
            _ = try await client.run(
                StoreScripts.put, keys: ["e" + name, "i"], arguments + [try message(.key, Bytes(key.description))])
        }
    }

    private func remove(_ key: CacheKey) async throws(NetError) -> Int {
        let name = try client.seal.name(Bytes(key.description))
        return try await change { () async throws(NetError) in
            // With a limit of its own, it is sent even to a server that is slow, which may remove the entry later.
            let reply = try await client.run(
                StoreScripts.remove, keys: ["e" + name],
                words([name]) + [try message(.key, Bytes(key.description))], within: client.timeLimit)
            return reply.integer == 1 ? 1 : 0
        }
    }

    /// Removes the selected entries and returns their number.
    @discardableResult
    public func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
        switch selection {
        case .all: try await removeEverything()
        case .key(let key): try await remove(key)
        case .tagged(let tag):
            tag.isEmpty ? 0 : try await removeSet(try setName(tag: tag), try message(.tag, Bytes(tag)))
        case .host(let host):
            host.isEmpty ? 0 : try await removeSet(try setName(host: host), try message(.host, Bytes(host)))
        }
    }

    private func removeSet(_ name: String, _ message: Bytes) async throws(NetError) -> Int {
        try await inSteps { isFirst throws(NetError) in
            (StoreScripts.removeSet, name, words([name, "\(Self.step)"]) + [isFirst ? message : []])
        }
    }

    private func removeEverything() async throws(NetError) -> Int {
        let message = try message(.all, [])
        return try await inSteps { isFirst throws(NetError) in
            (StoreScripts.removeAll, "i", words(["\(Self.step)"]) + [isFirst ? message : []])
        }
    }

    private func inSteps(
        _ step: (_ isFirst: Bool) throws(NetError) -> (RedisScript, String, [Bytes])
    ) async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            var removed = 0
            var isFirst = true
            while true {
                let (script, key, arguments) = try step(isFirst)
                let reply = try await client.run(script, keys: [key], arguments, within: Self.stepTimeLimit)
                let counts = (reply.items ?? []).compactMap(\.integer)
                guard counts.count == 2 else { throw NetError(.badResponse, "the reply to a removal is not valid") }
                removed += Int(clamping: counts[0])
                if counts[1] <= 0 {
                    return removed
                }
                isFirst = false
            }
        }
    }

    /// Returns all entries without their bodies. If entries change or expire meanwhile, any entry may
    /// be missing.
    public func list() async throws(NetError) -> [CacheListing] {
        var listings: [CacheKey: CacheListing] = [:]
        let moment = now()
        try await forEachEntry { name, head, sets, _ in
            guard let (listing, _) = StoredEntry.listing(head, name: name, sets: sets, client.seal),
                listing.entry.remainingMilliseconds(at: moment) != 0
            else { return }
            listings[listing.key] = listing
        }
        return Array(listings.values)
    }

    /// Returns the number and size of the entries on the server, and the hits and misses of this process. The largest
    /// size is a setting of the server, so it is 0 here.
    public func usage() async throws(NetError) -> CacheUsage {
        let statistics = statistics
        var usage = CacheUsage(hits: statistics.hits, misses: statistics.misses)
        try await forEachEntry { _, _, _, bytes in
            usage.entries += 1
            usage.bytes += bytes
        }
        return usage
    }

    private func forEachEntry(
        _ body: (_ name: String, _ head: Bytes, _ sets: String, _ bytes: Int) -> Void
    ) async throws(NetError) {
        var first = 0
        while true {
            let reply = try await client.run(
                StoreScripts.list, keys: ["i"], words(["\(first)", "\(Self.step)"]), within: Self.stepTimeLimit)
            guard let items = reply.items, let count = items.first?.integer, (items.count - 1) % 4 == 0 else {
                throw NetError(.badResponse, "the reply to a list is not valid")
            }
            for index in stride(from: 1, to: items.count, by: 4) {
                guard let name = items[index].bytes, let head = items[index + 1].bytes,
                    let sets = items[index + 2].bytes, let bytes = items[index + 3].integer
                else { continue }
                body(
                    String(decoding: name, as: UTF8.self), head, String(decoding: sets, as: UTF8.self),
                    Int(clamping: bytes))
            }
            if count < Self.step {
                return
            }
            first += Self.step
        }
    }

    // MARK: - Names

    private func words(_ words: [String]) -> [Bytes] { [Bytes(client.prefix)] + words.map { Bytes($0) } }

    private func setName(tag: String) throws(NetError) -> String { "t" + (try client.seal.name(Bytes("tag:" + tag))) }

    private func setName(host: String) throws(NetError) -> String {
        "h" + (try client.seal.name(Bytes("host:" + (host.canonicalHost ?? host.lowercased()))))
    }

    private func change<Value: Sendable>(
        _ work: () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        do throws(NetError) {
            return try await work()
        } catch {
            counts.withLock { $0.failedChanges += 1 }
            throw error
        }
    }
}
#endif
