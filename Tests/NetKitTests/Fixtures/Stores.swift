import NetKit

/// The stores whose contract is tested.
struct Stores {
    enum Kind: CaseIterable {
        case memory, disk, sealed, twoTier
    }

    private let folder: TemporaryTree

    init() async throws {
        folder = try TemporaryTree()
    }

    func store(_ kind: Kind) throws -> any CacheStore {
        let disk = DiskCacheStore(directory: folder.file("store"))
        return switch kind {
        case .memory: MemoryCacheStore()
        case .disk: disk
        case .sealed: DiskCacheStore(directory: folder.file("sealed"), sealKey: [UInt8](repeating: 7, count: 32))
        case .twoTier: TwoTierCacheStore(first: MemoryCacheStore(hardLimit: 100_000), second: disk)
        }
    }
}
