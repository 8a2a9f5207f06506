public import NetKit

/// The progress of one call, or of many calls as a tree of parts. Upload and download are reported separately.
///
///     let whole = CallProgress()
///     agent.start(photo, options: .init(tracking: whole.part(weight: 9)))
///     agent.start(caption, options: .init(tracking: whole.part()))
///     for await now in whole.updates { show(now.fractionCompleted, now.timeLeft) }
///
/// To follow a task to its end, pass the progress in `StartOptions.tracking`. ``cancel()``, ``pause()`` and
/// ``resume()`` then control that task, or all parts. If the progress was cancelled or paused before the task starts,
/// that applies when the task starts.
///
/// A batch or a chain adds one part for each of its requests. A progress can follow one task only. Thread-safe.
public final class CallProgress: Sendable {
    /// The bytes in one direction.
    public struct Way: Sendable, Hashable {
        /// The number of transferred bytes.
        public var completed = 0
        /// The number of bytes to transfer, or `nil` if it is unknown.
        public var total: Int?
        /// Bytes per second, smoothed over the last seconds.
        public var bytesPerSecond = 0

        init(completed: Int = 0, total: Int? = nil, bytesPerSecond: Int = 0) {
            self.completed = completed
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }

        /// The transferred fraction, from 0 to 1. `nil` if the total is unknown or 0.
        public var fractionCompleted: Double? {
            total.flatMap { $0 > 0 ? min(1, Double(completed) / Double($0)) : nil }
        }

        /// The remaining time at the current rate, or `nil` if it is unknown.
        public var timeLeft: Duration? {
            guard let total else { return nil }
            if completed >= total {
                return .zero
            }
            return bytesPerSecond > 0 ? .seconds(Double(total - completed) / Double(bytesPerSecond)) : nil
        }
    }

    /// The progress at one moment.
    public struct Snapshot: Sendable, Hashable {
        /// Bytes of request bodies.
        public var upload = Way()
        /// Bytes of response bodies, as sent on the wire.
        public var download = Way()
        /// The completed fraction, from 0 to 1, or `nil` if it is unknown.
        ///
        /// If there are parts, it is the weighted mean of their fractions. A part that has ended counts as complete
        /// even if it failed. A part with an unknown fraction counts as 0.
        public var fractionCompleted: Double?
        /// The numbers of ended, failed and all parts. A single call counts as one part.
        public var parts = BatchProgress()
        /// Whether the task is paused.
        public var isPaused = false
        /// Whether the task was cancelled.
        public var isCancelled = false
        /// Whether the task and all parts have ended.
        public var isOver = false

        /// Bytes per second in both directions.
        public var bytesPerSecond: Int { upload.bytesPerSecond.addingSaturated(download.bytesPerSecond) }

        /// The remaining time at the current rates, or `nil` if it is unknown.
        public var timeLeft: Duration? {
            guard let sending = upload.timeLeft, let receiving = download.timeLeft else { return nil }
            return sending + receiving
        }
    }

    fileprivate struct Part: Sendable {
        let progress: CallProgress
        let weight: Double
    }

    fileprivate struct State: Sendable {
        var transfer = TransferProgress()
        var sending = ByteRate()
        var receiving = ByteRate()
        var parts: [Part] = []
        var expected = 0
        weak var parent: CallProgress?
        /// The followed task, until its end.
        var handle: CallHandle<Void>?
        var isBound = false
        var isPaused = false
        var isCancelled = false
        var isOver = false
        /// Whether the task failed; `nil` before its end.
        var isFailed: Bool?
        // The streams of ``updates``, by number.
        var readers: [Int: AsyncStream<Snapshot>.Continuation] = [:]
        var lastReaderNumber = 0
        var isNotifying = false
        var hasChanges = false
    }

    private let time: TimeSource
    private let state = Lock(State())

    /// Creates a progress without a task.
    ///
    /// - Parameters:
    ///   - parts: the smallest number of parts. The progress does not end before they have been added.
    ///   - time: the source of time.
    public init(parts: Int = 0, time: TimeSource = .system) {
        self.time = time
        expect(parts)
    }

    deinit {
        for reader in state.withLock({ $0.readers.values.map(\.self) }) {
            reader.finish()
        }
    }

    // MARK: Reading

    /// The current progress.
    public var current: Snapshot {
        let now = time.now()
        let state = self.state.withLock { $0 }
        let own = state.own(at: now)
        guard !state.parts.isEmpty || state.expected > 0 else { return own }
        var sum = Self.sum(own, state.parts.map { ($0.progress.current, $0.weight) }, expected: state.expected)
        // A progress that follows a task ends with the task. Otherwise it ends when all parts have ended.
        if !state.isBound, sum.parts.finished == sum.parts.total {
            sum.isOver = true
        }
        sum.parts.isOver = sum.isOver
        return sum
    }

    /// The current progress, and the progress after each change. Values that a reader does not read in time are
    /// dropped, except the newest. The stream ends after the last value, or when the progress is deallocated.
    public var updates: AsyncStream<Snapshot> {
        let (updates, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastReaderNumber += 1
            state.readers[state.lastReaderNumber] = continuation
            return state.lastReaderNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
        }
        notifyReaders()
        return updates
    }

    // MARK: Control

