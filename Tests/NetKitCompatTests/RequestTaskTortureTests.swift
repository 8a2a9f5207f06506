import NetKit
import NetKitCompat
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Request tasks end exactly once, for every moment and source of cancellation. `script/torture cancel` runs this with
/// 1,000 seeds.
@Suite(.timeLimit(.minutes(30)))
struct RequestTaskTortureTests {
    private static let seeds = Int(ProcessInfo.processInfo.environment["NETKIT_TORTURE_SEEDS"] ?? "") ?? 2

    @Test func thousandStartedAndCancelledTasksEndOnceWithTheirOwnTag() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent(configured: { $0.maxConnectionsPerHost = 64 })
        let ends = Collected<Int>()
        let endings = Collected<Int>()
        let tokens = Counter()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1000 {
                group.addTask {
                    await Self.startAndCancel(server.url("/"), index, agent, ends: ends, endings: endings, tokens)
                }
            }
        }
        #expect(ends.values.sorted() == Array(1...1000))
        #expect(endings.values.sorted() == Array(1...1000))
        #expect(tokens.value == 1000)
        #expect(agent.requestTasks().isEmpty)
        await agent.shutdown()
    }

    private static func startAndCancel(
        _ url: String, _ index: Int, _ agent: Agent, ends: Collected<Int>, endings: Collected<Int>, _ tokens: Counter
    ) async {
        var request = Request<String>(url)
        request.tag = index + 1
        request.accessories = [AccessoryBlocks(didStop: { ends.append($0.tag) })]
        func begin() -> CallHandle<Response<String>> {
            let token = Token { tokens.increment() }
            let options = StartOptions(reportsCancellation: true)
            return agent.start(request, on: .executor(agent.executor), options: options) { [tag = request.tag] _ in
                withExtendedLifetime(token) { endings.append(tag) }
            }
        }
        let handle = begin()
        var random = SeededGenerator(seed: UInt64(index))
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            await Task.yield()
        }
        switch index % 4 {
        case 0: handle.cancel()
        case 1: agent.cancel(id: handle.id)
        case 2: agent.cancel(tag: index + 1)
        default: break
        }
        let code = failureCode(of: await handle.result)
        #expect(code == nil || code == .cancelled)
        #expect((code == .cancelled) == handle.isCancelled)
    }

    @Test func cancelAtEveryPointEndsTheTaskOnce() async throws {
        let server = try LoopbackServer()
        server.script("/moved", Reply.redirect(to: "/page", status: 307))
        server.script("/page", Reply(patternLength: 30_000, chunkBytes: 5000))
        for seed in 0..<Self.seeds {
            var point = 1
            // Cancels at each point in turn, until the call ends before it passes the chosen point.
            while try await Exchange(server, strikesAt: point, seed: UInt64(seed)).run() >= point {
                point += 1
            }
            #expect(point > 40)
        }
        try await server.waitForSilence()
    }
}

/// A request task with a redirect, which is cancelled when it passes one of its points. The points are in the engine,
/// the interceptors and all receivers of notifications.
private struct Exchange {
    private let server: LoopbackServer
    private let log = Collected<String>()
    private let ambush: Ambush
    private let random: SeededGenerator

    init(_ server: LoopbackServer, strikesAt point: Int, seed: UInt64) {
        self.server = server
        random = SeededGenerator(seed: seed)
        var random = random
        // In the first round the cancellation is synchronous. In the others it comes from another task, a little later.
        let turns = seed == 0 ? nil : Int.random(in: 0..<30, using: &random)
        ambush = Ambush(strikesAt: point, turns: turns)
    }

