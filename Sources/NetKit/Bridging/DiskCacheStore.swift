internal import CNetCore
internal import Dispatch

/// A cache store in a directory, with one file for each entry. After any failure, a file is either complete or absent.
/// Any number of processes can share the directory.
///
/// The directory is opened on first use. All disk access runs on the store's own threads and blocks neither the
/// caller's thread nor Swift's cooperative pool. Operations on the same key run in order. docs/cache.md describes the
/// file format and the guarantees.
///
///     let store = DiskCacheStore(directory: try DiskCacheStore.defaultDirectory(app: "example"))
public final class DiskCacheStore: CacheStore {
    /// What must be on disk before a write counts as complete.
    public enum Durability: Sendable {
        /// Nothing. After a power failure an entry may be missing, but it is never wrong.
        case none
        /// The file. It is on disk before it becomes visible.
        case file
        /// The file and its directory entry. The entry then survives a power failure.
        case directory
    }

    /// The result of a verification.
    package struct Report: Sendable, Equatable {
        /// The number of intact entries.
        package let good: Int
        /// The number of damaged entries, which were removed.
        package let damaged: Int
        /// The number of expired entries, which were removed.
        package let expired: Int
        /// The number of entries that are encrypted with a key that this store does not have.
        package let locked: Int
        /// The number of unfinished files of processes that ended while they wrote, which were removed.
        package let leftovers: Int
        /// The number of files that do not belong to the store, which were not changed.
        package let foreign: Int
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
    private let openStore = Lock<OwnedStore?>(nil)
    private let queues = (0..<2).map { DispatchQueue(label: "netkit.cache.\($0)") }

    /// Creates a store in a directory. The directory is created on first use if it does not exist.
    ///
    /// - Parameters:
    ///   - directory: a directory for this store only. It must not be a symbolic link, and other users must not be able
    ///     to write to it.
    ///   - maximumBytes: the largest total size of all files, at least 1. The least recently used entries are evicted
    ///     first.
    ///   - maximumEntries: the largest number of entries, at least 1.
    ///   - maximumShare: the largest size of one entry, in percent of `maximumBytes`, from 1 to 100.
    ///   - durability: what must be on disk before a write counts as complete.
    ///   - sealKey: the key that encrypts all entries (AES-256-GCM), 32 bytes. If `nil`, entries are not encrypted.
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
    /// - Throws: ``NetError/Code/usage`` for a name that cannot be the name of a directory, or if the home directory is
    ///   unknown.
    package static func defaultDirectory(app: String) throws(NetError) -> String {
        if app.utf8.contains(0) {
            throw NetError(.usage, "the application name contains a NUL byte")
        }
        var path = unsafe nc_buf_init(65_536)
        defer { unsafe nc_buf_deinit(&path) }
        var error = nc_error()
        guard unsafe nc_store_default_directory(&path, app, &error) == .NC_OK else { throw NetError(error) }
        return unsafe nc_buf_slice(&path).text
    }

    // MARK: - CacheStore

    /// Returns the entry of a key. A damaged entry is removed and treated as missing.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        try await run(queue(of: key)) { store throws(NetError) in try store.entry(for: key) }
    }

    /// Stores an entry; see ``CacheStore/put(_:for:)``.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        try await run(queue(of: key)) { store throws(NetError) in try store.put(entry, for: key) }
    }

    /// Removes the selected entries and returns their number. Selecting by tag or host reads the head of every entry.
    @discardableResult
    public func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
        let queue = if case .key(let key) = selection { queue(of: key) } else { queues[0] }
        return try await run(queue) { store throws(NetError) in try store.removeAll(selection) }
    }

    /// Returns all entries, including those that other processes stored. Bodies are not read.
    public func list() async throws(NetError) -> [CacheListing] {
        try await run(queues[0]) { store throws(NetError) in try store.list() }
    }

    /// Returns the statistics of the store in this process.
    public func usage() async throws(NetError) -> CacheUsage {
        try await run(queues[0]) { store throws(NetError) in store.usage }
    }

    /// Verifies every entry by reading it completely. Removes damaged and expired entries, and leftovers of unfinished
    /// writes.
    package func verify() async throws(NetError) -> Report {
        try await run(queues[0]) { store throws(NetError) in try store.verify() }
    }

    // MARK: - Threads

    /// Returns the queue of a key. A key always has the same queue, so that operations on it run in order.
    private func queue(of key: CacheKey) -> DispatchQueue {
        queues[Int(key.description.last ?? 0) % queues.count]
    }

    private func run<Value: Sendable>(
        _ queue: DispatchQueue, _ work: @escaping @Sendable (OwnedStore) throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let result: Result<Value, NetError> = await withCheckedContinuation { continuation in
            queue.async {
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

    /// Returns the opened store. If both queues open it at the same time, the first result is used by both.
    private func store() throws(NetError) -> OwnedStore {
        if let store = openStore.withLock({ $0 }) {
            return store
        }
        let newStore = try OwnedStore(settings)
        return openStore.withLock { current in
            let store = current ?? newStore
            current = store
            return store
        }
    }
}

extension DiskCacheStore.Settings: CustomStringConvertible, CustomReflectable {
    var description: String { "\(directory)\(sealKey == nil ? "" : " (sealed)")" }

    /// A mirror without the encryption key, so that `dump` does not print the key.
    var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "directory": directory, "maximumBytes": maximumBytes, "maximumEntries": maximumEntries,
                "maximumShare": maximumShare, "durability": durability, "isSealed": sealKey != nil,
            ])
    }

    /// Calls `make` with the C value of the settings, which is valid during the call.
    func withOptions(_ make: (inout nc_store_options) -> nc_status) throws(NetError) -> nc_status {
        if directory.isEmpty || directory.utf8.contains(0) {
            throw NetError(.usage, "the directory of the cache store is empty or contains a NUL byte")
        }
        guard let entries = UInt32(exactly: maximumEntries), entries > 0, maximumBytes > 0,
            (1...100).contains(maximumShare), sealKey.map({ $0.count == Int(NC_STORE_SEAL_KEY_BYTES) }) ?? true
        else {
            throw NetError(
                .usage, "maximumEntries and maximumBytes must be positive, maximumShare 1 to 100, sealKey 32 bytes")
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