    /// Cancels the followed task, now or when it starts, and all parts.
    public func cancel() {
        let (handle, parts) = state.withLock { state in
            state.isCancelled = true
            return (state.handle, state.parts)
        }
        handle?.cancel()
        for part in parts {
            part.progress.cancel()
        }
        notifyReaders()
    }

    /// Pauses the followed task, now or when it starts, and all parts.
    public func pause() { setPaused(true) }

    /// Resumes after ``pause()``.
    public func resume() { setPaused(false) }

    private func setPaused(_ isPaused: Bool) {
        let now = time.now()
        let (handle, parts) = state.withLock { state in
            state.isPaused = isPaused
            state.sending.excludePause(until: now)
            state.receiving.excludePause(until: now)
            return (state.handle, state.parts)
        }
        if isPaused {
            handle?.pause()
        } else {
            handle?.resume()
        }
        for part in parts {
            part.progress.setPaused(isPaused)
        }
        notifyReaders()
    }

    // MARK: The followed task

    /// Adds a part and returns it.
    ///
    /// - Parameter weight: the share of the part in ``Snapshot/fractionCompleted``, relative to the other parts. It
    ///   must be more than 0; other values are treated as 1.
    public func part(weight: Double = 1) -> CallProgress {
        let part = CallProgress(time: time)
        let isUsable = weight > 0 && weight.isFinite
        part.state.withLock { $0.parent = self }
        let (isPaused, isCancelled) = state.withLock { state in
            state.parts.append(Part(progress: part, weight: isUsable ? weight : 1))
            return (state.isPaused, state.isCancelled)
        }
        if isCancelled {
            part.cancel()
        }
        if isPaused {
            part.pause()
        }
        notifyReaders()
        return part
    }

    /// Records the progress of a transfer. For a request that is sent without a task, use this function as its
    /// `progress` handler.
    public func take(_ progress: TransferProgress) {
        if progress.isOver {
            return end(isFailed: nil)
        }
        let now = time.now()
        state.withLock { state in
            guard !state.isOver else { return }
            state.transfer = progress
            state.sending.record(progress.sent, at: now)
            state.receiving.record(progress.received, at: now)
        }
        notifyReaders()
    }

    /// Sets the number of parts that will be added. Parts that are not added yet count with weight 1.
    func expect(_ count: Int) {
        state.withLock { $0.expected = max(0, count) }
        notifyReaders()
    }

    /// Follows a task, so that ``cancel()``, ``pause()`` and ``resume()`` control it.
    func follow(_ handle: CallHandle<Void>) {
        let now = time.now()
        let (isPaused, isCancelled) = state.withLock { state in
            state.handle = handle
            state.isBound = true
            state.sending.excludePause(until: now)
            state.receiving.excludePause(until: now)
            return (state.isPaused, state.isCancelled)
        }
        if isCancelled {
            handle.cancel()
        }
        if isPaused {
            handle.pause()
        }
    }

    /// Ends the progress. `isFailed` is `nil` if the outcome is unknown.
    func end(isFailed: Bool?) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            state.handle = nil
            state.isFailed = isFailed
            if isFailed == false {
                state.transfer.sendTotal = state.transfer.sent
                state.transfer.receiveTotal = state.transfer.received
            }
            state.expected = state.parts.count
        }
        notifyReaders()
    }

    // MARK: Notification

    /// Sends the current progress to all readers. Only one thread does this at a time, and it repeats until there are
    /// no more changes, so that the last value sent is the newest.
    private func notifyReaders() {
        var mayReport = state.withLock { state in
            state.hasChanges = true
            defer { state.isNotifying = true }
            return !state.isNotifying
        }
        while mayReport {
            let readers = state.withLock { state -> [AsyncStream<Snapshot>.Continuation]? in
                guard state.hasChanges else {
                    state.isNotifying = false
                    return nil
                }
                state.hasChanges = false
                return Array(state.readers.values)
            }
            if let readers, !readers.isEmpty {
                let snapshot = current
                for reader in readers {
                    reader.yield(snapshot)
                    if snapshot.isOver {
                        reader.finish()
                    }
                }
            }
            mayReport = readers != nil
        }
        state.withLock { $0.parent }?.notifyReaders()
    }
}

extension CallProgress.State {
    /// Returns the progress of the followed task, without parts.
    fileprivate func own(at now: Duration) -> CallProgress.Snapshot {
        var snapshot = CallProgress.Snapshot()
        let rates = isOver || isPaused ? (0, 0) : (sending.bytesPerSecond(at: now), receiving.bytesPerSecond(at: now))
        snapshot.upload = .init(completed: transfer.sent, total: transfer.sendTotal, bytesPerSecond: rates.0)
        snapshot.download = .init(completed: transfer.received, total: transfer.receiveTotal, bytesPerSecond: rates.1)
        snapshot.fractionCompleted = isOver && isFailed == false ? 1 : transfer.fractionCompleted
        snapshot.parts.total = 1
        snapshot.parts.finished = isOver ? 1 : 0
        snapshot.parts.failed = isOver && isFailed == true ? 1 : 0
        snapshot.parts.isOver = isOver
        snapshot.isPaused = handle?.task.isPaused ?? isPaused
        snapshot.isCancelled = isCancelled || handle?.isCancelled == true
        snapshot.isOver = isOver
        return snapshot
    }
}
