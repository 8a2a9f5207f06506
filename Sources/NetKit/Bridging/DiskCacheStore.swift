internal import CNetCore
internal import Dispatch

/// A store in a directory: one file for each entry, complete or absent after any failure, shared by any number of
/// processes.
///
/// The directory is opened on first use. Everything that waits for the disk runs on the store's own threads: neither
/// the caller's thread nor Swift's cooperative pool waits. Operations on one key run in order. Format and guarantees
/// are in docs/cache.md.
///
///     let store = DiskCacheStore(directory: try DiskCacheStore.defaultDirectory(app: "example"))
public final class DiskCacheStore: CacheStore {
    /// The condition for completing a write.
    public enum Durability: Sendable {
        /// No condition: after a power failure an entry may be missing, but never wrong.
        case none
        /// The file is on disk before it is visible.
        case file
        /// The directory is on disk too: the entry survives a power failure.
        case directory
    }

    /// The result of a verification.
    public struct Report: Sendable, Equatable {
        /// Intact entries.
        public let good: Int
        /// Damaged files with an entry's name, which were removed.
        public let damaged: Int
        /// Entries whose lifetime was over, which were removed.
        public let expired: Int
        /// Entries that are encrypted with another key, or encrypted although this store has no key.
        public let locked: Int
        /// Files of killed processes, which were removed.
        public let leftovers: Int
        /// Other files, which were not changed.
        public let foreign: Int
    }

    /// The settings for opening the directory.
    struct Settings: Sendable {
        var directory: String
        var maximumBytes: Int
        var maximumEntries: Int
        var maximumShare: Int
        var durability: Durability
        var sealKey: [UInt8]?
    }

    private let settings: Settings
    private let opened = Lock<OwnedStore?>(nil)
    private let lanes = (0..<2).map { DispatchQueue(label: "netkit.cache.\($0)") }

    /// Creates a store in this directory, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - directory: the store's own directory. It must not be a symbolic link, and must not be writable for other
    ///     users.
    ///   - maximumBytes: the size of all files; the least recently used entries are evicted first. From 1.
    ///   - maximumEntries: the number of entries; from 1.
    ///   - maximumShare: the largest share of one entry in the bytes, in percent, 1 to 100.
    ///   - durability: the condition for completing a write.
    ///   - sealKey: 32 bytes, the key to encrypt everything with (AES-256-GCM); `nil` does not encrypt.
    public init(
        directory: String, maximumBytes: Int = 256 << 20, maximumEntries: Int = 100_000, maximumShare: Int = 5,
        durability: Durability = .none, sealKey: [UInt8]? = nil
    ) {
        settings = Settings(
            directory: directory, maximumBytes: maximumBytes, maximumEntries: maximumEntries,
            maximumShare: maximumShare, durability: durability, sealKey: sealKey)
    }

    /// Returns `$XDG_CACHE_HOME/<app>/netkit`, or the same in `~/.cache`.
    ///
    /// - Throws: ``NetError/Code/usage`` for a name that cannot be a directory's, or if the home directory is unknown.
    public static func defaultDirectory(app: String) throws(NetError) -> String {
        if app.utf8.contains(0) {
            throw NetError(.usage, "the application's name holds a NUL")
        }
        var path = unsafe nc_buf_init(65_536)
        defer { unsafe nc_buf_deinit(&path) }
        var error = nc_error()
        guard unsafe nc_store_default_directory(&path, app, &error) == .NC_OK else { throw NetError(error) }
        return unsafe nc_buf_slice(&path).text
    }

    // MARK: - CacheStore

