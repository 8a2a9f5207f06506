/// A request's download settings: its destination, its options, and its observers.
final class DownloadPlan: Sendable {
    /// The operations on the current download.
    struct Reins: Sendable {
        let pause: @Sendable () -> Void
        let resume: @Sendable () -> Void
        let setPriority: @Sendable (Priority) -> Void
    }

    private struct State: Sendable {
        var reins: Reins?
        var isPaused = false
        var priority: Priority?
        /// Whether the attempt has ended.
        var isOver = false
        var file: SavedFile?
        var token: ResumeToken?
        var judge: Judge?
    }

    /// Decides about a response to save by its head.
    typealias Judge = @Sendable (ResponseHead) async throws(NetError) -> HeadAnswer

    let path: String
    let options: DownloadOptions
    /// Called in this order.
    let destinations: [DownloadDestination]
    private let tellEvent: (@Sendable (DownloadEvent) -> Void)?
    private let state: Lock<State>

    init(
        path: String, options: DownloadOptions, destinations: [DownloadDestination],
        tell: (@Sendable (DownloadEvent) -> Void)?, token: ResumeToken? = nil
    ) {
        state = Lock(State(token: token))
        self.path = path
        self.options = options
        self.destinations = destinations
        tellEvent = tell
    }

    func tell(_ event: DownloadEvent) {
        tellEvent?(event)
    }

    /// Called before the destinations; `nil` without one.
    var judge: Judge? {
        get { state.withLock { $0.judge } }
        set { state.withLock { $0.judge = newValue } }
    }

    /// Whether anything is called for the head.
    var isAsked: Bool { !destinations.isEmpty || judge != nil }

    /// Returns the destination, or `nil` for the path. Throws to end the transfer.
    func destination(for head: ResponseHead) async throws(NetError) -> String? {
        switch try await judge?(head) {
        case .cancel: throw NetError(.cancelled, "a hook cancelled the transfer at its head")
        case .download(""): throw NetError(.usage, "a hook sent the download to an empty path")
        case .download(let path): return path
        case .allow, .stream, nil: break
        }
        for destination in destinations {
            if let place = await destination(head) {
                return place
            }
        }
        return nil
    }

    /// Records that an attempt is about to begin: it may end before ``began(_:)`` is called.
    func begins() {
        state.withLock { state in
            state.file = nil
            state.isOver = false
        }
    }

    /// Records a running attempt, and applies earlier settings to it.
    func began(_ reins: Reins) {
        let (isPaused, priority) = state.withLock { state -> (Bool, Priority?) in
            if state.isOver {
                return (false, nil)
            }
            state.reins = reins
            state.token = nil
            return (state.isPaused, state.priority)
        }
        if isPaused {
            reins.pause()
            // Another thread has resumed it in the meantime, and its command came first.
            if !state.withLock({ $0.isPaused }) {
                reins.resume()
            }
        }
        if let priority {
            reins.setPriority(priority)
        }
    }

    /// Records the end of an attempt and its results.
    func ended(file: SavedFile?, token: ResumeToken?) {
        state.withLock { state in
            state.reins = nil
            state.isOver = true
            state.file = file
            state.token = token
        }
    }

    /// The file of the successful attempt.
    var file: SavedFile? { state.withLock { $0.file } }

    /// The resume token of the last attempt.
    var token: ResumeToken? { state.withLock { $0.token } }

    func setPaused(_ isPaused: Bool) {
        let reins = state.withLock { state in
            state.isPaused = isPaused
            return state.reins
        }
        isPaused ? reins?.pause() : reins?.resume()
    }

    func setPriority(_ priority: Priority) {
        let reins = state.withLock { state in
            state.priority = priority
            return state.reins
        }
        reins?.setPriority(priority)
    }
}

private enum DownloadNote: RequestNote {
    static let standard: DownloadPlan? = nil
}

extension Request {
    /// The download settings; `nil` for other calls.
    var download: DownloadPlan? {
        get { hasNotes ? self[DownloadNote.self] : nil }
        set { self[DownloadNote.self] = newValue }
    }
}
