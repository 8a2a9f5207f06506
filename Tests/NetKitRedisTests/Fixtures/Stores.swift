#if Redis
import NetKit

@testable import NetKitRedis

/// The stores whose contract is tested; see `CacheStoreTests`.
struct Stores {
    enum Kind: CaseIterable {
        case redis, sealed, twoTier, cluster

        // Without a server there is nothing to test, except where CI requires it.
        static var allCases: [Kind] { RedisServer.isInstalled ? [.redis, .sealed, .twoTier, .cluster] : [] }
    }

    private let open: RedisClient?
    private let sealed: RedisClient?
    private let cluster: RedisClient?

    init() async throws {
        guard RedisServer.isInstalled else {
            (open, sealed, cluster) = (nil, nil, nil)
            return
        }
        open = try await Topology.server.clients(1, .unique)[0]
        sealed = try await Topology.server.clients(1, .unique, sealKey: [UInt8](repeating: 7, count: 32))[0]
        cluster = try await Topology.cluster.clients(1, .unique)[0]
    }

    func store(_ kind: Kind) throws -> any CacheStore {
        guard let open, let sealed, let cluster else { throw NetError(.usage, "redis-server is not installed") }
        return switch kind {
        case .redis: RedisCacheStore(open)
        case .sealed: RedisCacheStore(sealed)
        case .cluster: RedisCacheStore(cluster)
        case .twoTier: try RedisCacheStore(open).twoTier(with: MemoryCacheStore(hardLimit: 100_000))
        }
    }
}
#else
import NetKit

/// Without the trait there are no stores.
struct Stores {
    struct Kind: CaseIterable, Sendable {
        static let allCases: [Kind] = []
    }

    init() async throws {}

    func store(_ kind: Kind) throws -> any CacheStore { throw NetError(.unsupported, "the trait Redis is off") }
}
#endif
