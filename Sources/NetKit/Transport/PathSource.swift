/// The source of a ``Reachability``'s states: the system, or a test.
public protocol PathSource: Sendable {
    /// Starts reporting: the first state before it returns, then each change, one after the other. Called once.
    func start(_ tell: @escaping @Sendable (PathState) -> Void)
    /// Stops reporting soon. Called once, after ``start(_:)``, and never blocks.
    func stop()
    /// Returns how this host (a name or a numeric address) is reached now.
    func state(of host: String) async -> PathState
}
