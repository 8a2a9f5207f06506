import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// The spellings of one-line calls that a Swift programmer tries first, with what a server receives.
@Suite(.timeLimit(.minutes(5)))
struct OneLineCallTests {
    private struct City: Codable, Sendable, Equatable { var name = "Oslo", people = 7 }

    private struct Spelling: Sendable {
        let line: String
        let body: String
        let call: @Sendable (Agent) async throws -> Void
    }

    /// Not a constant: the leak sanitizer does not recognize the reference that a `JSONValue` in it holds.
    private static var spellings: [Spelling] {
        let (q, n, oslo, fields, near) = ("x", 3, City(), ["a": "b"], Int?.none)
        let tree: JSONValue = ["a": 1]
        let parameters: Parameters = ["z": 1, "a": ["b"]]
        let optional: Parameters? = parameters
        let city = #"{"name":"Oslo","people":7}"#
        var all: [Spelling] = []
        func add(_ line: String, _ body: String = "", _ call: @escaping @Sendable (Agent) async throws -> Void) {
            all.append(Spelling(line: line, body: body, call: call))
        }
        add("GET /c") { try await $0.get("c") }
        add("GET /c?n=3&q=x") { try await $0.get("c", query: ["q": q, "n": n]) }
        add("GET /c?n=1&q=x") { try await $0.get("c", query: ["q": "x", "n": 1]) }
        add("GET /c?near&q=x") { try await $0.get("c", query: ["q": q, "near": near]) }
        add("GET /c?a=1&a=2") { try await $0.get("c", query: ["a": "1", "a": "2"]) }
        add("GET /c?a=b") { try await $0.get("c", query: fields) }
        add("GET /c?name=Oslo&people=7") { try await $0.get("c", query: oslo) }
        add("GET /c?a%5B%5D=b&z=1") { try await $0.get("c", query: parameters) }
        add("GET /c?a%5B%5D=b&z=1") { try await $0.get("c", query: optional) }
        add("GET /c?a%5Bb%5D=1&a%5Bc%5D=x") { try await $0.get("c", query: ["a": ["b": 1, "c": "x"]]) }
        add("GET /c?a%5B%5D=b&z=1") { try await $0.get("c", parameters: parameters) }
        add("HEAD /c?n=3") { try await $0.head("c", query: ["n": n]) }
        add("DELETE /c/1") { try await $0.delete("c/1") }
        add("POST /c", city) { try await $0.post("c", json: oslo) }
        add("PUT /c", city) { try await $0.put("c", json: oslo) }
        add("PATCH /c", #"{"name":"x","near":null}"#) {
            try await $0.patch("c", json: ["name": q, "near": near])
        }
        add("POST /c", #"{"name":"x","people":3}"#) { try await $0.post("c", json: ["name": q, "people": n]) }
        add("POST /c", #"{"z":1,"a":2}"#) { try await $0.post("c", json: ["z": 1, "a": 2]) }
        add("POST /c", #"{"city":{"name":"x","people":1}}"#) {
            try await $0.post("c", json: ["city": ["name": "x", "people": 1]])
        }
        add("POST /c", "[\(city)]") { try await $0.post("c", json: [oslo]) }
        add("POST /c", #"{"a":1}"#) { try await $0.post("c", json: tree) }
        add("POST /c", #"{"z":1,"a":["b"]}"#) { try await $0.post("c", json: parameters) }
        add("POST /c?dry=x", city) { try await $0.post("c", query: ["dry": q], json: oslo) }
        add("POST /c?dry=x", city) { try await $0.post("c", query: ["dry": q], body: .json(oslo)) }
        add("POST /c", "n=3&q=x") { try await $0.post("c", form: ["q": q, "n": n]) }
        add("POST /c", "a=b") { try await $0.post("c", form: fields) }
        add("POST /c", "name=Oslo&people=7") { try await $0.post("c", form: oslo) }
        add("POST /c?n=3", "a=b") { try await $0.post("c", query: ["n": n], form: ["a": "b"]) }
        add("POST /c", "n=3") { try await $0.post("c", parameters: ["n": n]) }
        add("POST /c?q=x", "n=3") { try await $0.post("c", parameters: ["n": n], query: ["q": q]) }
        add("GET /c?n=3&q=x") { try await $0.get("c", parameters: ["n": n], query: ["q": q]) }
        add("OPTIONS /c") { try await $0.options("c") }
        add("GET /c?n=3") { _ = try await $0.stream("c", query: ["n": n]).collect(upTo: 100) }
        add("POST /c?n=3", #"{"name":"x","near":null}"#) {
            let json: Parameters = ["name": "x", "near": nil]
            _ = try await $0.stream("c", method: .post, query: ["n": 3], json: json).collect(upTo: 100)
        }
        add("POST /c", #"{"name":"x","near":null}"#) {
            _ = try await $0.stream("c", method: .post, json: ["name": q, "near": near]).collect(upTo: 100)
        }
        add("PUT /c", city) { _ = try await $0.stream("c", method: .put, json: oslo).collect(upTo: 100) }
        add("POST /c", #"{"on":true,"messages":[{"role":"x"}]}"#) {
            let json: Parameters = ["on": true, "messages": [["role": "x"]]]
            _ = try await $0.stream("c", method: .post, json: json).collect(upTo: 100)
        }
        add("POST /c?n=3", "a=b") {
            _ = try await $0.stream("c", method: .post, query: ["n": n], form: ["a": "b"]).collect(upTo: 100)
        }
        add("POST /c", "hello") {
            _ = try await $0.stream("c", method: .post, body: .text("hello")).collect(upTo: 100)
        }
        add("POST /c", "hello") { try await $0.post("c", body: .text("hello")) }
        return all
    }

    private let stub = StubTransport { _ in .json(#"{"name":"Oslo","people":7}"#) }

    private var agent: Agent { Agent(.init(baseURL: "http://h/"), transport: stub) }

    @Test(arguments: spellings.indices) func everySpellingSendsItsRequest(index: Int) async throws {
        let spelling = Self.spellings[index]
        try await spelling.call(agent)
        let sent = try #require(stub.requests.first)
        #expect("\(sent.method) \(sent.url)" == spelling.line.replacing("/c", with: "http://h/c"))
        #expect(String(decoding: sent.body, as: UTF8.self) == spelling.body)
    }

    @Test func typeOfTheValueIsAnArgumentOrInferred() async throws {
        let agent = agent
        #expect(try await agent.post("c", as: City.self, json: City()).value == City())
        let inferred: City = try await agent.get("c", query: ["q": "x"]).value
        #expect(inferred == City())
        let response: Response<City> = try await agent.put("c", json: City(name: "Bern"))
        #expect(response.value == City())
        let text: String = try await agent.get("c").value
        #expect(text.hasPrefix("{"))
    }

    @Test func settingsOfTheCallAreThoseOfItsRequest() async throws {
        try await agent.post(
            "c", json: City(), headers: ["X-A": "b"], credentials: .bearer("token"), caching: .off, timeout: .seconds(3)
        )
        let sent = try #require(stub.requests.first?.request)
        #expect(sent.headers["X-A"] == "b" && sent.credentials == .bearer("token") && sent.timeout == .seconds(3))
        if case .off = sent.caching {} else { Issue.record("the call has no cache rules") }
    }

    @Test func callWithTwoBodiesIsRefused() async throws {
        let agent = agent
        let calls: [@Sendable () async throws -> Void] = [
            { try await agent.post("c", json: City(), body: .text("x")) },
            { try await agent.post("c", json: ["a": 1], form: ["a": 1]) },
            { try await agent.post("c", form: ["a": 1], body: .text("x")) },
            { try await agent.post("c", query: ["b": 1], form: ["a": 1], body: .text("x")) },
            { try await agent.post("c", json: City(), multipart: MultipartBody()) },
            { try await agent.post("c", parameters: ["a": 1], form: ["a": 1]) },
        ]
        for call in calls {
            let error = await #expect(throws: NetError.self) { try await call() }
            #expect(error?.code == .usage)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func formIsTheBeginningOfAMultipartBody() async throws {
        var form = MultipartBody(boundary: "b")
        form.append("there", name: "second")
        try await agent.post("c", query: ["n": 1], form: ["first": "here"], multipart: form)
        let sent = try #require(stub.requests.first)
        let text = String(decoding: sent.body, as: UTF8.self)
        let first = try #require(text.firstRange(of: "name=\"first\""))
        #expect(first.lowerBound < (try #require(text.firstRange(of: "name=\"second\""))).lowerBound)
        #expect(sent.url == "http://h/c?n=1")
    }

    @Test func bodyIsReadLaterAsTextTreeOrValue() async throws {
        let response = try await agent.get("c")
        #expect(response.isSuccess && response.text == #"{"name":"Oslo","people":7}"#)
        #expect(try response.json()["name"]?.string == "Oslo")
        #expect(try response.decode(City.self) == City())
        let inferred: City = try response.decode()
        #expect(inferred == City() && response.value?["people"] == 7)
        let error = #expect(throws: NetError.self) { try response.decode([City].self) }
        #expect(error?.code == .decoding && error?.response?.text == response.text)
    }

    @Test func bodyOfAnotherTypeHasNoTree() async throws {
        let page = StubTransport { _ in .text("hello") }
        let response = try await Agent(.init(baseURL: "http://h/"), transport: page).get("c")
        #expect(response.value == nil && response.text == "hello")
        #expect(throws: NetError.self) { try response.json() }
        let broken = StubTransport { _ in .json("{") }
        let error = await #expect(throws: NetError.self) {
            try await Agent(.init(baseURL: "http://h/"), transport: broken).get("c")
        }
        #expect(error?.code == .decoding && error?.isCancelled == false)
    }

    @Test func textIsReadInTheCharsetOfTheResponse() {
        let latin = Response(
            status: 200, headers: ["Content-Type": "text/plain; charset=iso-8859-1"], bytes: [0x67, 0xFC])
        #expect(latin.text == "gü")
        #expect(Response(status: 404, bytes: [0x67, 0xFF]).text == "g\u{FFFD}")
        #expect(!Response(status: 404).isSuccess && !Response(status: 304).isSuccess && Response(status: 299).isSuccess)
    }

    @Test func fileIsUploaded() async throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.file("a.txt"))
        try Data("content".utf8).write(to: file)
        let (server, agent) = (try LoopbackServer(), Agent())
        server.script("/a", .json(#"{"name":"Oslo","people":7}"#))
        try await agent.upload(file: file, to: server.url("/a"), contentType: "text/plain", credentials: .bearer("t"))
        let typed = try await agent.upload(file: file.path, to: server.url("/a"), as: City.self, method: .put)
        #expect(typed.value == City())
        #expect(server.received(0).requestLine == "POST /a HTTP/1.1")
        #expect(server.received(0).body == Array("content".utf8))
        #expect(server.received(0).values(named: "Content-Type") == ["text/plain"])
        #expect(server.received(0).values(named: "Authorization") == ["Bearer t"])
        #expect(server.received(1).requestLine == "PUT /a HTTP/1.1")
        await agent.shutdown()
    }

    @Test func bytesInMemoryAreUploaded() async throws {
        let (server, agent) = (try LoopbackServer(), Agent())
        server.script("/a", .json(#"{"name":"Oslo","people":7}"#))
        let (url, bytes) = (server.url("/a"), [UInt8](repeating: 7, count: 10_000))
        let updates = Collected<TransferProgress>()
        try await agent.upload(Data(bytes), to: url, method: .put, headers: ["X-A": "b"]) { updates.append($0) }
        let typed = try await agent.upload(bytes, to: url, as: City.self, contentType: "image/png")
        #expect(typed.value == City())
        #expect(try await agent.upload(Bytes(bytes), to: url).value?["people"] == 7)
        #expect((0..<3).allSatisfy { server.received($0).body == bytes })
        #expect(server.received(0).requestLine == "PUT /a HTTP/1.1")
        #expect(server.received(0).values(named: "X-A") == ["b"])
        #expect(server.received(1).values(named: "Content-Type") == ["image/png"])
        #expect(updates.values.last.map { $0.sent == 10_000 && ($0.total ?? 0) >= 10_000 } == true)
        await agent.shutdown()
    }

    @Test func redirectIsTheResponseIfItIsNotFollowed() async throws {
        let (server, agent) = (try LoopbackServer(), Agent())
        server.script("/old", .redirect(to: server.url("/new")))
        server.script("/new", .text("new"))
        let response = try await agent.get(server.url("/old"), redirects: .return)
        #expect(response.status == 302 && response.headers["Location"] == server.url("/new"))
        #expect(try await agent.get(server.url("/old"), as: String.self, redirects: .follow).value == "new")
        let stream = try await agent.stream(server.url("/old"), redirects: .return)
        #expect(stream.status == 302)
        let folder = try TemporaryFolder()
        let error = await #expect(throws: NetError.self) {
            try await agent.download(server.url("/old"), to: folder.file("f"), redirects: .return)
        }
        #expect(error?.status == 302 && folder.contents(of: "f") == nil)
        await agent.shutdown()
    }

    @Test func callIsSentAgainAsOftenAsItSays() async throws {
        let (server, folder, agent) = (try LoopbackServer(), try TemporaryFolder(), Agent())
        let once = RetryPolicy.custom(Retry(maxRetries: 1, baseDelay: .milliseconds(1)))
        let calls: [(path: String, call: (String) async throws -> Void)] = [
            ("/get", { try await agent.get($0, retries: 1) }),
            ("/stream", { _ = try await agent.stream($0, retries: once).collect(upTo: 10) }),
            ("/upload", { try await agent.upload([1], to: $0, method: .put, retries: once) }),
            ("/download", { try await agent.download($0, to: folder.file("f"), retries: once) }),
        ]
        for (index, (path, call)) in calls.enumerated() {
            server.script(path, [Reply(status: 503), .text("ok")])
            try await call(server.url(path))
            #expect(server.requestCount == 2 * (index + 1))
        }
        let strict = Agent(configured: { $0.interceptors = [Retry()] })
        server.script("/never", Reply(status: 503))
        let error = await #expect(throws: NetError.self) { try await strict.get(server.url("/never"), retries: .never) }
        #expect(error?.status == 503 && server.requestCount == 9)
        await agent.shutdown()
        await strict.shutdown()
    }

    @Test func callAcceptsItsOwnStatuses() async throws {
        let missing = StubTransport { _ in .status(404) }
        let agent = Agent(.init(baseURL: "http://h/"), transport: missing)
        #expect(try await agent.get("c", acceptedStatuses: [200, 404]).status == 404)
        #expect(try await agent.stream("c", acceptedStatuses: .any).status == 404)
        #expect(try await agent.upload([1], to: "c", acceptedStatuses: 200..<500).status == 404)
        let error = await #expect(throws: NetError.self) { try await agent.get("c", acceptedStatuses: [200]) }
        #expect(error?.status == 404)
    }

    @Test func downloadAcceptsItsCommonOptions() async throws {
        let (server, folder, agent) = (try LoopbackServer(), try TemporaryFolder(), Agent())
        server.script("/f", .text("abc"))
        let (url, file) = (server.url("/f"), folder.file("f"))
        let md5 = Checksum.md5("900150983cd24fb0d6963f7d28e17f72")
        let saved = try await agent.download(
            url, to: file, resume: false, overwrite: false, checksum: md5, segments: 2, maxBytes: 3)
        #expect(saved.status == 200 && saved.value.path == file && saved.value.resumedBytes == 0)
        func code(_ download: () async throws -> Void) async -> NetError.Code? {
            let error = await #expect(throws: NetError.self) { try await download() }
            return error?.code
        }
        #expect(await code { try await agent.download(url, to: file, overwrite: false) } == .file)
        #expect(await code { try await agent.download(url, to: folder.file("g"), maxBytes: 2) } == .bodyTooLarge)
        let wrong = Checksum.sha256(String(repeating: "0", count: 64))
        #expect(await code { try await agent.download(url, to: file, checksum: wrong) } == .digestMismatch)
        #expect(folder.contents(of: "f") == Array("abc".utf8))
        await agent.shutdown()
    }

    @Test func eventsOfAStreamAreRead() async throws {
        let text = "data: one\n\nevent: x\ndata: two\n\n: comment\ndata: incomplete"
        let feed = StubTransport { _ in .text(text) }
        let stream = try await Agent(.init(baseURL: "http://h/"), transport: feed).stream(
            "c", query: ["n": 1], headers: ["X-A": "b"], credentials: .bearer("t"))
        var events: [ServerSentEvent] = []
        for try await event in stream.events {
            events.append(event)
        }
        #expect(events.map(\.data) == ["one", "two"] && events.map(\.name) == ["message", "x"])
        #expect(feed.requests.first?.url == "http://h/c?n=1" && feed.requests.first?.headers["X-A"] == "b")
    }

    @Test func downloadAcceptsAQueryAndHeaders() async throws {
        let folder = try TemporaryFolder()
        let file = try await agent.download(
            "c", to: folder.file("c"), query: ["n": 1], headers: ["X-A": "b"], timeout: .seconds(9))
        #expect(file.value.byteCount == 26)
        let sent = try #require(stub.requests.first)
        #expect(sent.url == "http://h/c?n=1" && sent.headers["X-A"] == "b" && sent.request.timeout == .seconds(9))
    }

    @Test func cancelledCallReportsThatItWasCancelled() async {
        let task = Task { [agent] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await agent.result(Request<City>("c"))
        }
        let error = failure(of: await task.value)
        #expect(error?.isCancelled == true)
    }

    private func failure(of result: Result<Response<City>, NetError>) -> NetError? {
        if case .failure(let error) = result { error } else { nil }
    }
}
