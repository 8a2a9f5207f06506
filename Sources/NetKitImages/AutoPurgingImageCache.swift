#if Images
public import NetKit

/// A cache of images in memory. If a new image would exceed the capacity, the least recently used images are removed
/// until the preferred usage is reached. The cost of an image is width × height × 4 bytes. Thread-safe.
///
/// The usage never exceeds the capacity, even temporarily. Therefore an image that is larger than the capacity is not
/// stored.
public final class AutoPurgingImageCache: ImageCache {
    /// The largest total cost of the images, in bytes.
    public let memoryCapacity: Int
    /// The largest total cost of the images after a purge, in bytes.
    public let preferredUsageAfterPurge: Int

    private let images = Lock(RecencyList<ImageKey, Image>())
    private let pressure = Lock<MemoryPressure?>(nil)

    /// Creates a cache. By default, its capacity is 100 MiB, and a purge reduces the usage to 60 MiB.
    ///
    /// If the preferred usage is larger than the capacity, the capacity is used instead.
    public init(memoryCapacity: Int = 100 << 20, preferredUsageAfterPurge: Int = 60 << 20) {
        self.memoryCapacity = max(0, memoryCapacity)
        self.preferredUsageAfterPurge = min(max(0, preferredUsageAfterPurge), self.memoryCapacity)
    }

    /// The current total cost of the images, in bytes.
    public var memoryUsage: Int { images.withLock { $0.cost } }

    /// The number of images.
    public var count: Int { images.withLock { $0.count } }

    /// Returns the image for a key, and marks it as the most recently used.
    public func image(for key: ImageKey) -> Image? {
        images.withLock { $0.use(key) }
    }

    /// Stores an image, and replaces an existing one with the same key. If necessary, other images are removed first.
    public func insert(_ image: Image, for key: ImageKey) {
        images.withLock { images in
            images.remove(key)
            if image.byteCount > memoryCapacity {
                return
            }
            if images.cost + image.byteCount > memoryCapacity {
                // The new image counts towards the preferred usage, but is itself not removed.
                let remainingUsage = max(0, preferredUsageAfterPurge - image.byteCount)
                while images.cost > remainingUsage, images.removeOldest() {}
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

    /// Makes the cache remove all images whenever the system is short of memory.
    ///
    /// Throws `NetError.Code.unsupported` if the system does not report memory pressure; see ``MemoryPressure``.
    public func emptyUnderMemoryPressure(
        path: String? = nil, stall: Duration = .milliseconds(100)
    ) throws(NetError) {
        let watch = try MemoryPressure(path: path, stall: stall) { [weak self] in self?.removeAll() }
        // The previous monitor is deallocated outside the lock.
        let previous = pressure.withLock { current in
            defer { current = watch }
            return current
        }
        _ = previous
    }
}
#endif
