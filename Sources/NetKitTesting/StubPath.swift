public import NetKit

/// A way to the network that a test puts up and takes down.
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

    /// A way as this says; by default over a cable.
    public init(_ state: PathState = PathState(.viaWiFiOrWired)) {
        kept = Lock(Kept(state: state))
    }

    /// A way of this status.
    public convenience init(_ status: PathState.Status) {
        self.init(PathState(status))
    }

    /// Tells a state, also when it is the one before.
    public func set(_ state: PathState) {
        let tell = kept.withLock { kept in
            kept.state = state
            return kept.isStopped ? nil : kept.tell
        }
        tell?(state)
    }

    /// Tells a state of this status.
    public func set(_ status: PathState.Status) {
        set(PathState(status))
    }

    /// From now on this host is reached in another way than the rest; nil makes it as the rest.
    public func set(_ state: PathState?, of host: String) {
        kept.withLock { $0.hosts[host] = state }
    }

    /// The hosts whose way was asked for, in order.
    public var lookups: [String] { kept.withLock { $0.lookups } }

    /// Whether nobody watches any more.
    public var isStopped: Bool { kept.withLock { $0.isStopped } }

    /// Tells what was set.
    public func start(_ tell: @escaping @Sendable (PathState) -> Void) {
        let state = kept.withLock { kept in
            kept.tell = tell
            return kept.state
        }
        tell(state)
    }

    /// Tells no more.
    public func stop() {
        kept.withLock { kept in
            kept.isStopped = true
            kept.tell = nil
        }
    }

    /// What was set for the host, or for all.
    public func state(of host: String) async -> PathState {
        kept.withLock { kept in
            kept.lookups.append(host)
            return kept.hosts[host] ?? kept.state
        }
    }
}
