@testable import NetKit
import Testing

/// Who waits in a lane, or for a slot of a service, and who goes first.
@Suite(.timeLimit(.minutes(5)))
struct CallLaneTests {
    @Test(.timeLimit(.minutes(2)), arguments: [true, false])
    func aHundredThousandMayWait(areServed: Bool) async throws {
        let count = 100_000
        let slots = Slots(1, time: .system)
        var request = Request<Bytes>("/x")
        request.limits = nil
        let asked = request
        let holder = try await slots.take(for: asked)
        let tasks = (0..<count).map { _ in
            Task { await failureCode { () async throws(NetError) in try await slots.take(for: asked).giveBack() } }
        }
        while slots.waitingCount < count {
            await Task.yield()
        }
        if areServed {
            holder.giveBack()
        } else {
            for task in tasks.reversed() {
                task.cancel()
            }
        }
        for task in tasks {
            #expect(await task.value == (areServed ? nil : .cancelled))
        }
        #expect(slots.waitingCount == 0)
    }
}
