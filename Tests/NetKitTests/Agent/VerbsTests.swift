import NetKit
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
        return stub.requests.map { asked in
            let body = String(decoding: Array(asked.body), as: UTF8.self)
            return "\(asked.method) \(asked.url) \(asked.headers["X-A"] ?? "-") \(body)"
        }
    }

    @Test func eachMethodPutsItsParametersWhereTheyBelong() async throws {
        stub.answer("*", with: .status(204))
        #expect(
            try await texts(agent) == [
                "GET http://stub/v1/c?a=1 b ", "HEAD http://stub/v1/c?a=1 b ", "POST http://stub/v1/c b a=1",
                "PUT http://stub/v1/c b a=1", "PATCH http://stub/v1/c b a=1", "DELETE http://stub/v1/c?a=1 b ",
            ])
        #expect(stub.requests[2].headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func eachMethodGivesATypedValue() async throws {
        stub.answer("*", with: .json(#"{"name":"Lisbon"}"#))
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

    @Test func aSuccessWithoutABodyHasNoObject() async throws {
        stub.answer("*", with: .status(204))
        let response = try await agent.get("c")
        #expect(response.value == nil && response.status == 204)
        #expect(try await agent.get("c", as: City?.self).value == nil)
        #expect(try await agent.delete("c").value == nil)
        await #expect(throws: NetError.self) { try await agent.get("c", as: City.self) }
    }

    @Test func aHeadHasNoObject() async throws {
        stub.answer("*", with: StubReply(headers: ["Content-Length": "7", "X-There": "1"], body: [.text("ignored")]))
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
        stub.answer("*", with: .status(204))
        _ = try await Agent(.init(baseURL: base), transport: stub).get(path)
        #expect(stub.requests.map(\.url) == [url])
    }

    @Test func withoutABaseAPathIsNoURL() async throws {
        let error = await #expect(throws: NetError.self) { try await Agent().get("a") }
        #expect(error?.code == .badURL)
    }

    @Test func whatCannotBeSentFailsBeforeAnythingIsSent() async throws {
        let error = await #expect(throws: NetError.self) {
            try await agent.post("c", parameters: ["a": 1], body: .text("and a body"))
        }
        #expect(error?.code == .usage)
        let handle = agent.prepare(.post, "c", parameters: ["a": 1], body: .text("and a body"), on: .here).start()
        #expect(failureCode(of: await handle.result) == .usage)
        #expect(stub.requests.isEmpty)
    }

    @Test func anErrorsStatusIsAFailureWithItsBody() async throws {
        stub.answer("*", with: .json(#"{"why":"no"}"#, status: 404))
        let error = await #expect(throws: NetError.self) { try await agent.get("c") }
        #expect(error?.code == .unacceptableStatus && error?.nativeCode == 404)
        #expect(error?.jsonBody?["why"]?.string == "no")
    }

    @Test func progressIsHeardBothWays() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Type: application/json"], body: Array("[1,2,3]".utf8)))
        let told = Collected<TransferProgress>()
        let body = Body(Bytes(pattern(500_000)))
        _ = try await Agent().post(server.url("/"), body: body) { told.append($0) }
        #expect(told.values.map(\.sent).max() == 500_000)
        #expect(told.values.map(\.received).max() == 7)
        #expect(told.values.last?.isOver == true)
    }

    @Test func aFormBeginsWithItsParameters() async throws {
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

    @Test func theGenericFormIsNotSentBeforeItIsStarted() async throws {
        stub.answer("*", with: .json(#"{"name":"Lisbon"}"#))
        let agent = agent
        let log = Collected<String>()
        let call = agent.prepare("PURGE", "c", as: City.self, parameters: ["a": 1], on: .here) { result in
            log.append((try? result.get().value.name) ?? "failed")
        }
        #expect(agent.runs().isEmpty && stub.requests.isEmpty && log.values.isEmpty)
        let handle = call.start()
        #expect(try await handle.value.value == City(name: "Lisbon"))
        #expect(log.values == ["Lisbon"])
        #expect(stub.requests.map { $0.method.rawValue } == ["PURGE"])
        #expect(agent.prepare(.get, "c").id > call.id)
    }

    @Test func allOfAMethodAndAPathAreCancelled() async throws {
        let gate = StubGate()
        stub.answer("*", with: .status(204).held(by: gate))
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
