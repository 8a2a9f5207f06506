/// Watches how the internet, or one host, is reached, and tells every change once.
///
///     let reachability = Reachability()
///     if reachability.isReachable { … }                       // known at once
///     for await state in reachability { … }                   // the state now, then every change
///     let watch = reachability.watch { state in … }           // the same by a closure
///
/// Nothing is sent and nothing is polled: the system's links, addresses and routes tell whether a way begins here, not
/// whether anybody answers at its end. It needs no privileges; where the system does not tell, the state is
/// ``PathState/Status/unknown`` and ``failure`` says why. Whatever waits for states ends when it is let go. Thread-safe.
public final class Reachability: Sendable {
    private let source: any PathSource
    private let monitor: PathMonitor?
    let board = PathBoard()
    let observers = Lock<[ObjectIdentifier: Int]>([:])

    /// Watches the way to the internet, or to a host: a name or a numeric address.
    ///
    /// A name is looked up by the system, at the beginning and after changes; until there is an answer, and when there
    /// is none, the way to the internet counts.
    public convenience init(host: String? = nil) {
        let monitor = PathMonitor(host: host ?? "")
        self.init(monitor, monitor)
    }

    /// Tells what another source tells, such as a test's.
    public convenience init(_ source: any PathSource) {
        self.init(source, nil)
    }

    private init(_ source: any PathSource, _ monitor: PathMonitor?) {
        self.source = source
        self.monitor = monitor
        source.start { [board] state in board.update(state) }
    }

    deinit {
        source.stop()
        board.close()
    }

    /// The state now.
    public var state: PathState { board.state }

    /// Whether there is a way, and what it may cost.
    public var status: PathState.Status { state.status }

    /// Whether there is a way; false while nobody knows.
    public var isReachable: Bool { state.isReachable }

    /// Whether the way is over a modem.
    public var isReachableViaCellular: Bool { status == .viaCellular }

    /// Whether the way is over anything but a modem.
    public var isReachableViaWiFiOrWired: Bool { status == .viaWiFiOrWired }

    /// Why the system tells nothing; nil when it does.
    public var failure: NetError? { monitor?.failure }

    /// How a host, a name or a numeric address, is reached now. For a name it waits for the system's resolver.
    public func state(of host: String) async -> PathState {
        await source.state(of: host)
    }

    /// What watches the way to one host; a source other than the system tells of all hosts alike.
    func focused(on host: String) -> Reachability {
        monitor == nil ? self : Reachability(host: host)
    }

    /// Waits until there is a way. Throws ``NetError/Code/cancelled`` when the task is cancelled first.
    public func waitUntilReachable() async throws(NetError) {
        try await wait { $0.isReachable }
    }

    /// Waits for a state. Throws ``NetError/Code/cancelled`` when the task is cancelled first.
    func wait(
        for limit: Duration? = nil, time: TimeSource = .system,
        until isWanted: @escaping @Sendable (PathState) -> Bool
    ) async throws(NetError) {
        let promise = Promise<Void>()
        let watch = self.watch { state in
            if isWanted(state) {
                promise.fulfil(.success(()))
            }
        }
        let alarm = limit.map { limit in
            Task {
                try await time.sleep(limit)
                promise.fulfil(.failure(NetError(.totalTimedOut, "there was no way to the network in time")))
            }
        }
        defer {
            alarm?.cancel()
            watch.cancel()
        }
        try await promise.value()
    }
}
