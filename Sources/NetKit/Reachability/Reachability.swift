/// Monitors the network path to the internet, or to one host, and reports each change once.
///
///     let reachability = Reachability()
///     if reachability.isReachable { … }                       // known immediately
///     for await state in reachability { … }                   // the current state, then every change
///     let watch = reachability.watch { state in … }           // the same with a closure
///
/// It sends nothing and does not poll. It reads the system's links, addresses and routes. So it knows whether a path
/// begins on this machine, but not whether the host responds. It needs no privileges. If the system does not provide
/// the information, the state is ``PathState/Status/unknown`` and ``failure`` has the reason. All waits end when it is
/// deallocated. Thread-safe.
public final class Reachability: Sendable {
    private let source: any PathSource
    private let monitor: PathMonitor?
    let board = PathBoard()
    let observers = Lock<[ObjectIdentifier: Int]>([:])

    /// Monitors the path to the internet, or to a host: a name or a numeric address.
    ///
    /// The system resolves a name at the beginning and after changes. Until there is a result, and if there is none,
    /// the path to the internet counts.
    public convenience init(host: String? = nil) {
        let monitor = PathMonitor(host: host ?? "")
        self.init(monitor, monitor)
    }

    /// Uses another source of states, such as a test's.
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

    /// The current state.
    public var state: PathState { board.state }

    /// Whether a path exists, and whether it may cost money.
    public var status: PathState.Status { state.status }

    /// Whether a path exists; false if that is unknown.
    public var isReachable: Bool { state.isReachable }

    /// Whether the path is cellular.
    public var isReachableViaCellular: Bool { status == .viaCellular }

    /// Whether the path is not cellular.
    public var isReachableViaWiFiOrWired: Bool { status == .viaWiFiOrWired }

    /// Why the system provides no information, or `nil` if it does.
    public var failure: NetError? { monitor?.failure }

    /// Returns the current path to a host: a name or a numeric address. For a name it waits for the system's resolver.
    public func state(of host: String) async -> PathState {
        await source.state(of: host)
    }

    /// Returns a reachability for one host. A source other than the system has one state for all hosts.
    func focused(on host: String) -> Reachability {
        monitor == nil ? self : Reachability(host: host)
    }

    /// Waits until a path exists. Throws ``NetError/Code/cancelled`` if the task is cancelled first.
    public func waitUntilReachable() async throws(NetError) {
        try await wait { $0.isReachable }
    }

    /// Waits for a state. Throws ``NetError/Code/cancelled`` if the task is cancelled first.
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
