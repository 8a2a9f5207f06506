/// One store for most requests, and others for those that filters send elsewhere (YTKNetwork's directory filters).
///
///     let directories = CacheDirectories(path) { path, request in
///         request.url.contains("/images/") ? path + "-images" : path
///     }
///     configuration.interceptors = [Caching(in: directories)]
///
/// A store is opened when it is first used. Thread-safe.
public final class CacheDirectories: Sendable {
    /// Says where a request's answers are: given the place so far, which is returned where nothing changes.
    public typealias Filter = @Sendable (String, Request<Bytes>) -> String

    private let directory: String
    private let filters: [Filter]
    private let open: @Sendable (String) -> any CacheStore
    private let stores = Lock<[String: any CacheStore]>([:])

    /// - Parameters:
    ///   - directory: where answers are that no filter sends elsewhere.
    ///   - filters: asked one after the other; each gets what the one before it returned.
    ///   - open: makes the store of a directory; nil makes a ``DiskCacheStore`` with its defaults.
    public init(
        _ directory: String, filters: [Filter], open: (@Sendable (String) -> any CacheStore)? = nil
    ) {
        self.directory = directory
        self.filters = filters
        self.open = open ?? { DiskCacheStore(directory: $0) }
    }

    /// With one filter.
    public convenience init(_ directory: String, filter: @escaping Filter) {
        self.init(directory, filters: [filter])
    }

    /// The store of no request in particular.
    public var standard: any CacheStore { store(at: directory) }

    /// The store of a request.
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
