@testable import NetKit
import NetKitTesting
import Testing

/// Calls that wait in a concurrency limiter (`ConcurrencyLimiter`) or for a service's slot, and their order.
@Suite(.timeLimit(.minutes(5)))
struct ConcurrencyLimiterTests {
    private typealias Handle = CallHandle<Response<String>>

    private let stub = StubTransport()
    private let gate = StubGate()
    private let agent: Agent
    private let limiter = ConcurrencyLimiter(maxConcurrent: 1)
    private let service: Service

    init() {
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.register("*", with: .text("x"))
        stub.register("/hold", with: .text("x").held(by: gate))
        var configuration = Service.Configuration()
        configuration.maxInFlight = 1
        service = Service("slow", configuration)
    }

    private func start(_ path: String, usesLimiter: Bool) -> Handle {
        var request = Request<String>(path)
        request.service = usesLimiter ? nil : service
        return agent.start(request, on: .here, options: .init(limiter: usesLimiter ? limiter : nil))
    }

    private func waitUntilWaiting(_ count: Int) async {
        while limiter.waitingCount + service.waitingCount < count {
            await Task.yield()
        }
    }

    private func expectOrder(_ paths: [String], of handles: [Handle]) async {
        gate.open()
        for handle in handles {
            #expect(failureCode(of: await handle.result) == nil)
        }
        #expect(stub.requests.map(\.path) == paths)
    }

    @Test(arguments: [true, false])
    func priorityChangeReordersAWaitingCall(usesLimiter: Bool) async throws {
        var handles = [start("/hold", usesLimiter: usesLimiter)]
        try await gate.waitForArrivals(1)
        for path in ["/a", "/b", "/c", "/d"] {
            handles.append(start(path, usesLimiter: usesLimiter))
            await waitUntilWaiting(handles.count - 1)
        }
        handles[3].setPriority(.high)
        handles[1].setPriority(.low)
        handles[2].setPriority(.normal)  // The priority is unchanged, so the call keeps its position.
        await expectOrder(["/hold", "/c", "/b", "/d", "/a"], of: handles)
    }

    @Test(arguments: [true, false])
    func priorityChangeBeforeWaitingDeterminesTheOrder(usesLimiter: Bool) async throws {
        var handles = [start("/hold", usesLimiter: usesLimiter)]
        try await gate.waitForArrivals(1)
        handles.append(start("/a", usesLimiter: usesLimiter))
        await waitUntilWaiting(1)
        let first = agent.start(Request<Bytes>("/hold"), on: .here)
        try await gate.waitForArrivals(2)
        var request = Request<String>("/b")
        request.service = usesLimiter ? nil : service
        let options = StartOptions(after: [first.ended], limiter: usesLimiter ? limiter : nil)
        let moved = agent.start(request, on: .here, options: options)
        moved.setPriority(.high)
        first.cancel()
        await waitUntilWaiting(2)
        await expectOrder(["/hold", "/hold", "/b", "/a"], of: handles + [moved])
    }

    @Test(arguments: [true, false])
    func tenThousandCallsCanWait(areServed: Bool) async throws {
        let count = 10_000
        let slots = PermitQueue(1, time: .system)
        var request = Request<Bytes>("/x")
        request.limits = Limits()
        let limitedRequest = request
        let holder = try await slots.take(for: limitedRequest)
        let tasks = (0..<count).map { _ in
            Task {
                await failureCode { () async throws(NetError) in try await slots.take(for: limitedRequest).giveBack() }
            }
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
