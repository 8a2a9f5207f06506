import NetKit
import NetKitTesting
import Testing

/// Exchanges that are recorded from a server and replayed from a file.
struct ReplayTests {
    private let server: MockServer
    private let folder: TemporaryFolder
    private let recorder = Recorder()
    private var configuration: Agent.Configuration

    init() throws {
        server = try MockServer()
        folder = try TemporaryFolder()
        configuration = Agent.Configuration(baseURL: server.url)
        configuration.interceptors = [recorder]
    }

    private var file: String { folder.file("recording.json") }

    /// Returns an agent that replays the recording through a file.
    private func replaying() throws -> (Agent, ReplayTransport) {
        try recorder.recording.write(to: file)
        let replay = try ReplayTransport(contentsOf: file)
        return (Agent(.init(baseURL: server.url), transport: replay), replay)
    }

    private func text(_ bytes: Bytes) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    @Test func recordedResponseIsReplayed() async throws {
        try server.register("/cities", with: .json(#"["Bern"]"#), .status(503), .json("[]"))
        try server.register("/bytes", with: .bytes([0, 255, 7], contentType: "image/x"))
        let agent = Agent(configuration)
        let requests = [
            Request<Bytes>("/cities"), Request<Bytes>("/cities"), Request<Bytes>("/cities"), Request<Bytes>("/bytes"),
        ]
        for request in requests {
            _ = try await agent.send(request)
        }
        let (again, replay) = try replaying()
        #expect(replay.unused.count == 4)
        #expect(try await again.send(Request<[String]>("/cities")).value == ["Bern"])
        let error = await #expect(throws: NetError.self) { try await again.send(Request<[String]>("/cities")) }
        #expect(error?.code == .status)
        #expect(try await again.send(Request<[String]>("/cities")).value == [])
        #expect(try await again.send(Request<[String]>("/cities")).value == [])  // the last one is repeated
        #expect(Array(try await again.send(requests[3]).bytes) == [0, 255, 7])
        #expect(replay.unused.isEmpty && replay.requests.count == 5)
    }

    @Test func methodAndURLAndBodyAreMatched() async throws {
        try server.register("*", with: .text("one"), .text("two"), .text("three"))
        let agent = Agent(configuration)
        let post = Request<Bytes>("/p", method: .post, body: .text("a"))
        var other = post
        other.body = .text("b")
        for request in [post, other, Request<Bytes>("/p?page=2")] {
            _ = try await agent.send(request)
        }
        let (again, _) = try replaying()
        #expect(text(try await again.send(Request<Bytes>("/p?page=2")).bytes) == "three")
        #expect(text(try await again.send(other).bytes) == "two")
        #expect(text(try await again.send(post).bytes) == "one")
        other.body = .text("c")
        let unmatched: [(Request<Bytes>, String)] = [
            (other, "another body"), (Request<Bytes>("/p?page=3"), "page=2 was"), (Request<Bytes>("/q"), "/q"),
            (Request<Bytes>("/p", method: .put), "POST was"),
        ]
        for (request, words) in unmatched {
            let error = await #expect(throws: NetError.self) { try await again.send(request) }
            #expect(error?.code == .usage)
            #expect(error?.message.contains("was not recorded") == true)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test func redactedSecretsStillMatch() async throws {
        try server.register("*", with: .json(#"{"token":"hunter2","name":"Ada"}"#))
        let agent = Agent(configuration)
        func login(_ secret: String, _ body: String) -> Request<JSONValue> {
            Request<JSONValue>(
                "/login?api_key=\(secret)", method: .post,
                headers: ["Authorization": "Bearer \(secret)", "Cookie": "sid=\(secret)"],
                body: Body(Bytes(Array(body.utf8)), contentType: "application/json"))
        }
        _ = try await agent.send(login("hunter2", #"{"password":"hunter2","user":"ada"}"#))
        let (again, _) = try replaying()
        let written = String(decoding: try #require(folder.contents(of: "recording.json")), as: UTF8.self)
        #expect(!written.contains("hunter2"))
        #expect(written.contains("Ada") && written.contains(Redaction.mark))
        let value = try await again.send(login("another", #"{"user":"ada","password":"another"}"#)).value
        #expect(value["name"]?.string == "Ada" && value["token"]?.string == Redaction.mark)
    }

    @Test func redirectsAndFailuresAreReplayed() async throws {
        try server.register("/old", with: .redirect(to: "/new"))
        try server.register("/new", with: .text("here"))
        try server.register("/gone", with: .failure(.reset))
        let agent = Agent(configuration)
        let first = try await agent.send(Request<String>("/old"))
        await #expect(throws: NetError.self) { try await agent.send(Request<String>("/gone")) }
        let (again, replay) = try replaying()
        let second = try await again.send(Request<String>("/old"))
        #expect(second.value == "here" && second.url == first.url)
        #expect(replay.requests.map(\.path) == ["/old", "/new"])
        let error = await #expect(throws: NetError.self) { try await again.send(Request<String>("/gone")) }
        #expect(error?.isRetryable == true)
    }

    @Test func redirectsToOneTargetReplayTheirOwnResponses() async throws {
        try server.register("/a", with: .redirect(to: "/new", status: 307))
        try server.register("/b", with: .redirect(to: "/new", status: 307))
        try server.register("/new", with: .text("of a"), .text("of b"))
        let agent = Agent(configuration)
        for path in ["/a", "/b"] {
            _ = try await agent.send(Request<Bytes>(path, method: .post, body: .text("x")))
        }
        let (again, replay) = try replaying()
        // Both requests are redirected before either reaches its target. The second one reaches it first.
        let (firstIsLed, secondHasCome) = (Gate(), Gate())
        func post(_ path: String, onSecondReading: @escaping @Sendable () async throws -> Void) -> Request<String> {
            let readings = Counter()
            let body = Body.stream(contentType: "text/plain; charset=utf-8") {
                let reading = readings.increment()
                return Pieces<[UInt8]> { index in
                    if reading == 2, index == 0 {
                        try await onSecondReading()
                    }
                    return index == 0 ? Array("x".utf8) : nil
                }
            }
            return Request<String>(path, method: .post, body: body)
        }
        let first = post("/a") {
            firstIsLed.open()
            try await secondHasCome.opened()
        }
        async let ofA = again.send(first).value
        try await firstIsLed.opened()
        let ofB = try await again.send(post("/b") {}).value
        secondHasCome.open()
        let answers = [try await ofA, ofB]
        #expect(answers == ["of a", "of b"])
        #expect(replay.unused.isEmpty && replay.requests.count == 4)
    }

    @Test func redirectIsReplayedForAOneShotBody() async throws {
        try server.register("/old", with: .redirect(to: "/new", status: 303))
        try server.register("/new", with: .text("here"))
        func post() -> Request<String> {
            Request<String>("/old", method: .post, body: .once(Pieces([Array("piece".utf8)])))
        }
        let first = try await Agent(configuration).send(post())
        let (again, replay) = try replaying()
        let second = try await again.send(post())
        #expect(second.value == "here" && second.url == first.url)
        #expect(replay.requests.map(\.method) == [.post, .get])
    }

    @Test func unfollowedRedirectDoesNotConsumeATargetResponse() async throws {
        try server.register("/old", with: .redirect(to: "/new"))
        try server.register("/new", with: .text("moved"), .text("itself"))
        let agent = Agent(configuration)
        for path in ["/old", "/new"] {
            _ = try await agent.send(Request<String>(path))
        }
        let (again, _) = try replaying()
        var old = Request<String>("/old")
        old.limits = Limits()
        old.limits.maxRedirects = 0
        let error = await #expect(throws: NetError.self) { try await again.send(old) }
        #expect(error?.code == .tooManyRedirects)
        #expect(try await again.send(Request<String>("/new")).value == "itself")
    }

    @Test func streamsAndSavesAreRecordedToo() async throws {
        try server.register("*", with: .text("piece by piece"))
        let agent = Agent(configuration)
        #expect(text(try await agent.stream(Request<Bytes>("/s")).collect(upTo: 100)) == "piece by piece")
        _ = try await agent.download(Request<Bytes>("/f"), to: folder.file("saved"), options: .init(isResumable: false))
        let (again, _) = try replaying()
        #expect(text(try await again.stream(Request<Bytes>("/s")).collect(upTo: 100)) == "piece by piece")
        _ = try await again.download(Request<Bytes>("/f"), to: folder.file("again"), options: .init(isResumable: false))
        #expect(folder.contents(of: "again") == folder.contents(of: "saved"))
    }

    @Test func oversizedBodyCannotBeRecorded() async throws {
        try server.register("*", with: .text("too large"))
        var configuration = configuration
        let small = Recorder(maxBodyBytes: 3)
        configuration.interceptors = [small]
        let error = await #expect(throws: NetError.self) {
            try await Agent(configuration).send(Request<String>("/"))
        }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test(arguments: [Int.max, .max - 1])
    func recorderWorksWithoutALimit(maxBodyBytes: Int) async throws {
        try server.register("*", with: .text("whole"))
        var configuration = configuration
        let recorder = Recorder(maxBodyBytes: maxBodyBytes)
        configuration.interceptors = [recorder]
        let stream = try await Agent(configuration).stream(Request<Bytes>("/"))
        #expect(text(try await stream.collect(upTo: 100)) == "whole")
        #expect(recorder.recording.exchanges.count == 1)
    }

    @Test func replayRunsObserversAndInterceptors() async throws {
        try server.register("*", with: .status(503), .text("up"))
        let agent = Agent(configuration)
        for _ in 0..<2 {
            _ = try await agent.send(Request<Bytes>("/"))
        }
        let time = StubTime()
        let feed = EventFeed()
        var again = Agent.Configuration(baseURL: server.url)
        again.interceptors = [Retry(time: time.source)]
        again.observers = [feed]
        let replayed = Agent(again, transport: ReplayTransport(recorder.recording))
        #expect(try await replayed.send(Request<String>("/")).value == "up")
        feed.finish()
        var exchanges = 0
        for await event in feed.events {
            if case .exchangeEnded = event.change {
                exchanges += 1
            }
        }
        #expect(exchanges == 2 && time.waits.count == 1)
    }

    @Test(arguments: ["", "{", "[]", #"{"version":2,"exchanges":[]}"#, #"{"version":1}"#])
    func malformedRecordingIsReported(text: String) throws {
        try folder.write(Array(text.utf8), to: "recording.json")
        let error = #expect(throws: NetError.self) { try ReplayTransport(contentsOf: file) }
        #expect(error?.code == .decoding)
        let missing = #expect(throws: NetError.self) { try ReplayTransport(contentsOf: folder.file("none")) }
        #expect(missing?.code == .file)
    }

    @Test(arguments: [
        ("", "neither a response nor a failure"),
        (#","response":{"status":200,"fields":[],"body":{}},"failure":{"code":1,"message":""}"#, "both"),
        (#","response":{"status":70000,"fields":[],"body":{}}"#, "status 70000"),
        (#","failure":{"code":0,"message":""}"#, "code 0"),
    ])
    func unreplayableExchangeIsReported(end: String, fault: String) throws {
        let request = #""request":{"method":"GET","url":"http://stub/a","fields":[]}"#
        let sound = #"{\#(request),"response":{"status":200,"fields":[],"body":{}}}"#
        let text = #"{"version":1,"exchanges":[\#(sound),{\#(request)\#(end)}]}"#
        try folder.write(Array(text.utf8), to: "recording.json")
        let error = try #require(#expect(throws: NetError.self) { try ReplayTransport(contentsOf: file) })
        #expect(error.code == .decoding && error.message.contains(fault))
        #expect(error.message.contains("exchanges[1], GET http://stub/a"))
    }

    @Test func incompleteExchangeIsReportedWhenRequested() async throws {
        try server.register("*", with: .text("x"))
        _ = try await Agent(configuration).send(Request<Bytes>("/a"))
        var recording = recorder.recording
        recording.exchanges[0].response = nil
        let again = Agent(.init(baseURL: server.url), transport: ReplayTransport(recording))
        let error = await #expect(throws: NetError.self) { try await again.send(Request<Bytes>("/a")) }
        #expect(error?.code == .usage && error?.message.contains("/a, has neither") == true)
    }

    @Test func equalExchangesProduceEqualText() async throws {
        try server.register("*", with: .json(#"{"b":1,"a":2}"#))
        _ = try await Agent(configuration).send(Request<Bytes>("/"))
        try recorder.recording.write(to: file)
        let first = folder.contents(of: "recording.json")
        try Recording(contentsOf: file).write(to: file)
        #expect(folder.contents(of: "recording.json") == first)
    }
}
