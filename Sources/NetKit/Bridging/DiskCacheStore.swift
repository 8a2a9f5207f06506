internal import CNetCore
internal import Dispatch

/// Entries in a directory: one file each, whole or absent after whatever happens, shared by any number of processes.
///
/// The directory is opened at the first use, on a thread of the store's own, as everything that waits for the disk is:
/// neither the caller's thread nor Swift's own pool waits. What is asked of one key is done in the order it was asked.
/// Format and guarantees are in docs/cache.md.
///
///     let store = DiskCacheStore(directory: try DiskCacheStore.defaultDirectory(app: "example"))
public final class DiskCacheStore: CacheStore {
    /// What a put waits for.
    public enum Durability: Sendable {
        /// Nothing: after a power failure an entry may be gone, never wrong.
        case none
        /// The file is on the disk before it is seen.
        case file
        /// The directory too: what was put stays put.
        case directory
    }

    /// What a verification found.
    public struct Report: Sendable, Equatable {
        /// Entries that are whole.
        public let good: Int
        /// Files under an entry's name that were not, and are gone.
        public let damaged: Int
        /// Entries whose lifetime was over, and are gone.
        public let expired: Int
        /// Entries that are sealed under another key, or are sealed where this store's are not.
        public let locked: Int
        /// Files of killed processes, gone now.
        public let leftovers: Int
        /// Other files, left alone.
        public let foreign: Int
    }

    /// How the directory is opened.
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

    /// A store in this directory, which is made when it is missing.
    ///
    /// - Parameters:
    ///   - directory: the store's own. It may not be a symbolic link, and other users may not write to it.
    ///   - maximumBytes: bytes of all files; what was used longest ago goes first. From 1.
    ///   - maximumEntries: entries; from 1.
    ///   - maximumShare: percent of the bytes that one entry may take, 1 to 100.
    ///   - durability: what a put waits for.
    ///   - sealKey: 32 bytes that everything is encrypted under (AES-256-GCM); nil leaves it readable.
    public init(
        directory: String, maximumBytes: Int = 256 << 20, maximumEntries: Int = 100_000, maximumShare: Int = 5,
        durability: Durability = .none, sealKey: [UInt8]? = nil
    ) {
        settings = Settings(
            directory: directory, maximumBytes: maximumBytes, maximumEntries: maximumEntries,
            maximumShare: maximumShare, durability: durability, sealKey: sealKey)
    }

    /// `$XDG_CACHE_HOME/<app>/netkit`, or the same in `~/.cache`.
    ///
    /// Throws ``NetError/Code/usage`` for a name that cannot be a directory's, or when no home is known.
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

    /// The entry of a key; a damaged one is none, and goes.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        try await run(lane(of: key)) { store throws(NetError) in try store.entry(for: key) }
    }

    /// Puts an entry; see ``CacheStore/put(_:for:)``.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        try await run(lane(of: key)) { store throws(NetError) in try store.put(entry, for: key) }
    }

    /// Removes an entry; false when there was none.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool {
        try await run(lane(of: key)) { store throws(NetError) in try store.remove(key) }
    }

    /// Removes the entries with this tag; reads the head of every entry.
    @discardableResult
    public func removeAll(tagged tag: String) async throws(NetError) -> Int {
        try await run(lanes[0]) { store throws(NetError) in try store.removeAll(tagged: tag) }
    }

    /// Removes the entries of this host; reads the head of every entry.
    @discardableResult
    public func removeAll(from host: String) async throws(NetError) -> Int {
        try await run(lanes[0]) { store throws(NetError) in try store.removeAll(from: host) }
    }

    /// Removes every entry.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int {
        try await run(lanes[0]) { store throws(NetError) in try store.removeAll() }
    }

    /// What there is, other processes' entries too; bodies are not read.
    public func list() async throws(NetError) -> [CacheListing] {
        try await run(lanes[0]) { store throws(NetError) in try store.list() }
    }

    /// Figures of this process.
    public func usage() async throws(NetError) -> CacheUsage {
        try await run(lanes[0]) { store throws(NetError) in store.usage }
    }

    /// Reads every byte of every entry; removes what is damaged, left over, or over its lifetime.
    public func verify() async throws(NetError) -> Report {
        try await run(lanes[0]) { store throws(NetError) in try store.verify() }
    }

    // MARK: - Threads

    /// One lane for one key, so that its calls keep their order.
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

    /// The open directory. Where both lanes open it at once, the first is kept.
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

    /// Without the key, so that `dump` does not tell it.
    var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "directory": directory, "maximumBytes": maximumBytes, "maximumEntries": maximumEntries,
                "maximumShare": maximumShare, "durability": durability, "isSealed": sealKey != nil,
            ])
    }

    /// Describes the settings to the core, for the length of the call.
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
