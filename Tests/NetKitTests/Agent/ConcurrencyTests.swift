import NetKit
import Testing

struct ConcurrencyTests {
    @Test(.timeLimit(.minutes(4)))
    func eachOfTenThousandRequestsEndsOnceWhenHalfAreCancelled() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let (outcomes, ends, observer) = try await sendTenThousand(server)
        #expect(outcomes.values.reduce(0, +) == 10_000)
        #expect(ends == 10_000)
        #expect(Set(outcomes.keys).isSubset(of: [.answered, .failed(.cancelled)]))
        // Half of the requests are never cancelled.
        #expect(outcomes[.answered, default: 0] >= 5000)
        try await server.waitForSilence()
        #expect(observer.agent == nil)
    }

    private func sendTenThousand(
        _ server: LoopbackServer
    ) async throws -> (outcomes: [Ending: Int], ends: Int, observer: WeakAgent) {
        var configuration = Agent.Configuration()
        configuration.maxConnectionsPerHost = 64
        let agent = Agent(configuration)
        let request = Request<Bytes>(server.url("/"))
        let ends = Counter()
        var random = SeededGenerator(seed: 2)
        var outcomes: [Ending: Int] = [:]
        await withTaskGroup(of: Ending.self) { group in
            for index in 0..<10_000 {
                if index >= 256, let outcome = await group.next() {
                    outcomes[outcome, default: 0] += 1
                }
                let yields = index % 2 == 0 ? nil : Int.random(in: 0..<40, using: &random)
                group.addTask { await Self.send(request, from: agent, cancellingAfter: yields, counting: ends) }
            }
            for await outcome in group {
                outcomes[outcome, default: 0] += 1
            }
        }
        return (outcomes, ends.value, WeakAgent(agent))
    }

    /// Sends a request, and cancels it after this many calls of `Task.yield()`, or never if `yields` is `nil`.
    private static func send(
        _ request: Request<Bytes>, from agent: Agent, cancellingAfter yields: Int?, counting ends: Counter
    ) async -> Ending {
        let task = Task {
            defer { ends.increment() }
            return await ending(of: request, from: agent)
        }
        if let yields {
            for _ in 0..<yields {
                await Task.yield()
            }
            task.cancel()
        }
        return await task.value
    }

    @MainActor @Test func callerOnTheMainActorResumesOnTheMainActor() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000))
        let agent = Agent()
        var lengths: [Int] = []
        for _ in 0..<10 {
            let decoding = Decoding<Int> { $0.bytes.count }
            lengths.append(try await agent.send(Request(server.url("/"), decoding: decoding)).value)
            MainActor.assertIsolated()
        }
        #expect(lengths == Array(repeating: 100_000, count: 10))
        await agent.shutdown()
        MainActor.assertIsolated()
    }

    @Test func manyTasksShareOneRequestAndOneAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent(.init(baseURL: server.url("/")))
        let numbers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<500 {
                group.addTask {
                    let request = Request<String>("", method: .post, body: .text("body \(number)"))
                    return (number, try await agent.send(request).value)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(numbers == Dictionary(uniqueKeysWithValues: (0..<500).map { ($0, "body \($0)") }))
    }
}
