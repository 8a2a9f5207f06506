import NetKit
import Testing

struct LimitsTests {
    @Test func everyDefaultIsFinite() {
        let limits = Limits()
        #expect(limits.connect == .seconds(10))
        #expect(limits.firstByte == .seconds(60))
        #expect(limits.idle == .seconds(60))
        #expect(limits.slot == .seconds(60))
        #expect(limits.total == .seconds(300))
        #expect(limits.maxBodyBytes == 64 << 20)
        #expect(limits.maxHeadBytes == 256 << 10)
        #expect(limits.maxHeadFields == 256)
        #expect(limits.maxRedirects == 20)
    }

    @Test func engineDefaultsAreReplaced() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: (64 << 20) + 1))
        var limits = Limits()
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: Agent()) == .failed(.bodyTooLarge))
        limits.maxBodyBytes = nil
        var request = Request<Bytes>(server.url("/"))
        request.limits = limits
        #expect(try await Agent().send(request).bytes.count == (64 << 20) + 1)
    }

    // Durations that do not fit into 32 bits of milliseconds, and those for which 0 would select a default.
    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(-1), .zero, .nanoseconds(1), .seconds(5_000_000),
        Duration(secondsComponent: 9_223_372_036_854_775, attosecondsComponent: 999_000_000_000_000_000),
        .seconds(1e20),
    ])
    func anyDurationIsAccepted(duration: Duration) async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        var request = Request<Bytes>(server.url("/"))
        request.limits = Limits()
        request.limits.total = duration
        let agent = Agent()
        let isShort = duration < .seconds(1)
        let task = Task { [request] in await ending(of: request, from: agent) }
        if isShort {
            #expect(await task.value == .failed(.timeout))
        } else {
            try await server.waitForStalled(1)
            server.releaseStalled()
            #expect(await task.value == .answered)
        }
    }

    @Test(arguments: [Int.min, -1, 0])
    func zeroContentCodingsIsAValidLimit(number: Int) async throws {
        let stored: [UInt8] = [0x78, 0x01, 0x01, 0x02, 0x00, 0xfd, 0xff, 0x68, 0x69, 0x01, 0x3b, 0x00, 0xd2]
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Encoding: deflate"], body: stored))
        server.script("/plain", .text("hi"))
        var limits = Limits()
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: Agent()) == .answered)
        #expect(server.received(0).values(named: "Accept-Encoding").count == 1)
        limits.maxCodings = number
        var request = Request<Bytes>(server.url("/"))
        request.limits = limits
        try await expectFailure(.badCoding, of: request)
        #expect(server.received(1).values(named: "Accept-Encoding").isEmpty)
        request.acceptsCodings = false
        #expect(try await Agent().send(request).bytes == Bytes(stored))  // the coding is not decoded
        request.url = server.url("/plain")
        request.acceptsCodings = true
        #expect(try await Agent().send(request).bytes.text == "hi")
    }

    @Test(arguments: [Int.max, Int.min, -1, 0])
    func anyNumberOfBytesIsAccepted(number: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 2))
        var request = Request<Bytes>(server.url("/"))
        request.limits = Limits()
        request.limits.maxBodyBytes = number
        #expect(await ending(of: request, from: Agent()) == (number > 1 ? .answered : .failed(.bodyTooLarge)))
        request.limits = Limits()
        request.limits.maxHeadBytes = number
        #expect(await ending(of: request, from: Agent()) == (number > 1 ? .answered : .failed(.headTooLarge)))
        request.limits = Limits()
        request.limits.maxRedirects = number
        server.script("/", .redirect(to: "/there"))
        server.script("/there", Reply())
        #expect(await ending(of: request, from: Agent()) == (number > 0 ? .answered : .failed(.tooManyRedirects)))
    }

    @Test func requestLimitsOverrideAgentLimits() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100))
        var configuration = Agent.Configuration()
        configuration.limits.maxBodyBytes = 99
        let agent = Agent(configuration)
        var request = Request<Bytes>(server.url("/"))
        #expect(await ending(of: request, from: agent) == .failed(.bodyTooLarge))
        request.limits = Limits()  // sets none
        #expect(await ending(of: request, from: agent) == .failed(.bodyTooLarge))
        request.limits.maxBodyBytes = nil
        #expect(await ending(of: request, from: agent) == .answered)
        request.limits.maxBodyBytes = 100
        #expect(await ending(of: request, from: agent) == .answered)
    }

    @Test func headFieldsAreCountedExactly() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: (1...9).map { "X-\($0): 1" }))
        var request = Request<Bytes>(server.url("/"))
        request.limits = Limits()
        request.limits.maxHeadFields = 10
        #expect(await ending(of: request, from: Agent()) == .answered)
        request.limits.maxHeadFields = 9
        #expect(await ending(of: request, from: Agent()) == .failed(.headTooLarge))
    }
}
