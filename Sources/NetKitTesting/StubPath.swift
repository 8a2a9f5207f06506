internal import NetKit
public import NetKitOffline

/// A source of network path states that a test controls.
///
///     let path = StubPath(.notReachable)
///     let reachability = Reachability(path)
///     …
///     path.set(PathState(.viaWiFiOrWired))
///
/// Thread-safe.
public final class StubPath: PathSource {
    private struct Storage: Sendable {
        var state: PathState
        var hosts: [String: PathState] = [:]
        var lookups: [String] = []
        var report: (@Sendable (PathState) -> Void)?
        var isStopped = false
    }

    private let storage: Lock<Storage>

    /// Creates a path with a state. By default, the path is wired.
    public init(_ state: PathState = PathState(.viaWiFiOrWired)) {
        storage = Lock(Storage(state: state))
    }

    /// Creates a path with a status.
    public convenience init(_ status: PathState.Status) {
        self.init(PathState(status))
    }

    /// Sets and reports a state, even if it is unchanged.
    public func set(_ state: PathState) {
        let report = storage.withLock { storage in
            storage.state = state
            return storage.isStopped ? nil : storage.report
        }
        report?(state)
    }

    /// Sets and reports a state with this status.
    public func set(_ status: PathState.Status) {
        set(PathState(status))
    }

    /// Sets the state of the path to one host. If `nil`, the host has the same state as all others.
    public func set(_ state: PathState?, of host: String) {
        storage.withLock { $0.hosts[host] = state }
    }

    /// The hosts whose path was requested, in order.
    public var lookups: [String] { storage.withLock { $0.lookups } }

    /// Whether the path is no longer monitored.
    public var isStopped: Bool { storage.withLock { $0.isStopped } }

    /// Reports the current state and later ones.
    public func start(_ report: @escaping @Sendable (PathState) -> Void) {
        let state = storage.withLock { storage in
            storage.report = report
            return storage.state
        }
        report(state)
    }

    /// Stops reporting.
    public func stop() {
        storage.withLock { storage in
            storage.isStopped = true
            storage.report = nil
        }
    }

    /// Returns the state that was set for the host, or else the current state.
    public func state(of host: String) async -> PathState {
        storage.withLock { storage in
            storage.lookups.append(host)
            return storage.hosts[host] ?? storage.state
        }
    }
}
