public import NetKit

/// Images in memory: when they cost more than the capacity, those that were used longest ago go, until the rest costs
/// no more than the preferred usage. An image costs width × height × 4 bytes. Thread-safe.
///
/// The usage is never more than the capacity, not for a moment either: an image that alone costs more is not kept.
public final class AutoPurgingImageCache: ImageCache {
    /// What all images may cost, in bytes.
    public let memoryCapacity: Int
    /// What is left of them after a purge, at most, in bytes.
    public let preferredUsageAfterPurge: Int

    private let images = Lock(RecencyList<ImageKey, Image>())
    private let pressure = Lock<MemoryPressure?>(nil)

    /// A cache of 100 MiB, of which a purge leaves 60 MiB, unless said otherwise.
    ///
    /// A preferred usage of more than the capacity is the capacity.
    public init(memoryCapacity: Int = 100 << 20, preferredUsageAfterPurge: Int = 60 << 20) {
        self.memoryCapacity = max(0, memoryCapacity)
        self.preferredUsageAfterPurge = min(max(0, preferredUsageAfterPurge), self.memoryCapacity)
    }

    /// What the images cost now, in bytes.
    public var memoryUsage: Int { images.withLock { $0.cost } }

    /// How many there are.
    public var count: Int { images.withLock { $0.count } }

    /// The image under a key, which is the last one used now.
    public func image(for key: ImageKey) -> Image? {
        images.withLock { $0.use(key) }
    }

    /// Keeps an image, in place of one under the same key; makes room for it before.
    public func insert(_ image: Image, for key: ImageKey) {
        images.withLock { images in
            images.remove(key)
            if image.byteCount > memoryCapacity {
                return
            }
            if images.cost + image.byteCount > memoryCapacity {
                // The new image counts among what is left, and is left in any case.
                let room = max(0, preferredUsageAfterPurge - image.byteCount)
                while images.cost > room, images.removeOldest() {}
            }
            images.set(image, cost: image.byteCount, for: key)
        }
    }

    /// Removes an image; false when there was none.
    @discardableResult
    public func remove(_ key: ImageKey) -> Bool {
        images.withLock { $0.remove(key) }
    }

    /// Removes all images; false when there were none.
    @discardableResult
    public func removeAll() -> Bool {
        images.withLock { images in
            let hadAny = images.count > 0
            images.removeAll()
            return hadAny
        }
    }

    /// Removes all images whenever the system runs short of memory, as long as the cache lives.
    ///
    /// Throws `NetError.Code.unsupported` where the system does not tell; see ``MemoryPressure``.
    public func emptyUnderMemoryPressure(
        path: String? = nil, stall: Duration = .milliseconds(100)
    ) throws(NetError) {
        let watch = try MemoryPressure(path: path, stall: stall) { [weak self] in self?.removeAll() }
        // What was there before ends outside the lock.
        let before = pressure.withLock { kept in
            defer { kept = watch }
            return kept
        }
        _ = before
    }
}
