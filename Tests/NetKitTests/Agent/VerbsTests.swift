import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// One-line calls, and their generic form that returns an unstarted call.
@Suite(.timeLimit(.minutes(5)))
struct VerbsTests {
    private let stub = StubTransport()

    private struct City: Codable, Hashable {
        var name: String
    }

    private var agent: Agent { Agent(.init(baseURL: "http://stub/v1"), transport: stub) }

    private func texts(_ agent: Agent) async throws -> [String] {
        let parameters: Parameters = ["a": 1]
        let headers: Headers = ["X-A": "b"]
        _ = try await agent.get("c", parameters: parameters, headers: headers)
        _ = try await agent.head("c", parameters: parameters, headers: headers)
        _ = try await agent.post("c", parameters: parameters, headers: headers)
        _ = try await agent.put("c", parameters: parameters, headers: headers)
        _ = try await agent.patch("c", parameters: parameters, headers: headers)
        _ = try await agent.delete("c", parameters: parameters, headers: headers)
        return stub.requests.map { incoming in
            let body = String(decoding: Array(incoming.body), as: UTF8.self)
            return "\(incoming.method) \(incoming.url) \(incoming.headers["X-A"] ?? "-") \(body)"
        }
    }

    @Test func pathIsStreamedAndAnotherStatusThrows() async throws {
        stub.register("/v1/log", with: .text("one\ntwo\n"))
        stub.register("/v1/none", with: .status(404))
        var lines: [String] = []
        for try await line in try await agent.stream("log").lines {
            lines.append(line)
        }
        #expect(lines == ["one", "two"])
        let error = await #expect(throws: NetError.self) { try await agent.stream("none") }
        #expect(error?.code == .status && error?.status == 404)
    }

    @Test func eventsOfAPathAreReceived() async throws {
        let events = StubReply(headers: ["Content-Type": "text/event-stream"], body: [.text("data: a\n\n")])
        stub.register("/v1/news", with: events, .status(204))
        var received: [String] = []
        for try await event in agent.serverSentEvents("news", lastEventID: "41", reconnectDelay: .zero) {
            received.append(event.data)
        }
        #expect(received == ["a"])
        #expect(stub.requests.map { $0.headers["Last-Event-ID"] } == ["41", "41"])
    }

