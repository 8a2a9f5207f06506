import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// AFNetworking's activity indicator: its states, its two delays and its counter.
struct ActivityIndicatorTests {
    private let time = StubTime()

    /// An indicator whose delays pass when their gates open, and its notifications.
    private final class Shown: Sendable {
        private let list = Lock<[Bool]>([])
        var all: [Bool] { list.withLock { $0 } }
        func append(_ isVisible: Bool) { list.withLock { $0.append(isVisible) } }

        /// Waits for this many notifications and returns them. Each arrives after the state has changed, on any thread.
        func words(_ count: Int) async -> [Bool] {
            while all.count < count {
                await Task.yield()
            }
            return all
        }
    }

    private func wait(for indicator: ActivityIndicator, until state: ActivityIndicator.State) async {
        while indicator.state != state {
            await Task.yield()
        }
    }

    private func gate() -> StubGate {
        let gate = StubGate()
        time.hold(by: gate)
        return gate
    }

    @Test func aShortCallShowsNothing() async throws {
        let shown = Shown()
        let indicator = ActivityIndicator(time: time.source) { shown.append($0) }
        let gate = gate()
        indicator.increment()
        #expect(indicator.state == .delayingStart && !indicator.isVisible)
        indicator.decrement()
        #expect(indicator.state == .delayingStart)
        gate.open()
        await wait(for: indicator, until: .notActive)
        #expect(time.waits == [.seconds(1)])
        #expect(shown.all == [])
    }

    @Test func longCallShowsTheIndicatorAfterTheFirstDelayAndHidesItAfterTheSecond() async throws {
        let shown = Shown()
        let indicator = ActivityIndicator(time: time.source) { shown.append($0) }
        let start = gate()
        indicator.increment()
        try await start.waitForArrivals(1)
        #expect(shown.all == [])
        start.open()
        await wait(for: indicator, until: .active)
        #expect(await shown.words(1) == [true])
        let end = gate()
        indicator.decrement()
        #expect(indicator.state == .delayingEnd && indicator.isVisible)
        try await end.waitForArrivals(1)
        #expect(shown.all == [true])
        end.open()
        await wait(for: indicator, until: .notActive)
        #expect(await shown.words(2) == [true, false])
        #expect(time.waits == [.seconds(1), .milliseconds(170)])
    }

    @Test func callDuringTheSecondDelayKeepsTheIndicatorVisible() async throws {
        let shown = Shown()
        let indicator = ActivityIndicator(time: time.source) { shown.append($0) }
        indicator.increment()
        await wait(for: indicator, until: .active)
        let end = gate()
        indicator.decrement()
        try await end.waitForArrivals(1)
        indicator.increment()
        #expect(indicator.state == .active)
        end.open()  // the timer of the abandoned delay has no effect
        let last = gate()
        indicator.decrement()
        try await last.waitForArrivals(1)
        #expect(indicator.state == .delayingEnd)
        #expect(await shown.words(1) == [true])
        last.open()
        await wait(for: indicator, until: .notActive)
        #expect(await shown.words(2) == [true, false])
    }

    @Test func countIsCorrectEvenWhenDisabled() async throws {
        let shown = Shown()
        let indicator = ActivityIndicator(isEnabled: false, time: time.source) { shown.append($0) }
        indicator.increment()
        indicator.increment()
        #expect(indicator.count == 2 && indicator.state == .notActive)
        indicator.isEnabled = true  // enabled while two calls are in flight (A28)
        #expect(indicator.state != .notActive)
        await wait(for: indicator, until: .active)
        indicator.decrement()
        #expect(indicator.state == .active)
        indicator.isEnabled = false
        #expect(indicator.state == .notActive)
        #expect(await shown.words(2) == [true, false])
        indicator.decrement()
        #expect(indicator.count == 0)
        indicator.isEnabled = true
        #expect(indicator.state == .notActive)
        indicator.decrement()
        #expect(indicator.count == 0)
    }

    @Test func timerStartedBeforeDisablingHasNoEffect() async throws {
        let shown = Shown()
        let indicator = ActivityIndicator(time: time.source) { shown.append($0) }
        let old = gate()
        indicator.increment()
        try await old.waitForArrivals(1)
        indicator.isEnabled = false
        let new = gate()
        indicator.isEnabled = true
        try await new.waitForArrivals(1)
        old.open()
        #expect(indicator.state == .delayingStart)
        new.open()
        await wait(for: indicator, until: .active)
        #expect(await shown.words(1) == [true])
    }

    @Test func everyRequestIsCountedRegardlessOfItsOutcome() async throws {
        let stub = StubTransport()
        let indicator = ActivityIndicator(time: time.source) { _ in }
        var configuration = Agent.Configuration()
        configuration.observers = [indicator]
        let agent = Agent(configuration, transport: stub)
        let reply = StubGate()
        stub.register("/slow", with: .text("x").held(by: reply))
        stub.register("/bad", with: .failure(.reset))
        _ = gate()
        let slow = Task { try await agent.send(Request<String>("http://a/slow")).value }
        let cancelled = Task { try await agent.send(Request<String>("http://a/slow")).value }
        try await stub.waitForRequests(2)
        #expect(indicator.count == 2)
        await #expect(throws: NetError.self) { try await agent.send(Request<String>("http://a/bad")) }
        #expect(indicator.count == 2)
        cancelled.cancel()
        await #expect(throws: NetError.self) { try await cancelled.value }
        #expect(indicator.count == 1)
        reply.open()
        _ = try await slow.value
        #expect(indicator.count == 0)
    }

    @Test func everyChangeIsReportedOnceUnderConcurrency() async {
        let shown = Shown()
        let indicator = ActivityIndicator(activationDelay: .zero, completionDelay: .zero) { shown.append($0) }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<200 {
                        indicator.increment()
                        indicator.decrement()
                    }
                }
            }
        }
        await wait(for: indicator, until: .notActive)
        #expect(indicator.count == 0)
        #expect(zip(shown.all, shown.all.dropFirst()).allSatisfy { $0 != $1 })
    }
}
