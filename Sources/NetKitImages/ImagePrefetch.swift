import NetKit

/// Images that are got before anybody asks for them. Letting it go does not end it; ``cancel()`` does.
public final class ImagePrefetch: Sendable {
    /// How far it is.
    public struct Progress: Sendable, Hashable {
        /// Different images in the list.
        public var total: Int
        /// Those that are in the cache now.
        public var loaded = 0
        /// Those that could not be had.
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

    /// How far it is.
    public var progress: Progress { state.withLock { $0 } }

    /// Waits until all have come or failed.
    public func finish() async -> Progress {
        await task.value
        return progress
    }

    /// Asks for no more. Transfers that others wait for go on.
    public func cancel() {
        task.cancel()
    }
}

extension ImageDownloader {
    /// Gets images into the cache, after everything that is asked for with another priority than low.
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
