#if Images
public import NetKit

/// Loads images. Callers that request the same image share one transfer, and the number of concurrent transfers is
/// limited.
///
///     let downloader = ImageDownloader(agent: agent)
///     let image = try await downloader.image(ImageRequest("https://example.com/a.png")).image
///
/// Two requests are for the same image if their URL, header fields and decoding options are equal. Thread-safe.
public final class ImageDownloader: Sendable {
    /// The order in which waiting transfers with equal priority start.
    public enum Order: Sendable {
        /// The oldest first.
        case firstInFirstOut
        /// The newest first.
        case lastInFirstOut
    }

    /// The agent that sends the requests.
    public let agent: Agent
    /// The cache of images, or `nil` for none.
    public let cache: (any ImageCache)?
    /// The largest number of concurrent transfers.
    public let maxActive: Int

    private let queue: Lock<ImageQueue>

    /// Creates a downloader. By default, it has a cache of its own.
    ///
    /// - Parameters:
    ///   - agent: the agent that sends the requests.
    ///   - cache: the cache of images, or `nil` for none.
    ///   - maxActive: the largest number of concurrent transfers, at least 1.
    ///   - order: the order in which waiting transfers with equal priority start.
    public init(
        agent: Agent = Agent(), cache: (any ImageCache)? = AutoPurgingImageCache(), maxActive: Int = 4,
        order: Order = .firstInFirstOut
    ) {
        self.agent = agent
        self.cache = cache
        self.maxActive = max(1, maxActive)
        queue = Lock(ImageQueue(maxActive: max(1, maxActive), isLastInFirstOut: order == .lastInFirstOut))
    }

    /// The number of transfers in flight, never more than ``maxActive``.
    public var activeCount: Int { queue.withLock { $0.activeCount } }

    /// The number of waiting transfers.
    public var waitingCount: Int { queue.withLock { $0.waitingCount } }

    /// Returns an image, from the cache or from the network.
    ///
    /// If the task is cancelled, this throws `NetError.Code.cancelled`, but the transfer continues while other callers
    /// wait for it. If the task was cancelled before, nothing is sent. It also throws the errors of the transfer, and
    /// `badImage` if the body is not an image.
    public func image(_ request: ImageRequest) async throws(NetError) -> LoadedImage {
        if let cachedImage = try imageFromCache(for: request, ImageKey(request)) {
            return cachedImage
        }
        let id = queue.withLock { $0.newID() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = ImageQueue.Waiter(id: id, delivery: .continuation(continuation))
                if Task.isCancelled {
                    notify(Self.cancelledOutcome, waiter)
                    return
                }
                enqueue(request, waiter)
                // A cancellation before the waiter was added had no effect, so it is checked again.
                if Task.isCancelled {
                    cancel(ImageRequestToken(id: id))
                }
            }
        } onCancel: {
            cancel(ImageRequestToken(id: id))
        }
        return try outcome.get()
    }

    /// Loads an image and calls a closure on the main actor. If several callers share a transfer, their closures are
    /// called in the order of the requests.
    ///
    /// Returns a token for ``cancel(_:)``, or `nil` if there is nothing to cancel because the image was in the cache or
    /// the request was invalid.
    @discardableResult
    public func download(
        _ request: ImageRequest, completion: @escaping @MainActor @Sendable (Result<LoadedImage, NetError>) -> Void
    ) -> ImageRequestToken? {
        let id = queue.withLock { $0.newID() }
        let isWaiting = enqueue(request, .init(id: id, delivery: .onMain(completion)))
        return isWaiting ? ImageRequestToken(id: id) : nil
    }

    /// Cancels the request of one caller, whose closure then receives `NetError.Code.cancelled`. If no other caller
    /// waits for the image, the transfer is cancelled too. If the closure was already called, this has no effect.
    public func cancel(_ requestToken: ImageRequestToken) {
        let (waiter, task) = queue.withLock { $0.cancel(requestToken.id) }
        task?.cancel()
        if let waiter {
            notify(Self.cancelledOutcome, waiter)
        }
    }

    private static var cancelledOutcome: ImageQueue.Outcome {
        .failure(NetError(.cancelled, "cancelled: no caller waits for the image"))
    }

    // MARK: Requests

    /// Returns the cached image, if the request may use it.
    func imageFromCache(for request: ImageRequest, _ key: ImageKey) throws(NetError) -> LoadedImage? {
        if request.url.isEmpty {
            throw NetError(.badURL, "the URL of the image is empty")
        }
        guard request.cachePolicy != .reload, let image = cache?.image(for: key) else { return nil }
        return LoadedImage(image: image, response: nil)
    }

    /// Adds a waiter for an image, and starts the transfer if necessary. Returns false if the outcome was available
    /// immediately.
    @discardableResult
    private func enqueue(_ request: ImageRequest, _ waiter: ImageQueue.Waiter) -> Bool {
        let key = ImageKey(request)
        while true {
            let endedCount = queue.withLock { $0.endedCount }
            do throws(NetError) {
                if let cachedImage = try imageFromCache(for: request, key) {
                    notify(.success(cachedImage), waiter)
                    return false
                }
                if request.cachePolicy == .onlyCached {
                    throw NetError(.notCached, "the image is not in the cache")
                }
            } catch {
                notify(.failure(error), waiter)
                return false
            }
            // The cache was read outside the lock. If a transfer has ended meanwhile, the image may be in the cache
            // now, so the cache is read again.
            switch queue.withLock({ $0.add(request, key: key, waiter: waiter, endedCount: endedCount) }) {
            case .recheckCache:
                continue
            case .joined:
                return true
            case .starts(let job):
                start(job)
                return true
            }
        }
    }

    private func notify(_ outcome: ImageQueue.Outcome, _ waiter: ImageQueue.Waiter) {
        switch waiter.delivery {
        case .continuation(let continuation): continuation.resume(returning: outcome)
        case .onMain: Task { await ImageCompletion.deliver(outcome, to: [waiter]) }
        }
    }

    // MARK: Transfers

    private func start(_ job: ImageQueue.Job) {
        let task = Task { await run(job) }
        let isWanted = queue.withLock { $0.setTask(task, of: job) }
        if !isWanted {
            task.cancel()
        }
    }

    private func run(_ job: ImageQueue.Job) async {
        let outcome = await load(job)
        let (waiters, next) = queue.withLock { $0.end(job) }
        if let next {
            start(next)
        }
        await ImageCompletion.deliver(outcome, to: waiters)
    }

    /// Returns the request to send. A reload also bypasses the agent's own cache, which then stores the new response.
    private func requestToSend(_ image: ImageRequest) -> Request<Image> {
        var request = image.request
        let caching = agent.configuration.interceptors.lazy.compactMap { $0 as? Caching }.first
        if image.cachePolicy == .reload, let caching {
            request.caching = caching.rules.renewing
        }
        return request
    }

    private func load(_ job: ImageQueue.Job) async -> ImageQueue.Outcome {
        do throws(NetError) {
            let response = try await agent.send(requestToSend(job.request))
            let image = response.value
            if let cache, cache.shouldCache(image, for: job.request), queue.withLock({ $0.mayCache(job) }) {
                cache.insert(image, for: job.target.key)
            }
            return .success(LoadedImage(image: image, response: response))
        } catch {
            return .failure(error)
        }
    }
}
#endif
