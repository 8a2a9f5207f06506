public import NetKit

/// Stores in several directories. Filters assign each request to a directory (as YTKNetwork's directory filters).
///
///     let directories = CacheDirectories(path) { path, request in
///         request.url.contains("/images/") ? path + "-images" : path
///     }
///     configuration.interceptors = [Caching(in: directories)]
///
/// The store of a directory is opened when it is first used. Thread-safe.
public final class CacheDirectories: Sendable {
    /// Returns the directory of a request. The first parameter is the directory that earlier filters chose; return it
    /// to keep it.
    public typealias Filter = @Sendable (String, Request<Bytes>) -> String

    private let directory: String
    private let filters: [Filter]
    private let open: @Sendable (String) -> any CacheStore
    private let stores = Lock<[String: any CacheStore]>([:])

    /// Creates the directories with several filters.
    ///
    /// - Parameters:
    ///   - directory: the directory of requests that no filter assigns to another one.
    ///   - filters: called in order. Each filter receives the result of the one before it.
    ///   - open: creates the store of a directory. If `nil`, a `DiskCacheStore` with default settings is created.
    public init(
        _ directory: String, filters: [Filter], open: (@Sendable (String) -> any CacheStore)? = nil
    ) {
        self.directory = directory
        self.filters = filters
        self.open = open ?? { DiskCacheStore(directory: $0) }
    }

    /// Creates the directories with one filter.
    public convenience init(_ directory: String, filter: @escaping Filter) {
        self.init(directory, filters: [filter])
    }

    /// The store of requests that no filter assigns to another directory.
    public var standard: any CacheStore { store(at: directory) }

    /// Returns the store of a request.
    public func store(for request: Request<Bytes>) -> any CacheStore {
        store(at: filters.reduce(directory) { $1($0, request) })
    }

    private func store(at path: String) -> any CacheStore {
        if let known = stores.withLock({ $0[path] }) {
            return known
        }
        let created = open(path)
        return stores.withLock { stores in
            let store = stores[path] ?? created
            stores[path] = store
            return store
        }
    }
}

extension Caching {
    /// Creates a cache with a store for each directory that a filter names.
    ///
    /// - Parameters:
    ///   - directories: the directories and the filters that select one for a request.
    ///   - rules: the rules of requests that set none.
    ///   - hashKey: the key of the hashes of users and sensitive data, 32 random bytes. If `nil`, the cache creates a
    ///     key and keeps it in the store of the unfiltered directory.
    ///   - secrets: names of header fields whose values distinguish users.
    ///   - time: the clock.
    public convenience init(
        in directories: CacheDirectories, rules: CacheRules = .http(), hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system
    ) {
        self.init(directories.standard, rules: rules, hashKey: hashKey, secrets: secrets, time: time) {
            directories.store(for: $0)
        }
    }
}
