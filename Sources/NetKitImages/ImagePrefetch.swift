import NetKit

/// Loads images into the cache before they are needed. ``cancel()`` ends it; deallocating it does not.
public final class ImagePrefetch: Sendable {
    /// The progress of a prefetch.
    public struct Progress: Sendable, Hashable {
        /// The number of different images in the list.
        public var total: Int
        /// The number of images that are in the cache.
        public var loaded = 0
        /// The number of images that failed.
        public var failed = 0
    }

    private let state: Lock<Progress>
    private let task: Task<Void, Never>

    init(_ requests: [ImageRequest], by downloader: ImageDownloader) {
        var seen: Set<ImageKey> = []
        let different = requests.filter { seen.insert(ImageKey($0)).inserted }
        let state = Lock(Progress(total: different.count))
        self.state = state
        task = Task {
            await withTaskGroup(of: Bool.self) { group in
                for request in different {
                    group.addTask { (try? await downloader.image(request)) != nil }
                }
                for await isLoaded in group {
                    state.withLock { progress in
                        progress.loaded += isLoaded ? 1 : 0
                        progress.failed += isLoaded ? 0 : 1
                    }
                }
            }
        }
    }

    /// The current progress.
    public var progress: Progress { state.withLock { $0 } }

    /// Waits until all images are loaded or have failed.
    public func finish() async -> Progress {
        await task.value
        return progress
    }

    /// Loads no further images. Transfers with other callers continue.
    public func cancel() {
        task.cancel()
    }
}

extension ImageDownloader {
    /// Loads images into the cache with low priority.
    @discardableResult
    public func prefetch(_ requests: [ImageRequest]) -> ImagePrefetch {
        ImagePrefetch(
            requests.map { request in
                var request = request
                request.priority = .low
                return request
            }, by: self)
    }
}
