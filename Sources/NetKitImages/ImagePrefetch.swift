#if Images
import NetKit

/// Loads images into the cache before they are needed. Deallocating the object does not stop the loading; ``cancel()``
/// does.
public final class ImagePrefetch: Sendable {
    /// The progress of a prefetch.
    public struct Progress: Sendable, Hashable {
        /// The number of different images in the list.
        public var total: Int
        /// The number of images that were loaded, or were in the cache already.
        public var loaded = 0
        /// The number of images that failed.
        public var failed = 0
    }

    private let state: Lock<Progress>
    private let task: Task<Void, Never>

    init(_ requests: [ImageRequest], by downloader: ImageDownloader) {
        var seen: Set<ImageKey> = []
        let uniqueRequests = requests.filter { seen.insert(ImageKey($0)).inserted }
        let state = Lock(Progress(total: uniqueRequests.count))
        self.state = state
        task = Task {
            await withTaskGroup(of: Bool.self) { group in
                for request in uniqueRequests {
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

    /// Stops loading images. Transfers for which other callers wait continue.
    public func cancel() {
        task.cancel()
    }
}

extension ImageDownloader {
    /// Loads images into the cache in the background, with low priority.
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
#endif
