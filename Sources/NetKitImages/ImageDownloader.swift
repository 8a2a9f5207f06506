public import NetKit

/// Gets images: those who ask for the same one share a transfer, a few run at once, and the others wait in line.
///
///     let downloader = ImageDownloader(agent: agent)
///     let image = try await downloader.image(ImageRequest("https://example.com/a.png")).image
///
/// The same one is the same URL with the same fields, decoded the same way. Thread-safe.
public final class ImageDownloader: Sendable {
    /// Which of those of one priority that wait goes first.
    public enum Order: Sendable {
        /// The one that came first.
        case firstInFirstOut
        /// The one that came last.
        case lastInFirstOut
    }

    /// What sends.
    public let agent: Agent
    /// Where images are kept; nil keeps none.
    public let cache: (any ImageCache)?
    /// How many transfers run at once, at most.
    public let maxActive: Int

    private let queue: Lock<ImageQueue>

    /// A downloader with a cache of its own, unless another one is given.
    ///
    /// - Parameters:
    ///   - agent: what sends.
    ///   - cache: where images are kept; nil keeps none.
    ///   - maxActive: how many transfers run at once; less than 1 is 1.
    ///   - order: which of those that wait goes first.
    public init(
        agent: Agent = Agent(), cache: (any ImageCache)? = AutoPurgingImageCache(), maxActive: Int = 4,
        order: Order = .firstInFirstOut
    ) {
        self.agent = agent
        self.cache = cache
        self.maxActive = max(1, maxActive)
        queue = Lock(ImageQueue(maxActive: max(1, maxActive), isLastInFirstOut: order == .lastInFirstOut))
    }

    /// Transfers that have not ended; never more than ``maxActive``.
    public var activeCount: Int { queue.withLock { $0.activeCount } }

    /// Transfers that wait for their turn.
    public var waitingCount: Int { queue.withLock { $0.waitingCount } }

    /// Gets an image.
    ///
    /// Cancelling the task ends the wait of this caller with `NetError.Code.cancelled`; the transfer goes on while others
    /// wait for it. In a task that was cancelled before, nothing is sent. Throws what the transfer met, `badImage` for
    /// a body that is no image.
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
                // A cancel before the waiter had its place has found nobody.
                if Task.isCancelled {
                    cancel(ImageReceipt(id: id))
                }
            }
        } onCancel: {
            cancel(ImageReceipt(id: id))
        }
        return try outcome.get()
    }

    /// Gets an image and tells on the main actor; those who wait for one transfer are told in the order in which they
    /// asked.
    ///
    /// Returns nil when there is nothing to cancel: the image was in the cache, or could not be asked for.
    @discardableResult
    public func download(
        _ request: ImageRequest, completion: @escaping @MainActor @Sendable (Result<LoadedImage, NetError>) -> Void
    ) -> ImageReceipt? {
        let id = queue.withLock { $0.newID() }
        let isWaiting = ask(request, .init(id: id, delivery: .onMain(completion)))
        return isWaiting ? ImageReceipt(id: id) : nil
    }

    /// Ends the wait of one, who is told `NetError.Code.cancelled`; others go on waiting, and without others the
    /// transfer is cancelled. One who was told already is ignored.
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

    // MARK: Asking

    /// The image in the cache, where the request may take it.
    func keptImage(for request: ImageRequest, _ key: ImageKey) throws(NetError) -> LoadedImage? {
        if request.url.isEmpty {
            throw NetError(.badURL, "the URL of the image is empty")
        }
        guard request.cachePolicy != .reload, let image = cache?.image(for: key) else { return nil }
        return LoadedImage(image: image, response: nil)
    }

    /// False when the answer is there already.
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
            // The cache is not asked under the lock; a transfer that ended meanwhile may have filled it.
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

    /// A reload passes by what the agent's own cache holds, too, and leaves its answer there.
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
