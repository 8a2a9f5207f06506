import NetKit
import Testing

/// Each limit ends a silent transfer. No assertion depends on elapsed time.
struct TimeLimitTests {
    // CURLE_OPERATION_TIMEDOUT.
    private static let native = 28

    private static func limits(_ set: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        set(&limits)
        return limits
    }

    @Test func unansweredHandshakeHitsTheConnectTimeout() async throws {
        let port = try ReservedPort(acceptsConnections: true)
        var request = Request<Bytes>("https://canary:canary@127.0.0.1:\(port.number)/?canary")
        request.limits = Self.limits { $0.connect = .milliseconds(50) }
        let error = try await expectFailure(.connectTimeout, native: Self.native, of: request)
        #expect(error.isRetryable)
        #expect(error.response == nil)
    }

    @Test func silentServerHitsTheFirstByteTimeout() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.limits = Self.limits { $0.firstByte = .milliseconds(50) }
        let error = try await expectFailure(.firstByteTimeout, native: Self.native, of: request)
        #expect(error.isRetryable)
        #expect(error.response == nil)
    }

    @Test func stalledBodyHitsTheIdleTimeout() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 500, cutAfter: 200, ending: .stall))
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.limits = Self.limits { $0.idle = .milliseconds(50) }
        let error = try await expectFailure(.idleTimeout, native: Self.native, of: request)
        #expect(error.isRetryable)
        #expect(error.response?.status == 200)
    }

    @Test(arguments: [
        Reply.stalled, Reply(patternLength: 500, cutAfter: 5, ending: .stall),
        Reply(patternLength: 500, cutAfter: 200, ending: .stall),
    ])
    func totalTimeoutEndsARequestInEveryPhase(reply: Reply) async throws {
        let server = try LoopbackServer()
        server.script("/", reply)
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.limits = Self.limits { $0.total = .milliseconds(50) }
        try await expectFailure(.timeout, native: Self.native, of: request)
    }

    /// If the limit were truncated to whole seconds, every request would fail immediately. A busy machine may need some
    /// attempts, but a limit of 0 fails all of them.
    @Test(arguments: LimitKind.allCases)
    func subsecondTimeoutIsNotRoundedToZero(kind: LimitKind) async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("quick"))
        var request = Request<Bytes>(server.url("/"))
        request.limits = Self.limits { kind.set(.milliseconds(900), in: &$0) }
        var endings: [Ending] = []
        while endings.last != .answered, endings.count < 20 {
            endings.append(await ending(of: request, from: Agent(trusting: server)))
        }
        #expect(endings.last == .answered, "\(endings)")
    }

    @Test func totalTimeoutEndsAnEndlessDownload() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40, dripBytes: 1000))
        let folder = try TemporaryFolder()
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.limits = Limits.streaming
        request.limits.total = .milliseconds(100)
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request, to: folder.file("body"), options: .init(isResumable: false))
        }
        #expect(error?.code == .timeout)
        #expect(folder.names.isEmpty)
        let streamed = await #expect(throws: NetError.self) {
            for try await _ in try await Agent().stream(request) {}
        }
        #expect(streamed?.code == .timeout)
    }

    @Test func requestWithoutASlotHitsTheQueueTimeout() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        var configuration = Agent.Configuration()
        configuration.maxInFlight = 1
        let agent = Agent(configuration)
        let holder = Task { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
        try await server.waitForStalled(1)
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.limits = Self.limits { $0.slot = .milliseconds(20) }
        let error = try await expectFailure(.slotTimeout, of: request, from: agent)
        #expect(error.isRetryable)
        #expect(!error.description.contains(canary))
        #expect(server.requestCount == 1)
        server.releaseStalled()
        #expect(await holder.value == .answered)
    }

    @Test func totalTimeoutIncludesTheWaitForASlot() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        var configuration = Agent.Configuration()
        configuration.maxConnectionsPerHost = 1
        let agent = Agent(configuration)
        let holder = Task { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
        try await server.waitForStalled(1)
        var request = Request<Bytes>(server.url("/"))
        request.limits = Self.limits { $0.total = .milliseconds(20) }
        #expect(await ending(of: request, from: agent) == .failed(.timeout))
        server.releaseStalled()
        #expect(await holder.value == .answered)
    }

    @Test func requestBeyondTheQueueLimitFails() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        var configuration = Agent.Configuration()
        configuration.maxInFlight = 1
        configuration.maxWaiting = 1
        let agent = Agent(configuration)
        let holder = Task { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
        try await server.waitForStalled(1)
        // The only slot is taken, and only one request may wait. So one of these two ends immediately.
        let endings = await withTaskGroup(of: Ending.self) { group in
            for _ in 0..<2 {
                group.addTask { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
            }
            let first = await group.next()
            server.script("/", Reply())
            server.releaseStalled()
            return [first, await group.next()]
        }
        #expect(endings == [.failed(.tooLarge), .answered])
        #expect(await holder.value == .answered)
    }
}

enum LimitKind: CaseIterable {
    case connect, firstByte, idle, slot, total

    func set(_ limit: Duration, in limits: inout Limits) {
        switch self {
        case .connect: limits.connect = limit
        case .firstByte: limits.firstByte = limit
        case .idle: limits.idle = limit
        case .slot: limits.slot = limit
        case .total: limits.total = limit
        }
    }
}
