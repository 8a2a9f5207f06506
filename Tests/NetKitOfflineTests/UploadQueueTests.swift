import NetKit
import NetKitOffline
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Uploads that are written to disk before they are sent.
@Suite(.timeLimit(.minutes(5)))
struct UploadQueueTests {
    private let stub = StubTransport()
    private let time = StubTime()
    private let folder: TemporaryFolder
    private let files: TemporaryFolder
    private let outcomes = Collected<String>()
    private let agent: Agent

    init() throws {
        folder = try TemporaryFolder()
        files = try TemporaryFolder()
        agent = Agent(.init(baseURL: "http://stub/v1"), transport: stub)
        stub.register("*", with: .status(201))
    }

    private func queue(
        maxConcurrent: Int = 1, lifetime: Duration = .seconds(1000), maxBodyBytes: Int = 100,
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in }
    ) throws -> UploadQueue {
        try UploadQueue(
            folder: folder.path, maxConcurrent: maxConcurrent, lifetime: lifetime, maxBodyBytes: maxBodyBytes,
            time: time.source,
            onOutcome: { [outcomes] outcome in
                switch outcome {
                case .answered(let upload, let response): outcomes.append("\(upload.id) answered \(response.status)")
                case .failed(let upload, let error): outcomes.append("\(upload.id) failed \(error.code)")
                case .expired(let upload): outcomes.append("\(upload.id) expired")
                }
            }, prepare: prepare)
    }

    private func upload(_ number: Int, _ content: String = "content") throws -> Request<Void> {
        try files.write(Array("\(content) \(number)".utf8), to: "\(number)")
        return Request<Void>(
            "up/\(number)", method: .post, body: .file(files.file("\(number)"), contentType: "text/x"))
    }

    private func body(_ index: Int) -> String { String(decoding: Array(stub.requests[index].body), as: UTF8.self) }

    @Test func filesAreSentInOrderWithTheirOwnKey() async throws {
        let queue = try queue()
        for number in 1...3 {
            try await queue.add(try upload(number))
        }
        #expect(folder.names == (1...3).map { "00000000000\($0).json" } && stub.requests.isEmpty)
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests.map(\.url) == (1...3).map { "http://stub/v1/up/\($0)" })
        #expect((0..<3).map(body) == ["content 1", "content 2", "content 3"])
        let keys = stub.requests.compactMap { $0.headers["Idempotency-Key"] }
        #expect(Set(keys).count == 3 && keys.allSatisfy { $0.count == 32 })
        #expect(stub.requests[0].headers["Content-Type"] == "text/x")
        #expect(outcomes.values == ["1 answered 201", "2 answered 201", "3 answered 201"])
        #expect(folder.names == [] && queue.uploads.isEmpty)
    }

    @Test func returnedRedirectIsAnAnswer() async throws {
        stub.register("*", with: .redirect(to: "http://stub/v1/other"))
        let queue = try queue()
        var request = try upload(1)
        request.redirects = .return
        try await queue.add(request)
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 answered 302"])
    }

    @Test func statusesOfTheSendingAgentApply() async throws {
        stub.register("*", with: .status(409))
        var configuration = Agent.Configuration(baseURL: "http://stub/v1")
        configuration.acceptedStatuses = [201, 409]
        let queue = try queue()
        try await queue.add(try upload(1))
        await Agent(configuration, transport: stub).upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 answered 409"])
    }

    @Test func keyOfTheCallerIsUsed() async throws {
        let queue = try queue()
        var request = try upload(1)
        request.headers["idempotency-key"] = "mine"
        try await queue.add(request)
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests[0].headers.values(named: "Idempotency-Key") == ["mine"])
    }

    @Test func restartPreservesUploadsTheirOrderAndTheirKeys() async throws {
        var keys: [String] = []
        do {
            let queue = try queue()
            for number in 1...12 {
                let kept = try await queue.add(try upload(number))
                keys += kept.fields.filter { $0.name == "Idempotency-Key" }.map(\.value)
            }
        }
        try folder.write(Array("half".utf8), to: "000000000004.json.nk-77.part")
        try folder.write(Array("half".utf8), to: "000000000013.body.nk-77.part")
        try folder.write(Array("nobody's".utf8), to: "000000000014.body")
        try folder.write(Array("{".utf8), to: "000000000099.json")
        let again = try queue()
        #expect(again.uploads.map(\.id) == Array(1...12))
        #expect(folder.names.count == 13)
        await agent.upload(again, untilEmpty: true)
        #expect(stub.requests.map(\.path) == (1...12).map { "/v1/up/\($0)" })
        #expect(stub.requests.compactMap { $0.headers["Idempotency-Key"] } == keys && Set(keys).count == 12)
    }

    @Test func unknownFilesAreIgnoredAndReplaceNoUpload() async throws {
        try await (try queue()).add(try upload(1))
        let record = String(decoding: folder.contents(of: "000000000001.json") ?? [], as: UTF8.self)
        let huge = "\(Int.max)"
        let strange = [
            ("000000000002.json", ""), ("000000000003.json", String(record.dropLast(20))),
            ("000000000004.json", record), ("\(huge).json", record.replacing("\"id\":1,", with: "\"id\":\(huge),")),
            ("-5.json", record.replacing("\"id\":1,", with: "\"id\":-5,")), ("x.json", "{}"), ("7.txt", "7"),
        ]
        for (name, text) in strange {
            try folder.write(Array(text.utf8), to: name)
        }
        let queue = try queue()
        #expect(queue.uploads.map(\.id) == [1])
        #expect(try await queue.add(try upload(2)).id == 5)
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 answered 201", "5 answered 201"])
        #expect(Set(folder.names) == Set(strange.map(\.0)))
        for (name, text) in strange {
            #expect(folder.contents(of: name) == Array(text.utf8))
        }
    }

    @Test func temporaryFailureIsRetriedWithTheSameKey() async throws {
        let queue = try queue()
        stub.register("/v1/up/1", with: .failure(.reset), .status(503), .status(429), .status(200))
        try await queue.add(try upload(1))
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests.count == 4)
        #expect(Set(stub.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
        #expect((0..<4).map(body) == Array(repeating: "content 1", count: 4))
        #expect(time.waits == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(outcomes.values == ["1 answered 200"])
    }

    @Test func waitingUploadDoesNotBlockOthers() async throws {
        let queue = try queue()
        stub.register("/v1/up/1", with: .status(503), .status(200))
        for number in 1...3 {
            try await queue.add(try upload(number))
        }
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests.map(\.path) == ["/v1/up/1", "/v1/up/2", "/v1/up/3", "/v1/up/1"])
        #expect(outcomes.values == ["2 answered 201", "3 answered 201", "1 answered 200"])
    }

    @Test func permanentFailureEndsTheUpload() async throws {
        let queue = try queue()
        stub.register("/v1/up/1", with: .failure(.tlsUntrusted))
        stub.register("/v1/up/2", with: .status(400))
        for number in 1...3 {
            try await queue.add(try upload(number))
        }
        unsafe unlink(files.file("3"))
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 failed tlsUntrusted", "2 failed status", "3 failed file"])
        #expect(folder.names == [])
    }

    @Test func uploadExpiresAfterItsLifetime() async throws {
        let queue = try queue(lifetime: .seconds(10))
        try await queue.add(try upload(1))
        time.advance(by: .seconds(10))
        try await queue.add(try upload(2))
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 expired", "2 answered 201"])
    }

    @Test func copyIsSentAfterTheFileChanges() async throws {
        do {
            let queue = try queue()
            try await queue.add(try upload(1, "as it was"), keeping: .copy)
        }
        #expect(folder.names == ["000000000001.body", "000000000001.json"])
        try files.write(Array("changed".utf8), to: "1")
        let again = try queue()
        await agent.upload(again, untilEmpty: true)
        #expect(body(0) == "as it was 1" && folder.names == [])
    }

    @Test func formsAndParametersArePersistedAsTheyAreSent() async throws {
        let queue = try queue()
        var form = MultipartBody()
        try files.write(Array("the file".utf8), to: "f")
        form.append(.file(files.file("f")), name: "file")
        try await queue.add(
            Request<Void>("form", method: .post, parameters: ["a": 1], body: .multipart(form)))
        try await queue.add(Request<Void>("fields", method: .put, parameters: ["a": 1]))
        try await queue.add(Request<Void>("query", method: .delete, parameters: ["a": 1]))
        let pieces = Pieces([[UInt8]](repeating: Array(repeating: 65, count: 100), count: 5))
        try await queue.add(Request<Void>("pieces", method: .post, body: .once(pieces)))
        #expect(folder.names.filter { $0.hasSuffix(".body") } == ["000000000001.body", "000000000004.body"])
        await agent.upload(queue, untilEmpty: true)
        let type = try #require(stub.requests[0].headers["Content-Type"])
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(type.hasPrefix("multipart/form-data") && body(0).hasPrefix("--\(boundary)\r\n"))
        #expect(body(0).contains("name=\"a\"") && body(0).contains("the file"))
        #expect(body(1) == "a=1" && stub.requests[2].query == "a=1")
        #expect(body(3) == String(repeating: "A", count: 500))
        #expect(folder.names == [])
    }

    @Test func noSecretIsPersisted() async throws {
        let queue = try queue(prepare: { request throws(NetError) in
            request.headers["Authorization"] = "Bearer fresh"
        })
        var request = try upload(1)
        request.headers["Authorization"] = "Bearer hunter2"
        request.credentials = .basic(user: "u", password: "hunter2")
        try await queue.add(request)
        let written = String(decoding: try #require(folder.contents(of: "000000000001.json")), as: UTF8.self)
        #expect(!written.contains("hunter2"))
        for url in ["http://a.example/?access_token=hunter2", "http://u:hunter2@a.example/"] {
            let error = await #expect(throws: NetError.self) {
                try await queue.add(Request<Void>(url, method: .put, body: .text("x")))
            }
            #expect(error?.code == .usage)
        }
        let error = await #expect(throws: NetError.self) {
            try await queue.add(Request<Void>("x", method: .post, body: .json(["password": "hunter2"])))
        }
        #expect(error?.code == .usage && folder.names.count == 1)
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests[0].headers["Authorization"] == "Bearer fresh")
    }

    @Test func uploadThatCannotBePersistedIsReportedAndNotQueued() async throws {
        let queue = try queue()
        let missing = Request<Void>("x", method: .post, body: .file(files.file("missing")))
        let error = await #expect(throws: NetError.self) { try await queue.add(missing, keeping: .copy) }
        #expect(error?.code == .file)
        let broken = Pieces<[UInt8]> { _ in throw BufferingOutput.Full() }
        let source = await #expect(throws: NetError.self) {
            try await queue.add(Request<Void>("x", method: .post, body: .once(broken)))
        }
        #expect(source?.code == .bodySource)
        #expect(queue.uploads.isEmpty && folder.names == [])
    }

    @Test func uploadCanBeCancelled() async throws {
        let queue = try queue()
        let first = try await queue.add(try upload(1), keeping: .copy)
        try await queue.add(try upload(2))
        #expect(queue.remove(first.id) && !queue.remove(first.id))
        #expect(folder.names == ["000000000002.json"])
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["2 answered 201"])
    }

    @Test func uploadsInFlightDoNotExceedTheLimit() async throws {
        let gate = StubGate()
        stub.register("*", with: StubReply.status(200).held(by: gate))
        let queue = try queue(maxConcurrent: 3)
        for number in 1...8 {
            try await queue.add(try upload(number))
        }
        let task = Task { [agent] in await agent.upload(queue, untilEmpty: true) }
        try await gate.waitForArrivals(3)
        #expect(stub.requests.count == 3)
        // A second, concurrent run does not send them twice.
        await agent.upload(queue)
        gate.open()
        await task.value
        #expect(stub.requests.count == 8 && outcomes.values.count == 8)
    }

    @Test func uploadsAddedDuringASendAreSentAndCancellingKeepsTheOthers() async throws {
        let gate = StubGate()
        stub.register("/v1/up/2", with: StubReply.status(200).held(by: gate))
        let queue = try queue()
        let task = Task { [agent] in await agent.upload(queue) }
        try await queue.add(try upload(1))
        try await queue.add(try upload(2))
        try await queue.add(try upload(3))
        try await gate.waitForArrivals(1)
        task.cancel()
        await task.value
        #expect(outcomes.values == ["1 answered 201"])
        #expect(queue.uploads.map(\.id) == [2, 3])
        gate.open()
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 answered 201", "2 answered 200", "3 answered 201"])
        #expect(Set(stub.requests.filter { $0.path == "/v1/up/2" }.map { $0.headers["Idempotency-Key"] }).count == 1)
    }

    private func agent(_ transport: StubTransport, _ interceptor: any Interceptor) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub/v1")
        configuration.interceptors = [interceptor]
        return Agent(configuration, transport: transport)
    }

    @Test func offlineQueueOfTheAgentTakesNoUpload() async throws {
        stub.register("*", with: .failure(.unreachable), .status(201))
        let offline = try OfflineQueue(
            folder: files.path, reachability: Reachability(StubPath(.notReachable)), time: time.source)
        let queue = try queue(maxBodyBytes: 0)
        try await queue.add(try upload(1), keeping: .copy)
        await agent(stub, offline).upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 answered 201"] && offline.requests.isEmpty)
        #expect(body(1) == "content 1")
    }

    @Test func duplicateOfAnUploadInFlightIsSentAfterIt() async throws {
        let gate = StubGate()
        stub.register("*", with: .status(201).held(by: gate))
        // The waits between the attempts of the second upload end immediately, but move the clock.
        let queue = try queue(maxConcurrent: 2, lifetime: .seconds(1_000_000_000))
        for text in ["one", "other"] {
            try await queue.add(Request<Void>("photos", method: .post, body: .text(text)))
        }
        let sending = Task { [agent = agent(stub, RequestDeduplication(.ignore))] in
            await agent.upload(queue, untilEmpty: true)
        }
        try await gate.waitForArrivals(1)
        while time.waits.isEmpty {
            await Task.yield()
        }
        gate.open()
        await sending.value
        #expect(outcomes.values.sorted() == ["1 answered 201", "2 answered 201"])
        #expect(stub.requests.count == 2)
    }

    @Test(arguments: [
        (NetError(.unreachable, "no way"), "answered 201"), (NetError(.badJSON, "no token"), "failed authentication"),
    ])
    func temporaryRefreshFailureLosesNoUpload(failure: NetError, outcome: String) async throws {
        let stub = StubTransport { $0.headers["X-Token"] == "new" ? .status(201) : .status(401) }
        let tries = Counter()
        let refresh = CredentialRefresh("old") {
            $0.headers["X-Token"] = $1
        } refresh: { _ in
            tries.increment()
            if tries.value == 1 {
                throw failure
            }
            return "new"
        }
        let queue = try queue()
        try await queue.add(try upload(1))
        await agent(stub, refresh).upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["1 \(outcome)"])
    }

    @Test func queueStoresASuffixOfAFile() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        try files.write(pattern(100), to: "file")
        let (outcomes, outcome) = AsyncStream.makeStream(of: OfflineQueue.Outcome.self)
        let queue = try UploadQueue(folder: folder.path) { outcome.yield($0) }
        let body = try Body.file(files.file("file")).suffix(from: 40)
        try await queue.add(Request<Bytes>(server.url("/"), method: .put, body: body))
        await Agent().upload(queue, untilEmpty: true)
        for await outcome in outcomes {
            guard case .answered(_, let response) = outcome else {
                Issue.record("the upload ended with \(outcome)")
                break
            }
            #expect(Array(response.bytes) == pattern(60, from: 40))
            break
        }
    }
}
