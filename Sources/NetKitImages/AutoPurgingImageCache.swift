public import NetKit

/// A cache of images in memory. If they exceed the capacity, the least recently used ones are removed until the
/// preferred usage is reached. An image costs width × height × 4 bytes. Thread-safe.
///
/// The usage never exceeds the capacity, even temporarily: a single image larger than the capacity is not stored.
public final class AutoPurgingImageCache: ImageCache {
    /// The largest cost of all images, in bytes.
    public let memoryCapacity: Int
    /// The largest cost of all images after a purge, in bytes.
    public let preferredUsageAfterPurge: Int

    private let images = Lock(RecencyList<ImageKey, Image>())
    private let pressure = Lock<MemoryPressure?>(nil)

    /// Creates a cache, by default of 100 MiB, which a purge reduces to 60 MiB.
    ///
    /// A preferred usage above the capacity is treated as the capacity.
    public init(memoryCapacity: Int = 100 << 20, preferredUsageAfterPurge: Int = 60 << 20) {
        self.memoryCapacity = max(0, memoryCapacity)
        self.preferredUsageAfterPurge = min(max(0, preferredUsageAfterPurge), self.memoryCapacity)
    }

    /// The current cost of all images, in bytes.
    public var memoryUsage: Int { images.withLock { $0.cost } }

    /// The number of images.
    public var count: Int { images.withLock { $0.count } }

    /// Returns the image for a key, and marks it as the most recently used.
    public func image(for key: ImageKey) -> Image? {
        images.withLock { $0.use(key) }
    }

    /// Stores an image, replacing one with the same key. Makes room for it first.
    public func insert(_ image: Image, for key: ImageKey) {
        images.withLock { images in
            images.remove(key)
            if image.byteCount > memoryCapacity {
                return
            }
            if images.cost + image.byteCount > memoryCapacity {
                // The new image counts towards the preferred usage, and is never purged here.
                let room = max(0, preferredUsageAfterPurge - image.byteCount)
                while images.cost > room, images.removeOldest() {}
            }
            images.set(image, cost: image.byteCount, for: key)
        }
    }

    /// Removes an image. Returns false if there was none.
    @discardableResult
    public func remove(_ key: ImageKey) -> Bool {
        images.withLock { $0.remove(key) }
    }

    /// Removes all images. Returns false if there were none.
    @discardableResult
    public func removeAll() -> Bool {
        images.withLock { images in
            let hadAny = images.count > 0
            images.removeAll()
            return hadAny
        }
    }

    /// Removes all images when the system is short of memory, while the cache exists.
    ///
    /// Throws `NetError.Code.unsupported` if the system does not report memory pressure; see ``MemoryPressure``.
    public func emptyUnderMemoryPressure(
        path: String? = nil, stall: Duration = .milliseconds(100)
    ) throws(NetError) {
        let watch = try MemoryPressure(path: path, stall: stall) { [weak self] in self?.removeAll() }
        // The previous value is deallocated outside the lock.
        let before = pressure.withLock { kept in
            defer { kept = watch }
            return kept
        }
        _ = before
    }
}
