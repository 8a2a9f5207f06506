public import NetKit

/// Loads images. Callers of the same image share a transfer, and the number of concurrent transfers is limited.
///
///     let downloader = ImageDownloader(agent: agent)
///     let image = try await downloader.image(ImageRequest("https://example.com/a.png")).image
///
/// Images are the same if URL, fields and decoding options are equal. Thread-safe.
public final class ImageDownloader: Sendable {
    /// The order of waiting transfers with equal priority.
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

    /// Creates a downloader, by default with a new cache.
    ///
    /// - Parameters:
    ///   - agent: sends the requests.
    ///   - cache: the cache of images, or `nil` for none.
    ///   - maxActive: the largest number of concurrent transfers, at least 1.
    ///   - order: the order of waiting transfers.
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

    /// Returns an image.
    ///
    /// Cancelling the task ends this caller's wait with `NetError.Code.cancelled`. The transfer continues while other
    /// callers wait for it. If the task was already cancelled, nothing is sent. Throws the errors of the transfer, and
    /// `badImage` if the body is not an image.
    public func image(_ request: ImageRequest) async throws(NetError) -> LoadedImage {
        if let kept = try keptImage(for: request, ImageKey(request)) {
            return kept
        }
        let id = queue.withLock { $0.newID() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = ImageQueue.Waiter(id: id, delivery: .continuation(continuation))
                if Task.isCancelled {
                    tell(Self.givenUp, waiter)
                    return
                }
                ask(request, waiter)
                // A cancellation before the waiter was added had no effect.
                if Task.isCancelled {
                    cancel(ImageReceipt(id: id))
                }
            }
        } onCancel: {
            cancel(ImageReceipt(id: id))
        }
        return try outcome.get()
    }

    /// Loads an image and calls a closure on the main actor. The callers of one transfer are called in the order of
    /// their requests.
    ///
    /// Returns `nil` if there is nothing to cancel: the image was in the cache, or the request was invalid.
    @discardableResult
    public func download(
        _ request: ImageRequest, completion: @escaping @MainActor @Sendable (Result<LoadedImage, NetError>) -> Void
    ) -> ImageReceipt? {
        let id = queue.withLock { $0.newID() }
        let isWaiting = ask(request, .init(id: id, delivery: .onMain(completion)))
        return isWaiting ? ImageReceipt(id: id) : nil
    }

    /// Cancels one caller's wait, whose closure receives `NetError.Code.cancelled`. Without other callers the transfer
    /// is cancelled. A receipt that has already been served is ignored.
    public func cancel(_ receipt: ImageReceipt) {
        let (waiter, task) = queue.withLock { $0.cancel(receipt.id) }
        task?.cancel()
        if let waiter {
            tell(Self.givenUp, waiter)
        }
    }

    private static var givenUp: ImageQueue.Outcome {
        .failure(NetError(.cancelled, "the image was not waited for"))
    }

    // MARK: Requests

    /// Returns the cached image, if the request may use it.
    func keptImage(for request: ImageRequest, _ key: ImageKey) throws(NetError) -> LoadedImage? {
        if request.url.isEmpty {
            throw NetError(.badURL, "the URL of the image is empty")
        }
        guard request.cachePolicy != .reload, let image = cache?.image(for: key) else { return nil }
        return LoadedImage(image: image, response: nil)
    }

    /// Returns false if the result is already available.
    @discardableResult
    private func ask(_ request: ImageRequest, _ waiter: ImageQueue.Waiter) -> Bool {
        let key = ImageKey(request)
        while true {
            let endedCount = queue.withLock { $0.endedCount }
            do throws(NetError) {
                if let kept = try keptImage(for: request, key) {
                    tell(.success(kept), waiter)
                    return false
                }
                if request.cachePolicy == .onlyCached {
                    throw NetError(.notCached, "the image is not in the cache")
                }
            } catch {
                tell(.failure(error), waiter)
                return false
            }
            // The cache is read outside the lock; a transfer that ended meanwhile may have filled it.
            switch queue.withLock({ $0.ask(request, key: key, waiter: waiter, endedCount: endedCount) }) {
            case .askCacheAgain:
                continue
            case .joined:
                return true
            case .starts(let job):
                start(job)
                return true
            }
        }
    }

    private func tell(_ outcome: ImageQueue.Outcome, _ waiter: ImageQueue.Waiter) {
        switch waiter.delivery {
        case .continuation(let continuation): continuation.resume(returning: outcome)
        case .onMain: Task { await ImageDelivery.deliver(outcome, to: [waiter]) }
        }
    }

    // MARK: Transfers

    private func start(_ job: ImageQueue.Job) {
        let task = Task { await run(job) }
        let isWanted = queue.withLock { $0.keep(task, of: job) }
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
        await ImageDelivery.deliver(outcome, to: waiters)
    }

    /// Returns the request to send. A reload also bypasses the agent's own cache, and stores its response there.
    private func sent(_ image: ImageRequest) -> Request<Image> {
        var request = image.request
        let caching = agent.configuration.interceptors.lazy.compactMap { $0 as? Caching }.first
        if image.cachePolicy == .reload, let caching {
            request.caching = caching.rules.renewing
        }
        return request
    }

    private func load(_ job: ImageQueue.Job) async -> ImageQueue.Outcome {
        do throws(NetError) {
            let response = try await agent.send(sent(job.request))
            let image = response.value
            if let cache, cache.shouldCache(image, for: job.request), queue.withLock({ $0.takeForKeeping(job) }) {
                cache.insert(image, for: job.target.key)
            }
            return .success(LoadedImage(image: image, response: response))
        } catch {
            return .failure(error)
        }
    }
}
