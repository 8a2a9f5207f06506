/// How far calls are: one call's upload and download apart, or what many do together, as a tree.
///
///     let whole = CallProgress()
///     agent.start(photo, options: .init(tracking: whole.part(weight: 9)))
///     agent.start(caption, options: .init(tracking: whole.part()))
///     for await now in whole.updates { show(now.fractionCompleted, now.timeLeft) }
///
/// One that is given to a start (``StartOptions/tracking``) follows it to its end, and ``cancel()``, ``pause()`` and
/// ``resume()`` do so to the start, or to all parts. A batch or a chain that is started has a part for each of its
/// requests. One is for one start. What is done to it before the start counts for it. Thread-safe.
public final class CallProgress: Sendable {
    /// Bytes one way.
    public struct Way: Sendable, Hashable {
        /// Bytes that have moved.
        public var completed = 0
        /// Bytes to move; nil when nobody knows.
        public var total: Int?
        /// Bytes a second, smoothed over the last seconds.
        public var bytesPerSecond = 0

        /// So far.
        public init(completed: Int = 0, total: Int? = nil, bytesPerSecond: Int = 0) {
            self.completed = completed
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }

        /// From 0 to 1; nil when nobody knows the total, or it is 0.
        public var fractionCompleted: Double? {
            total.flatMap { $0 > 0 ? min(1, Double(completed) / Double($0)) : nil }
        }

        /// The time left at this rate; nil when nobody knows.
        public var timeLeft: Duration? {
            guard let total else { return nil }
            if completed >= total {
                return .zero
            }
            return bytesPerSecond > 0 ? .seconds(Double(total - completed) / Double(bytesPerSecond)) : nil
        }
    }

    /// How far it was at one moment.
    public struct Snapshot: Sendable, Hashable {
        /// Bytes of requests' bodies.
        public var upload = Way()
        /// Bytes of responses' bodies, as they are on the wire.
        public var download = Way()
        /// What is done of what is to do, from 0 to 1; nil when nobody knows. Of parts it is what each has done, by their
        /// weights; one that is over counts as done, however it ended, and one that nobody knows of as not begun.
        public var fractionCompleted: Double?
        /// Parts that are over, those that failed among them, and parts in all; of one call that is 1.
        public var parts = BatchProgress()
        /// Whether it was held up.
        public var isPaused = false
        /// Whether it was cancelled.
        public var isCancelled = false
        /// Whether all is over.
        public var isOver = false

        /// Bytes a second, both ways.
        public var bytesPerSecond: Int { upload.bytesPerSecond.addingSaturated(download.bytesPerSecond) }

        /// The time left at this rate; nil when nobody knows.
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
        /// Nil when nobody said.
        var isFailed: Bool?
        // Those who read, and what they are to be told.
        var readers: [Int: AsyncStream<Snapshot>.Continuation] = [:]
        var lastReader = 0
        var isTelling = false
        var hasNews = false
    }

    private let time: TimeSource
    private let state = Lock(State())

    /// Of nothing yet.
    ///
    /// - Parameters:
    ///   - parts: as many parts will come at least; it is not over before.
    ///   - time: tells the time.
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

    /// How far it is now.
    public var current: Snapshot {
        let now = time.now()
        let state = self.state.withLock { $0 }
        let own = state.own(at: now)
        guard !state.parts.isEmpty || state.expected > 0 else { return own }
        var sum = Self.sum(own, state.parts.map { ($0.progress.current, $0.weight) }, expected: state.expected)
        // What follows a start is over with it, and parts that nobody started together when all are.
        if !state.isBound, sum.parts.finished == sum.parts.total {
            sum.isOver = true
        }
        sum.parts.isOver = sum.isOver
        return sum
    }

    /// How far it is, now and whenever that changes: the newest word alone is kept for each reader. It ends with the last
    /// word, in which all is over, or when this is let go.
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

    // MARK: Reins

    /// Cancels what it follows, or will follow, and all parts.
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

    /// Holds up what it follows, or will follow, and all parts.
    public func pause() { setPaused(true) }

    /// Lets it go on.
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

    // MARK: What it follows

    /// A part of it; one that weighs twice as much counts twice as much.
    ///
    /// - Parameter weight: more than 0; anything else is 1.
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

    /// Takes what a transfer tells: a handler for ``Request/progress``, where nothing is started.
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

    /// So many parts will come, each of weight 1.
    func expect(_ count: Int) {
        state.withLock { $0.expected = max(0, count) }
        tell()
    }

    /// Adds itself to those that a request tells.
    func watch<Value>(_ request: inout Request<Value>) {
        request.progress = { [own = request.progress, weak self] progress in
            own?(progress)
            if !progress.isOver {
                self?.take(progress)
            }
        }
    }

    /// What is done to it is done to this start.
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

    /// The start that it follows is over.
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

    // MARK: Telling

    /// One thread tells at a time, until there is no news: so the last word is the newest.
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
    /// What is known without parts.
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
