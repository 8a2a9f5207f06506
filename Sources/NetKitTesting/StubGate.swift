public import NetKit

/// Holds up a stub's reply until the test opens it, instead of a delay.
///
///     let gate = StubGate()
///     stub.answer("/slow", with: .text("at last").held(by: gate))
///     async let response = agent.send(Request<String>("slow"))
///     try await gate.waitForArrivals(1)       // the reply is held up now
///     gate.open()
///
/// Thread-safe.
public final class StubGate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
    }

    private let state = Watched(State())

    /// A closed gate.
    public init() {}

    /// Lets through who waits and whoever comes later.
    public func open() {
        state.change { $0.isOpen = true }
    }

    /// Whether it was opened.
    public var isOpen: Bool { state.value.isOpen }

    /// How often a reply came to it so far, open or not.
    public var arrivalCount: Int { state.value.arrivals }

    /// Waits until replies came to it this many times in all.
    ///
    /// Throws `NetError.Code.cancelled` when the task is cancelled first.
    public func waitForArrivals(_ count: Int) async throws(NetError) {
        try await state.wait { $0.arrivals >= count }
    }

    /// Waits until it is open; throws when the task is cancelled first.
    func pass() async throws(NetError) {
        state.change { $0.arrivals += 1 }
        try await state.wait { $0.isOpen }
    }
}
