import NetKit
import NetKitOffline
import NetKitTesting
import Testing

/// Uploads that a server defers.
@Suite(.timeLimit(.minutes(5)))
struct UploadRetryAfterTests {
    private let stub = StubTransport()
    /// A clock that begins at Sun, 06 Nov 1994 08:49:37 GMT.
    private let time = StubTime()
    private let folder: TemporaryFolder
    private let outcomes = Collected<String>()
    private let agent: Agent

    init() throws {
        folder = try TemporaryFolder()
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.register("*", with: .status(201))
    }

    private func queue(lifetime: Duration = .seconds(100_000)) throws -> UploadQueue {
        try UploadQueue(
            folder: folder.path, maxConcurrent: 1, lifetime: lifetime, time: time.source,
            onOutcome: { [outcomes] outcome in
                switch outcome {
                case .answered(let upload, let response): outcomes.append("\(upload.id) answered \(response.status)")
                case .failed(let upload, let error): outcomes.append("\(upload.id) failed \(error.code)")
                case .expired(let upload): outcomes.append("\(upload.id) expired")
                }
            })
    }

    private func refusal(_ status: Int, _ fields: String...) -> StubReply {
        StubReply(status: status, headers: Headers(fields.map { .init(name: "Retry-After", value: $0) }))
    }

    private func upload(_ path: String) -> Request<Void> { Request<Void>(path, method: .put, body: .text("x")) }

    @Test(arguments: [
        (503, "120"), (429, "120"), (503, " 120 "), (503, "Sun, 06 Nov 1994 08:51:37 GMT"),
        (429, "Sunday, 06-Nov-94 08:51:37 GMT"), (503, "Sun Nov  6 08:51:37 1994"),
    ])
    func retryAfterDelaysTheNextAttempt(status: Int, field: String) async throws {
        stub.register("/1", with: refusal(status, field), .status(200))
        let queue = try queue()
        try await queue.add(upload("/1"))
        try await queue.add(upload("/2"))
        await agent.upload(queue, untilEmpty: true)
        // The other upload does not wait for it.
        #expect(stub.requests.map(\.path) == ["/1", "/2", "/1"])
        #expect(time.waits == [.seconds(120)])
        #expect(outcomes.values == ["2 answered 201", "1 answered 200"])
    }

    @Test(arguments: ["0", "1", "", "soon", "-5", "1.5", "Sun, 06 Nov 1994 08:49:36 GMT", "120 seconds"])
    func invalidOrShorterRetryAfterKeepsTheOwnDelay(field: String) async throws {
        stub.register("/1", with: refusal(503, field), refusal(503, field), .status(200))
        let queue = try queue()
        try await queue.add(upload("/1"))
        await agent.upload(queue, untilEmpty: true)
        #expect(time.waits == [.seconds(1), .seconds(2)])
    }

    @Test func retryTimeSurvivesARestart() async throws {
        stub.register("/1", with: refusal(503, "3600"), .status(200))
        let gate = StubGate()
        do {
            let queue = try queue()
            try await queue.add(upload("/1"))
            time.hold(by: gate)
            let sending = Task { [agent] in await agent.upload(queue) }
            while time.waits.isEmpty {
                await Task.yield()
            }
            sending.cancel()
            gate.open()
            await sending.value
        }
        time.advance(by: .seconds(600))
        let later = try queue()
        #expect(later.uploads.map(\.notBefore) == [784_111_777 + 3600])
        await agent.upload(later, untilEmpty: true)
        #expect(time.waits == [.seconds(3600), .seconds(3000)])
        #expect(stub.requests.count == 2 && outcomes.values == ["1 answered 200"])
        #expect(folder.names == [])
    }

    @Test func pastRetryTimeDelaysNothing() async throws {
        try folder.write(
            Array(
                #"{"expiresAt":784200000,"fields":[],"id":1,"keptAt":0,"method":"PUT","notBefore":5,"url":"/1"}"#.utf8),
            to: "000000000001.json")
        // The format of an earlier version.
        try folder.write(
            Array(#"{"expiresAt":784200000,"fields":[],"id":2,"keptAt":0,"method":"PUT","url":"/2"}"#.utf8),
            to: "000000000002.json")
        await agent.upload(try queue(), untilEmpty: true)
        #expect(stub.requests.map(\.path) == ["/1", "/2"] && time.waits.isEmpty)
    }

    /// A machine without a real-time clock begins in 1970, until it gets the time from the network.
    @Test func clockSetBackDelaysNothing() async throws {
        let text =
            #"{"expiresAt":784200000,"fields":[],"id":1,"keptAt":784111777,"method":"PUT","notBefore":784111807,"url":"/1"}"#
        try folder.write(Array(text.utf8), to: "000000000001.json")
        let time = StubTime(epochSeconds: 60)
        let queue = try UploadQueue(folder: folder.path, time: time.source)
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests.map(\.path) == ["/1"] && time.waits.isEmpty)
    }

    @Test(arguments: ["99999999999999999999", "100000", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func retryAfterCannotExtendTheLifetime(field: String) async throws {
        stub.register("/1", with: refusal(503, field))
        let queue = try queue(lifetime: .seconds(500))
        try await queue.add(upload("/1"))
        await agent.upload(queue, untilEmpty: true)
        #expect(time.waits == [.seconds(500)])
        #expect(outcomes.values == ["1 expired"] && folder.names == [])
    }

    @Test func uploadCancelledWhileWaitingStaysRemoved() async throws {
        let gate = StubGate()
        stub.register("/1", with: refusal(503, "50").held(by: gate))
        let queue = try queue()
        let kept = try await queue.add(upload("/1"))
        let sending = Task { [agent] in await agent.upload(queue, untilEmpty: true) }
        try await gate.waitForArrivals(1)
        #expect(queue.remove(kept.id))
        gate.open()
        await sending.value
        #expect(folder.names == [] && outcomes.values.isEmpty)
    }

    @Test func anotherFailureReplacesTheRetryTime() async throws {
        stub.register("/1", with: refusal(503, "50"), .status(503), .status(200))
        let queue = try queue()
        try await queue.add(upload("/1"))
        await agent.upload(queue, untilEmpty: true)
        #expect(time.waits == [.seconds(50), .seconds(2)])
    }
}
