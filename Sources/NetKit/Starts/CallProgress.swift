/// The progress of a call, with upload and download separate, or of many calls as a tree.
///
///     let whole = CallProgress()
///     agent.start(photo, options: .init(tracking: whole.part(weight: 9)))
///     agent.start(caption, options: .init(tracking: whole.part()))
///     for await now in whole.updates { show(now.fractionCompleted, now.timeLeft) }
///
/// Pass it to a task (``StartOptions/tracking``) to follow that task to its end. ``cancel()``, ``pause()`` and
/// ``resume()`` then control the task, or all parts. A batch or a chain gets one part for each of its requests. A
/// progress follows one task only. A cancellation or pause before the start applies when the task starts. Thread-safe.
public final class CallProgress: Sendable {
    /// The bytes in one direction.
    public struct Way: Sendable, Hashable {
        /// The number of transferred bytes.
        public var completed = 0
        /// The number of bytes to transfer, or `nil` if it is unknown.
        public var total: Int?
        /// Bytes per second, smoothed over the last seconds.
        public var bytesPerSecond = 0

        /// Creates the progress of one direction.
        public init(completed: Int = 0, total: Int? = nil, bytesPerSecond: Int = 0) {
            self.completed = completed
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }

        /// The transferred fraction, from 0 to 1. `nil` if the total is unknown or 0.
        public var fractionCompleted: Double? {
            total.flatMap { $0 > 0 ? min(1, Double(completed) / Double($0)) : nil }
        }

        /// The remaining time at this rate, or `nil` if it is unknown.
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
        /// The completed fraction, from 0 to 1, or `nil` if it is unknown. With parts it is the weighted mean of their
        /// fractions. A part that has ended counts as complete even if it failed. A part with an unknown fraction
        /// counts as 0.
        public var fractionCompleted: Double?
        /// The ended parts, the failed ones and the total. A single call has one part.
        public var parts = BatchProgress()
        /// Whether it was paused.
        public var isPaused = false
        /// Whether it was cancelled.
        public var isCancelled = false
        /// Whether everything has ended.
        public var isOver = false

        /// Bytes per second in both directions.
        public var bytesPerSecond: Int { upload.bytesPerSecond.addingSaturated(download.bytesPerSecond) }

        /// The remaining time at this rate, or `nil` if it is unknown.
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
        var control: RunControl?
        var isBound = false
        var isPaused = false
        var isCancelled = false
        var isOver = false
        /// Whether it failed, or `nil` before its end.
        var isFailed: Bool?
        // The readers' streams.
        var readers: [Int: AsyncStream<Snapshot>.Continuation] = [:]
        var lastReader = 0
        var isTelling = false
        var hasNews = false
    }

    private let time: TimeSource
    private let state = Lock(State())

    /// Creates a progress without a task.
    ///
    /// - Parameters:
    ///   - parts: the smallest number of parts; the progress does not end before they have been added.
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
        // The progress of a task ends with the task. Parts without a common task end it when all of them have ended.
        if !state.isBound, sum.parts.finished == sum.parts.total {
            sum.isOver = true
        }
        sum.parts.isOver = sum.isOver
        return sum
    }

    /// The progress now and after each change. Each reader gets only the newest value. The stream ends with the last
    /// value, or when the progress is deallocated.
    public var updates: AsyncStream<Snapshot> {
        let (updates, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            return state.lastReader
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
        }
        tell()
        return updates
    }

    // MARK: Control

    /// Cancels the current or later task, and all parts.
    public func cancel() {
        let (control, parts) = state.withLock { state in
            state.isCancelled = true
            return (state.control, state.parts)
        }
        control?.cancel()
        for part in parts {
            part.progress.cancel()
        }
        tell()
    }

    /// Pauses the current or later task, and all parts.
    public func pause() { setPaused(true) }

    /// Resumes after ``pause()``.
    public func resume() { setPaused(false) }

    private func setPaused(_ isPaused: Bool) {
        let now = time.now()
        let (control, parts) = state.withLock { state in
            state.isPaused = isPaused
            state.sending.rest(until: now)
            state.receiving.rest(until: now)
            return (state.control, state.parts)
        }
        control?.setPaused(isPaused)
        for part in parts {
            part.progress.setPaused(isPaused)
        }
        tell()
    }

    // MARK: The followed task

    /// Adds a part. A part with twice the weight counts twice.
    ///
    /// - Parameter weight: more than 0; other values are treated as 1.
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
        tell()
        return part
    }

    /// Records a transfer's progress. Use it as ``Request/progress`` of a request that is sent without a task.
    public func take(_ progress: TransferProgress) {
        if progress.isOver {
            return end(isFailed: nil)
        }
        let now = time.now()
        state.withLock { state in
            guard !state.isOver else { return }
            state.transfer = progress
            state.sending.note(progress.sent, at: now)
            state.receiving.note(progress.received, at: now)
        }
        tell()
    }

    /// Announces this number of parts, each of weight 1.
    func expect(_ count: Int) {
        state.withLock { $0.expected = max(0, count) }
        tell()
    }

    /// Adds itself to the progress handlers of a request.
    func watch<Value>(_ request: inout Request<Value>) {
        request.progress = { [own = request.progress, weak self] progress in
            own?(progress)
            if !progress.isOver {
                self?.take(progress)
            }
        }
    }

    /// Follows this task: cancels and pauses it with this progress.
    func follow(_ control: RunControl) {
        let now = time.now()
        let (isPaused, isCancelled) = state.withLock { state in
            state.control = control
            state.isBound = true
            state.sending.rest(until: now)
            state.receiving.rest(until: now)
            return (state.isPaused, state.isCancelled)
        }
        if isCancelled {
            control.cancel()
        }
        if isPaused {
            control.setPaused(true)
        }
    }

    /// Ends the progress with the task's outcome.
    func ended<Value>(_ outcome: Result<Value, NetError>) {
        if case .failure = outcome {
            end(isFailed: true)
        } else {
            end(isFailed: false)
        }
    }

    private func end(isFailed: Bool?) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            state.control = nil
            state.isFailed = isFailed
            if isFailed == false {
                state.transfer.sendTotal = state.transfer.sent
                state.transfer.receiveTotal = state.transfer.received
            }
            state.expected = state.parts.count
        }
        tell()
    }

    // MARK: Notification

    /// Only one thread reports at a time, until there are no changes. So the last report is the newest.
    private func tell() {
        var mayTell = state.withLock { state in
            state.hasNews = true
            defer { state.isTelling = true }
            return !state.isTelling
        }
        while mayTell {
            let readers = state.withLock { state -> [AsyncStream<Snapshot>.Continuation]? in
                guard state.hasNews else {
                    state.isTelling = false
                    return nil
                }
                state.hasNews = false
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
            mayTell = readers != nil
        }
        state.withLock { $0.parent }?.tell()
    }
}

extension CallProgress.State {
    /// The progress without parts.
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
        snapshot.isPaused = control.map { $0.run.isPaused } ?? isPaused
        snapshot.isCancelled = isCancelled || control?.isCancelled == true
        snapshot.isOver = isOver
        return snapshot
    }
}