    @Test func pathIsDownloadedWithProgress() async throws {
        let folder = try TemporaryFolder()
        stub.register("/v1/large", with: .text("content"))
        stub.register("/v1/none", with: .status(404))
        let updates = Collected<TransferProgress>()
        let file = try await agent.download("large", to: folder.file("large")) { updates.append($0) }.value
        #expect(file.byteCount == 7 && folder.contents(of: "large") == Array("content".utf8))
        #expect(updates.values.last?.isOver == true)
        let error = await #expect(throws: NetError.self) {
            try await agent.download("none", to: folder.file("none"))
        }
        #expect(error?.code == .status && folder.contents(of: "none") == nil)
    }

    @Test func eachMethodSendsItsParametersInTheDefaultPlacement() async throws {
        stub.register("*", with: .status(204))
        #expect(
            try await texts(agent) == [
                "GET http://stub/v1/c?a=1 b ", "HEAD http://stub/v1/c?a=1 b ", "POST http://stub/v1/c b a=1",
                "PUT http://stub/v1/c b a=1", "PATCH http://stub/v1/c b a=1", "DELETE http://stub/v1/c?a=1 b ",
            ])
        #expect(stub.requests[2].headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func eachMethodReturnsATypedValue() async throws {
        stub.register("*", with: .json(#"{"name":"Lisbon"}"#))
        let agent = agent
        let lisbon = City(name: "Lisbon")
        #expect(try await agent.get("c", as: City.self).value == lisbon)
        #expect(try await agent.post("c", as: City.self).value == lisbon)
        #expect(try await agent.put("c", as: City.self, body: .json(lisbon)).value == lisbon)
        #expect(try await agent.patch("c", as: City.self).value == lisbon)
        #expect(try await agent.delete("c", as: City.self).value == lisbon)
        let inferred: Response<City> = try await agent.get("c")
        #expect(inferred.value == lisbon)
        #expect(try await agent.get("c").value?["name"]?.string == "Lisbon")
        #expect(Array(stub.requests[2].body) == Array(#"{"name":"Lisbon"}"#.utf8))
    }

    @Test func successWithoutABodyHasNoObject() async throws {
        stub.register("*", with: .status(204))
        let response = try await agent.get("c")
        #expect(response.value == nil && response.status == 204)
        #expect(try await agent.get("c", as: City?.self).value == nil)
        #expect(try await agent.delete("c").value == nil)
        await #expect(throws: NetError.self) { try await agent.get("c", as: City.self) }
    }

    @Test func aHeadHasNoObject() async throws {
        stub.register("*", with: StubReply(headers: ["Content-Length": "7", "X-There": "1"], body: [.text("ignored")]))
        let response = try await agent.head("c")
        #expect(response.bytes.isEmpty && response.headers["X-There"] == "1")
    }

    @Test(
        arguments: [
            ("http://h", "a", "http://h/a"), ("http://h/v1", "a", "http://h/v1/a"),
            ("http://h/v1/", "a", "http://h/v1/a"), ("http://h/v1", "/a", "http://h/a"),
            ("http://h/v1", "http://o/a", "http://o/a"), ("http://h/v1", "?x=1", "http://h/v1/?x=1"),
        ])
    func aPathJoinsItsBase(base: String, path: String, url: String) async throws {
        stub.register("*", with: .status(204))
        _ = try await Agent(.init(baseURL: base), transport: stub).get(path)
        #expect(stub.requests.map(\.url) == [url])
    }

    @Test func pathWithoutABaseIsRefused() async throws {
        let error = await #expect(throws: NetError.self) { try await Agent().get("a") }
        #expect(error?.code == .badURL)
    }

    @Test func invalidRequestFailsBeforeAnythingIsSent() async throws {
        let error = await #expect(throws: NetError.self) {
            try await agent.post("c", parameters: ["a": 1], body: .text("and a body"))
        }
        #expect(error?.code == .usage)
        let handle = agent.prepare(.post, "c", parameters: ["a": 1], body: .text("and a body"), on: .here).start()
        #expect(failureCode(of: await handle.result) == .usage)
        #expect(stub.requests.isEmpty)
    }

    @Test func errorStatusFailsWithItsBody() async throws {
        stub.register("*", with: .json(#"{"why":"no"}"#, status: 404))
        let error = await #expect(throws: NetError.self) { try await agent.get("c") }
        #expect(error?.code == .status && error?.nativeCode == 404)
        #expect(error?.decodedBody(as: JSONValue.self)?["why"]?.string == "no")
    }

    @Test func progressIsReportedInBothDirections() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Type: application/json"], body: Array("[1,2,3]".utf8)))
        let reportedProgress = Collected<TransferProgress>()
        let body = Body(Bytes(pattern(500_000)))
        _ = try await Agent().post(server.url("/"), body: body) { reportedProgress.append($0) }
        #expect(reportedProgress.values.map(\.sent).max() == 500_000)
        #expect(reportedProgress.values.map(\.received).max() == 7)
        #expect(reportedProgress.values.last?.isOver == true)
    }

    @Test func formStartsWithItsParameters() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 204))
        var form = MultipartBody()
        form.append("there", name: "second")
        _ = try await Agent().post(server.url("/"), parameters: ["first": "here"], body: .multipart(form))
        let text = String(decoding: server.received().body, as: UTF8.self)
        let first = try #require(text.firstRange(of: "name=\"first\""))
        let second = try #require(text.firstRange(of: "name=\"second\""))
        #expect(first.lowerBound < second.lowerBound)
        #expect(server.received().values(named: "Content-Type").first?.hasPrefix("multipart/form-data") == true)
    }

    @Test func preparedCallIsNotSentBeforeItStarts() async throws {
        stub.register("*", with: .json(#"{"name":"Lisbon"}"#))
        let agent = agent
        let log = Collected<String>()
        let call = agent.prepare("PURGE", "c", as: City.self, parameters: ["a": 1], on: .here) { result in
            log.append((try? result.get().value.name) ?? "failed")
        }
        #expect(agent.requestTasks().isEmpty && stub.requests.isEmpty && log.values.isEmpty)
        let handle = call.start()
        #expect(try await handle.value.value == City(name: "Lisbon"))
        #expect(log.values == ["Lisbon"])
        #expect(stub.requests.map { $0.method.rawValue } == ["PURGE"])
        #expect(agent.prepare(.get, "c").id > call.id)
    }

    @Test func callsAreCancelledByMethodAndPath() async throws {
        let gate = StubGate()
        stub.register("*", with: .status(204).held(by: gate))
        let agent = agent
        let calls = [(NetKit.Method.get, "a"), (.post, "a"), (.get, "b"), (.get, "a?x=1")]
        let handles = calls.map { agent.prepare($0.0, $0.1, on: .here).start() }
        try await gate.waitForArrivals(4)
        #expect(agent.cancelAll(method: .get, path: "a") == 2)
        gate.open()
        var codes: [NetError.Code?] = []
        for handle in handles {
            codes.append(failureCode(of: await handle.result))
        }
        #expect(codes == [.cancelled, nil, nil, .cancelled])
        #expect(agent.cancelAll(method: .get, path: "a") == 0)
    }
}
