import NetKit
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ExecutorTests {
    @Test func thousandRequestsSucceedOnTheEventLoopThread() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent(.init(baseURL: server.url("/")))
        let outcome = try await withTaskExecutorPreference(agent.executor) {
            let thread = currentThread()
            var threads: Set<UInt> = []
            var values: Set<String> = []
            for _ in 0..<1000 {
                values.insert(try await agent.send(Request<String>("")).value)
                threads.insert(currentThread())
            }
            return (thread, threads, values)
        }
        #expect(outcome.1 == [outcome.0])
        #expect(outcome.2 == ["x"])
        #expect(server.requestCount == 1000)
    }

    @Test func eachAgentHasAThreadOfItsOwn() async {
        let agents = (0..<5).map { _ in Agent() }
        var threads: Set<UInt> = []
        for agent in agents {
            let thread = await withTaskExecutorPreference(agent.executor) { currentThread() }
            let again = await withTaskExecutorPreference(agent.executor) {
                await Task.yield()
                return currentThread()
            }
            #expect(thread == again)
            threads.insert(thread)
        }
        #expect(threads.count == 5)
    }

    @Test func childTasksRunOnTheEventLoop() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent(.init(baseURL: server.url("/")))
        let threads = try await withTaskExecutorPreference(agent.executor) {
            try await withThrowingTaskGroup(of: UInt.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        async let other = agent.send(Request<String>("")).value
                        _ = try await (agent.send(Request<String>("")).value, other)
                        return currentThread()
                    }
                }
                return try await group.reduce(into: [currentThread()]) { $0.append($1) }
            }
        }
        #expect(threads.count == 201)
        #expect(Set(threads).count == 1)
    }

    @Test func cancellingOnTheEventLoopEndsRequestsInFlight() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let task = Task(executorPreference: agent.executor) { await ending(of: request, from: agent) }
        try await server.waitForStalled(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        let outcome = await withTaskExecutorPreference(agent.executor) {
            await withTaskGroup(of: Ending.self) { group in
                for _ in 0..<50 {
                    group.addTask { await ending(of: request, from: agent) }
                }
                await Task.yield()
                group.cancelAll()
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(outcome == Array(repeating: .failed(.cancelled), count: 50))
    }

    @Test func jobsRunAfterShutdown() async {
        let agent = Agent()
        let value = await withTaskExecutorPreference(agent.executor) {
            await agent.shutdown()
            var value = 0
            for _ in 0..<10 {
                await Task.yield()
                value += await Task { 1 }.value
            }
            return value
        }
        #expect(value == 10)
        #expect(await Task(executorPreference: agent.executor) { 7 }.value == 7)
    }

    @Test func noJobIsDroppedWhileTheLoopEnds() async {
        for _ in 0..<50 {
            let agent = Agent()
            let ran = Counter()
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask(executorPreference: agent.executor) {
                        await Task.yield()
                        ran.increment()
                        await Task.yield()
                    }
                    if index == 20 {
                        group.addTask { await agent.shutdown() }
                    }
                }
            }
            #expect(ran.value == 40)
        }
    }

    // The event loop runs eight jobs per iteration, and 64 when it ends.
    @Test(arguments: [8, 64])
    func finishedJobsKeepNothingAlive(jobs: Int) async {
        weak var executor: (any TaskExecutor)?
        func run() async {
            let agent = Agent()
            let gate = Gate()
            executor = agent.executor
            let tasks = (0..<jobs).map { index in
                Task(executorPreference: agent.executor) { index == 0 ? gate.wait() : true }
            }
            gate.open()
            for task in tasks {
                #expect(await task.value)
            }
        }
        await run()
        for _ in 0..<100_000 where executor != nil {
            await Task.yield()
        }
        #expect(executor == nil)
    }

    @Test func jobsKeepTheEventLoopOfADeallocatedAgentAlive() async throws {
        func start(_ url: String) -> Task<Int, any Error> {
            let agent = Agent()
            return Task(executorPreference: agent.executor) {
                var statuses = 0
                for _ in 0..<5 {
                    await Task.yield()
                    statuses += try await agent.send(Request<Bytes>(url)).status
                }
                return statuses
            }
        }
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let tasks = (0..<20).map { _ in start(server.url("/")) }
        for task in tasks {
            #expect(try await task.value == 1000)
        }
        try await server.waitForSilence()
    }

    @Test func longJobSequencesDoNotStarveTransfers() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent()
        let isOver = Counter()
        let busy = (0..<100).map { _ in
            Task(executorPreference: agent.executor) {
                while isOver.value == 0 {
                    await Task.yield()
                }
            }
        }
        for _ in 0..<20 {
            #expect(try await agent.send(Request<String>(server.url("/"))).value == "x")
        }
        isOver.increment()
        for task in busy {
            await task.value
        }
    }
}
