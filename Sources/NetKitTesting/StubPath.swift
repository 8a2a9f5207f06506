public import NetKit

/// A network path whose state the test sets.
///
///     let path = StubPath(.notReachable)
///     let reachability = Reachability(path)
///     …
///     path.set(PathState(.viaWiFiOrWired))
///
/// Thread-safe.
public final class StubPath: PathSource {
    private struct Kept: Sendable {
        var state: PathState
        var hosts: [String: PathState] = [:]
        var lookups: [String] = []
        var tell: (@Sendable (PathState) -> Void)?
        var isStopped = false
    }

    private let kept: Lock<Kept>

    /// Creates a path with a state; by default it is wired.
    public init(_ state: PathState = PathState(.viaWiFiOrWired)) {
        kept = Lock(Kept(state: state))
    }

    /// Creates a path with a status.
    public convenience init(_ status: PathState.Status) {
        self.init(PathState(status))
    }

    /// Reports a state, even if it is unchanged.
    public func set(_ state: PathState) {
        let tell = kept.withLock { kept in
            kept.state = state
            return kept.isStopped ? nil : kept.tell
        }
        tell?(state)
    }

    /// Reports a state with this status.
    public func set(_ status: PathState.Status) {
        set(PathState(status))
    }

    /// Sets the path to one host. If `nil`, the host has the same path as all others.
    public func set(_ state: PathState?, of host: String) {
        kept.withLock { $0.hosts[host] = state }
    }

    /// The hosts whose path was requested, in order.
    public var lookups: [String] { kept.withLock { $0.lookups } }

    /// Whether the path is no longer monitored.
    public var isStopped: Bool { kept.withLock { $0.isStopped } }

    /// Reports the current state and later ones.
    public func start(_ tell: @escaping @Sendable (PathState) -> Void) {
        let state = kept.withLock { kept in
            kept.tell = tell
            return kept.state
        }
        tell(state)
    }

    /// Stops reporting.
    public func stop() {
        kept.withLock { kept in
            kept.isStopped = true
            kept.tell = nil
        }
    }

    /// Returns the state for the host, or the common one.
    public func state(of host: String) async -> PathState {
        kept.withLock { kept in
            kept.lookups.append(host)
            return kept.hosts[host] ?? kept.state
        }
    }
}