    /// Returns the entry of a key; a damaged one is removed and counts as missing.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        try await run(lane(of: key)) { store throws(NetError) in try store.entry(for: key) }
    }

    /// Stores an entry; see ``CacheStore/put(_:for:)``.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        try await run(lane(of: key)) { store throws(NetError) in try store.put(entry, for: key) }
    }

    /// Removes an entry. Returns false if there was none.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool {
        try await run(lane(of: key)) { store throws(NetError) in try store.remove(key) }
    }

    /// Removes the entries with this tag and returns their number; reads the head of every entry.
    @discardableResult
    public func removeAll(tagged tag: String) async throws(NetError) -> Int {
        try await run(lanes[0]) { store throws(NetError) in try store.removeAll(tagged: tag) }
    }

    /// Removes the entries of this host and returns their number; reads the head of every entry.
    @discardableResult
    public func removeAll(from host: String) async throws(NetError) -> Int {
        try await run(lanes[0]) { store throws(NetError) in try store.removeAll(from: host) }
    }

    /// Removes all entries and returns their number.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int {
        try await run(lanes[0]) { store throws(NetError) in try store.removeAll() }
    }

    /// Returns all entries, including those of other processes; does not read bodies.
    public func list() async throws(NetError) -> [CacheListing] {
        try await run(lanes[0]) { store throws(NetError) in try store.list() }
    }

    /// Returns the statistics of this process.
    public func usage() async throws(NetError) -> CacheUsage {
        try await run(lanes[0]) { store throws(NetError) in store.usage }
    }

    /// Reads every byte of every entry. Removes damaged and expired entries, and leftover files.
    public func verify() async throws(NetError) -> Report {
        try await run(lanes[0]) { store throws(NetError) in try store.verify() }
    }

    // MARK: - Threads

    /// Returns the queue of a key: always the same one, so that its operations stay in order.
    private func lane(of key: CacheKey) -> DispatchQueue {
        lanes[Int(key.description.last ?? 0) % lanes.count]
    }

    private func run<Value: Sendable>(
        _ lane: DispatchQueue, _ work: @escaping @Sendable (OwnedStore) throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let result: Result<Value, NetError> = await withCheckedContinuation { continuation in
            lane.async {
                continuation.resume(returning: self.attempt(work))
            }
        }
        return try result.get()
    }

    private func attempt<Value>(_ work: (OwnedStore) throws(NetError) -> Value) -> Result<Value, NetError> {
        do throws(NetError) {
            return .success(try work(try store()))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the open directory. If both queues open it, the first one is kept.
    private func store() throws(NetError) -> OwnedStore {
        if let store = opened.withLock({ $0 }) {
            return store
        }
        let made = try OwnedStore(settings)
        return opened.withLock { kept in
            let store = kept ?? made
            kept = store
            return store
        }
    }
}

extension DiskCacheStore.Settings: CustomStringConvertible, CustomReflectable {
    var description: String { "\(directory)\(sealKey == nil ? "" : " (sealed)")" }

    /// A mirror without the key, so that `dump` does not print it.
    var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "directory": directory, "maximumBytes": maximumBytes, "maximumEntries": maximumEntries,
                "maximumShare": maximumShare, "durability": durability, "isSealed": sealKey != nil,
            ])
    }

    /// Calls `make` with the core's form of the settings, which is valid during the call.
    func withOptions(_ make: (inout nc_store_options) -> nc_status) throws(NetError) -> nc_status {
        if directory.isEmpty || directory.utf8.contains(0) {
            throw NetError(.usage, "the directory's name is empty or holds a NUL")
        }
        guard let entries = UInt32(exactly: maximumEntries), entries > 0, maximumBytes > 0,
            (1...100).contains(maximumShare), sealKey.map({ $0.count == Int(NC_STORE_SEAL_KEY_BYTES) }) ?? true
        else {
            throw NetError(.usage, "a limit of the store is out of its range, or its key has not 32 bytes")
        }
        var options = unsafe nc_store_options()
        unsafe options.max_bytes = UInt64(maximumBytes)
        unsafe options.max_entries = entries
        unsafe options.max_share = UInt32(maximumShare)
        unsafe options.durability =
            switch durability {
            case .none: .NC_STORE_DURABILITY_NONE
            case .file: .NC_STORE_DURABILITY_DATA
            case .directory: .NC_STORE_DURABILITY_FULL
            }
        return unsafe directory.withCString { path in
            unsafe options.directory = path
            guard let sealKey else { return unsafe make(&options) }
            return unsafe sealKey.withUnsafeBufferPointer { key in
                unsafe options.seal_key = key.baseAddress
                return unsafe make(&options)
            }
        }
    }
}
