#if Redis
import NetKit

@testable import NetKitRedis

/// The stores whose contract is tested; see `CacheStoreTests`.
struct Stores {
    enum Kind: CaseIterable {
        case redis, sealed, twoTier

        // Without a server there is nothing to test, except where CI requires it.
        static var allCases: [Kind] { RedisServer.isInstalled ? [.redis, .sealed, .twoTier] : [] }
    }

    private let open: RedisClient?
    private let sealed: RedisClient?

    init() async throws {
        guard RedisServer.isInstalled else {
            (open, sealed) = (nil, nil)
            return
        }
        let server = try await RedisServer.shared.value
        open = try await server.connected(try server.client(.unique))
        sealed = try await server.connected(
            try server.client(.unique, sealKey: [UInt8](repeating: 7, count: 32)))
    }

    func store(_ kind: Kind) throws -> any CacheStore {
        guard let open, let sealed else { throw NetError(.usage, "redis-server is not installed") }
        return switch kind {
        case .redis: RedisCacheStore(open)
        case .sealed: RedisCacheStore(sealed)
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