    /// Returns the number of points that were passed.
    func run() async throws -> Int {
        var random = random
        let reportsCancellation = Bool.random(using: &random)
        var configuration = Agent.Configuration()
        configuration.observers = [Passing(log: log, ambush: ambush)]
        configuration.interceptors = [Probing(ambush: ambush)]
        var agent: Agent? = Agent(configuration, passed: { [ambush] in ambush.pass() })
        let delegate = Striking(log, ambush)
        let handle = try #require(agent).start(
            request, on: .executor(globalConcurrentExecutor),
            options: StartOptions(reportsCancellation: reportsCancellation),
            delegate: delegate
        ) { [log, ambush] result in
            log.append("closure \(failureCode(of: result).map { "\($0)" } ?? "answered")")
            ambush.pass()
        }
        ambush.arm(handle)
        agent = nil
        let result = await handle.result
        check(result, reportsCancellation, isCancelled: handle.isCancelled)
        withExtendedLifetime(delegate) {}
        return await ambush.disarm()
    }

    private var request: Request<Bytes> {
        var request = Request<Bytes>(server.url("/moved"), method: .post, body: Body(Bytes(pattern(50_000))))
        request.accessories = [
            AccessoryBlocks(
                willStart: { [log, ambush] _ in
                    log.append("will start")
                    ambush.pass()
                },
                willStop: { [log, ambush] _ in
                    log.append("will stop")
                    ambush.pass()
                },
                didStop: { [log, ambush] _ in
                    log.append("did stop")
                    ambush.pass()
                })
        ]
        request.hooks.preprocessSuccess = { [ambush] response async throws(NetError) in
            ambush.pass()
            return response
        }
        request.hooks.filterSuccess = { [ambush] in
            ambush.pass()
            return $0
        }
        return request
    }

    private func check(_ result: Result<Response<Bytes>, NetError>, _ reportsCancellation: Bool, isCancelled: Bool) {
        let code = failureCode(of: result)
        let context = "at point \(ambush.point), \(log.values)"
        #expect(code == (isCancelled ? .cancelled : nil), "\(context)")
        if case .success(let response) = result {
            #expect(response.status == 200 && response.bytes == Bytes(pattern(30_000)), "\(context)")
        }
        let word = code.map { "\($0)" } ?? "answered"
        let expectedLog = isCancelled && !reportsCancellation ? [] : ["delegate \(word)", "closure \(word)"]
        #expect(
            log.values.filter { !$0.hasPrefix("call") } == ["will start", "will stop"] + expectedLog + [
                "did stop", "cleared",
            ], "\(context)")
        let calls = log.values.filter { $0.hasPrefix("call") }
        #expect(calls.isEmpty || calls == ["call started", "call stopping", "call stopped"], "\(context)")
    }
}

/// Cancels the task when it passes the chosen point.
private final class Ambush: Sendable {
    private struct State: Sendable {
        var count = 0
        var isStruck = false
        var handle: CallHandle<Response<Bytes>>?
    }

    let point: Int
    private let turns: Int?
    private let state = Lock(State())
    private let strikes = Lock<[Task<Void, Never>]>([])

    init(strikesAt point: Int, turns: Int?) {
        self.point = point
        self.turns = turns
    }

    func pass() {
        let handle = state.withLock { state in
            state.count += 1
            guard state.count == point else { return CallHandle<Response<Bytes>>?.none }
            state.isStruck = true
            return state.handle
        }
        if let handle {
            strike(handle)
        }
    }

    /// A point that was passed before the handle was set counts too.
    func arm(_ handle: CallHandle<Response<Bytes>>) {
        let isStruck = state.withLock { state in
            state.handle = handle
            return state.isStruck
        }
        if isStruck {
            strike(handle)
        }
    }

    private func strike(_ handle: CallHandle<Response<Bytes>>) {
        guard let turns else {
            handle.cancel()
            return
        }
        let task = Task {
            for _ in 0..<turns {
                await Task.yield()
            }
            handle.cancel()
        }
        strikes.withLock { $0.append(task) }
    }

    /// Returns the number of points that were passed, and releases everything.
    func disarm() async -> Int {
        for task in strikes.withLock({ $0 }) {
            await task.value
        }
        return state.withLock { state in
            state.handle = nil
            return state.count
        }
    }
}

private final class Striking: RequestTaskDelegate {
    private let log: Collected<String>
    private let ambush: Ambush

    init(_ log: Collected<String>, _ ambush: Ambush) {
        self.log = log
        self.ambush = ambush
    }

    func run(_ run: NetKit.RequestTask, finishedWith value: any Sendable) { note("delegate answered") }
    func run(_ run: NetKit.RequestTask, failedWith error: NetError) { note("delegate \(error.code)") }
    func run(_ run: NetKit.RequestTask, sent progress: TransferProgress) { ambush.pass() }
    func run(_ run: NetKit.RequestTask, received progress: TransferProgress) { ambush.pass() }
    func runCleared(_ run: NetKit.RequestTask) { note("cleared") }

    private func note(_ word: String) {
        log.append(word)
        ambush.pass()
    }
}

private struct Passing: Observer {
    let log: Collected<String>
    let ambush: Ambush

    func observe(_ event: Event) {
        switch event.change {
        case .started: log.append("call started")
        case .stopping: log.append("call stopping")
        case .stopped: log.append("call stopped")
        default: break
        }
        ambush.pass()
    }
}

private struct Probing: Interceptor {
    let ambush: Ambush

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        ambush.pass()
        defer { ambush.pass() }
        return try await next(call)
    }
}
