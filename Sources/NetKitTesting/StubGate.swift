public import NetKit

/// Holds the reply of a ``StubTransport`` until the test opens the gate, so that tests need no delays.
///
///     let gate = StubGate()
///     stub.register("/slow", with: .text("at last").held(by: gate))
///     async let response = agent.send(Request<String>("slow"))
///     try await gate.waitForArrivals(1)       // the reply waits at the gate now
///     gate.open()
///
/// Thread-safe.
public final class StubGate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
    }

    private let state = Watched(State())

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate, for replies that wait now and for later ones.
    public func open() {
        state.change { $0.isOpen = true }
    }

    /// Whether the gate is open.
    public var isOpen: Bool { state.value.isOpen }

    /// The number of replies that have reached the gate so far.
    public var arrivalCount: Int { state.value.arrivals }

    /// Waits until this number of replies has reached the gate.
    ///
    /// Throws `NetError.Code.cancelled` if the task is cancelled before that.
    public func waitForArrivals(_ count: Int) async throws(NetError) {
        try await state.wait { $0.arrivals >= count }
    }

    /// Counts an arrival and waits until the gate is open. Throws if the task is cancelled before that.
    func pass() async throws(NetError) {
        state.change { $0.arrivals += 1 }
        try await state.wait { $0.isOpen }
    }
}
