import NetKit
import Testing

/// A cancelled request ends promptly, exactly once and with `cancelled`, in any phase. The time limit only stops a test
/// that hangs.
@Suite(.timeLimit(.minutes(5)))
struct CancellationTests {
    @Test func cancellingBeforeSubmitNeverReachesTheNetwork() async throws {
        let server = try LoopbackServer()
        let agent = Agent()
        let outcome = await withTaskGroup(of: Ending.self) { group in
            group.cancelAll()
            group.addTask { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
            return await group.next()
        }
        #expect(outcome == .failed(.cancelled))
        await agent.shutdown()
        #expect(server.connectionCount == 0)
    }

    @Test func cancellingDuringSubmitEndsOnce() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        var request = Request<Bytes>(server.url("/"))
        // If the cancellation were lost, the request would end with a timeout error.
        request.limits = Limits()
        request.limits.total = .seconds(20)
        for round in 0..<1000 {
            let task = Task { [request] in await ending(of: request, from: agent) }
            for _ in 0..<(round % 5) {
                await Task.yield()
            }
            task.cancel()
            try #require(await task.value == .failed(.cancelled))
        }
    }

    @Test func cancellingAQueuedRequestDoesNotAffectOthers() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        var configuration = Agent.Configuration()
        configuration.maxInFlight = 1
        let agent = Agent(configuration)
        let request = Request<Bytes>(server.url("/"))
        let holder = Task { await ending(of: request, from: agent) }
        try await server.waitForStalled(1)
        let waiting = (0..<20).map { _ in Task { await ending(of: request, from: agent) } }
        for task in waiting {
            task.cancel()
            #expect(await task.value == .failed(.cancelled))
        }
        #expect(server.requestCount == 1)
        server.releaseStalled()
        #expect(await holder.value == .answered)
    }

    @Test func cancellingWhileConnectingEndsTheRequest() async throws {
        let port = try ReservedPort(acceptsConnections: true)
        let agent = Agent()
        var request = Request<Bytes>("https://127.0.0.1:\(port.number)/")
        request.limits = Limits()
        request.limits.connect = .seconds(300)
        let patient = request
        let task = Task { await ending(of: patient, from: agent) }
        try await port.waitForConnection()
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
    }

    // The server has sent: nothing; a part of the head; the head and a part of the body.
    @Test(arguments: [0, 10, 200])
    func cancellingWhileTheResponseArrivesEndsTheRequest(sent: UInt64) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 500, cutAfter: sent, ending: .stall))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let task = Task { await ending(of: request, from: agent) }
        try await server.waitForStalled(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        // The connection in use is closed, not kept.
        try await server.waitForSilence()
        #expect(await ending(of: Request<Bytes>(server.url("/missing")), from: agent) == .answered)
    }

    @Test func cancellingBetweenRedirectsEndsTheRequest() async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/there"))
        server.script("/there", .stalled)
        let agent = Agent()
        let task = Task { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
        try await server.waitForStalled(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
    }

    @Test func cancellingAfterTheEndChangesNothing() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let task = Task { await ending(of: request, from: agent) }
        #expect(await task.value == .answered)
        task.cancel()
        #expect(await task.value == .answered)
        #expect(await ending(of: request, from: agent) == .answered)
        #expect(server.connectionCount == 1)
    }

    @Test func cancelThatRacesTheEndProducesOneOutcome() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let ends = Counter()
        var random = SeededGenerator(seed: 1)
        var outcomes: [Ending: Int] = [:]
        for _ in 0..<2000 {
            let task = Task {
                defer { ends.increment() }
                return await ending(of: request, from: agent)
            }
            for _ in 0..<Int.random(in: 0..<60, using: &random) {
                await Task.yield()
            }
            task.cancel()
            outcomes[await task.value, default: 0] += 1
        }
        #expect(Set(outcomes.keys).isSubset(of: [.answered, .failed(.cancelled)]))
        #expect(outcomes.values.reduce(0, +) == 2000)
        #expect(ends.value == 2000)
    }

    @Test func cancelledTaskGroupEndsWithoutWaitingForTheServer() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let group = Task {
            await withTaskGroup(of: Ending.self) { group in
                for _ in 0..<100 {
                    group.addTask { await ending(of: request, from: agent) }
                }
                return await group.reduce(into: [:] as [Ending: Int]) { $0[$1, default: 0] += 1 }
            }
        }
        // Six are sent. The others wait for a connection.
        try await server.waitForStalled(6)
        group.cancel()
        #expect(await group.value == [.failed(.cancelled): 100])
        try await server.waitForSilence()
    }
}
