/// Where a ``Reachability`` has its states from: the system, or a test.
public protocol PathSource: Sendable {
    /// Begins to tell: the first state before it returns, then each change, one after the other. Called once.
    func start(_ tell: @escaping @Sendable (PathState) -> Void)
    /// Tells no more, soon. Called once, after ``start(_:)``, and never blocks.
    func stop()
    /// How this host, a name or a numeric address, is reached now.
    func state(of host: String) async -> PathState
}
