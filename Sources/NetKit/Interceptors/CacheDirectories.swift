/// A store for most requests, and further stores for requests that filters assign to other directories (as YTKNetwork's
/// directory filters).
///
///     let directories = CacheDirectories(path) { path, request in
///         request.url.contains("/images/") ? path + "-images" : path
///     }
///     configuration.interceptors = [Caching(in: directories)]
///
/// A store is opened on first use. Thread-safe.
public final class CacheDirectories: Sendable {
    /// Returns the directory of a request, given the current one; returns it unchanged to keep it.
    public typealias Filter = @Sendable (String, Request<Bytes>) -> String

    private let directory: String
    private let filters: [Filter]
    private let open: @Sendable (String) -> any CacheStore
    private let stores = Lock<[String: any CacheStore]>([:])

    /// Creates the directories with several filters.
    ///
    /// - Parameters:
    ///   - directory: the directory of requests that no filter changes.
    ///   - filters: called in order; each receives the result of the one before it.
    ///   - open: creates the store of a directory; `nil` creates a ``DiskCacheStore`` with its defaults.
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

    /// The store of the unfiltered directory.
    public var standard: any CacheStore { store(at: directory) }

    /// Returns the store of a request.
    public func store(for request: Request<Bytes>) -> any CacheStore {
        store(at: filters.reduce(directory) { $1($0, request) })
    }

    private func store(at path: String) -> any CacheStore {
        if let known = stores.withLock({ $0[path] }) {
            return known
        }
        let made = open(path)
        return stores.withLock { stores in
            let store = stores[path] ?? made
            stores[path] = store
            return store
        }
    }
}
