import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct DeadlineTimerTests {
    @Test func timerFiresDueDeadlinesAndNotRemovedOnes() async throws {
        let timer = DeadlineTimer()
        let (rung, last) = (Collected<Int>(), Gate())
        _ = timer.add(after: .milliseconds(60)) {
            rung.append(3)
            last.open()
        }
        _ = timer.add(after: .milliseconds(30)) { rung.append(2) }
        let removed = timer.add(after: .milliseconds(10)) { rung.append(0) }
        _ = timer.add(after: .zero) { rung.append(1) }
        timer.remove(removed)
        try await last.opened()
        #expect(Set(rung.values) == [1, 2, 3])
    }

    @Test func earlierDeadlineAddedWhileSleepingFiresOnTime() async throws {
        let timer = DeadlineTimer()
        let rung = Gate()
        let late = timer.add(after: .seconds(3600)) {}
        _ = timer.add(after: .milliseconds(1)) { rung.open() }
        try await rung.opened()
        timer.remove(late)
        // The timer was idle, and starts again.
        let again = Gate()
        _ = timer.add(after: .seconds(1 << 40)) {}
        _ = timer.add(after: .milliseconds(1)) { again.open() }
        try await again.opened()
    }
}
