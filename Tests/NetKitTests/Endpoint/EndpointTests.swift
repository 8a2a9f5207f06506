import NetKit
import NetKitCompat
import NetKitTesting
import Testing

struct EndpointTests {
    private struct City: Codable, Equatable { var name: String }

    private struct Cities: Endpoint {
        typealias Value = [City]
        var path = "cities"
    }

    /// An endpoint that sets every property.
    private struct Everything: Endpoint {
        typealias Value = JSONValue
        var path: String { "things" }
        var baseURL: String? { "http://own/base" }
        var method: NetKit.Method { .post }
        var parameters: Parameters? { ["a": 1] }
        var parameterPlacement: ParameterPlacement { .query }
        var body: Body? { get throws(NetError) { try .json(["b": 2] as Parameters) } }
        var headers: Headers { ["X-Own": "1"] }
        var credentials: Credentials? { .basic(user: "u", password: "p") }
        var limits: Limits? {
            var limits = Limits()
            limits.total = .seconds(7)
            return limits
        }
        var priority: Priority { .high }
        var acceptedStatuses: StatusSet { 200..<500 }
        var acceptedTypes: [String]? { ["text/plain"] }
        var tag: Int { 7 }
        var userInfo: [String: any Sendable] { ["page": 3] }
        var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? { { _ in [:] } }
        func finish(_ request: inout Request<JSONValue>) { request.headers["X-Last"] = "1" }
    }

    fileprivate let stub = StubTransport()
    private var agent: Agent { Agent(.init(baseURL: "http://h/v1"), transport: stub) }

    @Test func endpointNeedsOnlyAPath() async throws {
        stub.register("*", with: .json(#"[{"name": "Oslo"}]"#))
        let response = try await agent.send(Cities())
        #expect(response.value == [City(name: "Oslo")])
        let received = try #require(stub.requests.first)
        #expect(received.url == "http://h/v1/cities")
        #expect(received.method == .get)
        #expect(received.request.priority == .normal)
        #expect(received.request.limits.equals(Limits()))
        #expect(received.request.acceptedStatuses == StatusSet(200..<300))
        #expect(received.request.tag == 0 && received.request.userInfo.isEmpty)
    }

    @Test func everyEndpointPropertyIsSent() async throws {
        stub.register("*", with: .text("[1]", status: 404))
        let response = try await agent.send(Everything())
        #expect(response.value == [1])
        let received = try #require(stub.requests.first)
        #expect(received.url == "http://own/base/things?a=1")
        #expect(received.method == .post)
        #expect(received.body.text == #"{"b":2}"#)
        #expect(received.headers["X-Own"] == "1" && received.headers["X-Last"] == "1")
        #expect(received.request.credentials == .basic(user: "u", password: "p"))
        #expect(received.request.limits.equals(Everything().limits!))
        #expect(received.request.priority == .high)
        #expect(received.request.tag == 7)
        #expect(received.request.userInfo["page"] as? Int == 3)
        let key = try await agent.cacheKey(forStarting: Everything())
        #expect(key.explanation.contains("a=1") == false)
    }

    @Test func valueTypeDeterminesTheDecoding() async throws {
        struct Text: Endpoint {
            typealias Value = String
            let path = "t"
        }
        struct Raw: Endpoint {
            typealias Value = Bytes
            let path = "t"
        }
        struct Tree: Endpoint {
            typealias Value = JSONValue
            let path = "j"
        }
        struct Nothing: Endpoint {
            typealias Value = Void
            let path = "t"
        }
        stub.register("/v1/t", with: .text("text"))
        stub.register("/v1/j", with: .json("[true]"))
        #expect(try await agent.send(Text()).value == "text")
        #expect(try await agent.send(Raw()).value.text == "text")
        #expect(try await agent.send(Tree()).value == [true])
        try await agent.send(Nothing()).value
    }

    @Test func customDecodingReadsOtherFormats() async throws {
        struct Lines: Endpoint {
            typealias Value = [String]
            let path = "t"
            var decoding: Decoding<[String]> {
                Decoding(types: ["text/csv"]) { $0.bytes.text.split(separator: ",").map(String.init) }
            }
        }
        stub.register("*", with: .text("a,b", contentType: "text/csv"), .text("a,b", contentType: "text/html"))
        #expect(try await agent.send(Lines()).value == ["a", "b"])
        let agent = agent
        #expect(
            await failureCode { () async throws(NetError) in _ = try await agent.send(Lines()) } == .contentType)
    }

    @Test func parametersAreEvaluatedForEachRequest() async throws {
        struct Timed: Endpoint {
            typealias Value = Void
            let starts: Counter
            let path = "t"
            var parameters: Parameters? {
                get async throws {
                    await Task.yield()
                    return ["n": .init(starts.increment())]
                }
            }
        }
        stub.register("*", with: .status(204))
        let timed = Timed(starts: Counter())
        try await agent.send(timed).value
        try await agent.send(timed).value
        #expect(stub.requests.map(\.query) == ["n=1", "n=2"])
    }

    @Test func unencodableEndpointIsNotSent() async throws {
        struct Locked: Error {}
        struct Failing: Endpoint {
            typealias Value = Void
            let path = "t"
            var parameters: Parameters? { get throws { throw Locked() } }
        }
        struct Unencodable: Endpoint {
            typealias Value = Void
            let path = "t"
            let method = NetKit.Method.post
            var body: Body? { get throws(NetError) { try .json(Double.nan) } }
        }
        let agent = agent
        let error = await #expect(throws: NetError.self) { try await agent.send(Failing()) }
        #expect(error?.code == .badParameter && error?.underlying is Locked)
        #expect(
            await failureCode { () async throws(NetError) in _ = try await agent.send(Unencodable()) } == .encoding)
        #expect(stub.requests.isEmpty)
    }

    @Test func completeRequestReplacesTheBuiltOneAndItsResponseIsValidated() async throws {
        struct Custom: Endpoint {
            typealias Value = [Int]
            let path = "ignored"
            var parameters: Parameters? { ["ignored": 1] }
            var headers: Headers { ["X-Ignored": "1"] }
            var priority: Priority { .high }
            var shape: JSONShape? { [.number] }
            var completeRequest: Request<Bytes>? {
                Request("http://custom/x?y=1", method: "REPORT", headers: ["X-Custom": "1"], body: .text("q"))
            }
        }
        stub.register("*", with: .json("[1, 2]"), .json(#"["a"]"#), .status(500))
        let agent = agent
        #expect(try await agent.send(Custom()).value == [1, 2])
        let received = try #require(stub.requests.first)
        #expect(received.url == "http://custom/x?y=1" && received.method == "REPORT" && received.body.text == "q")
        #expect(received.headers.map(\.name) == ["X-Custom", "Content-Type"])
        #expect(received.request.priority == .high)
        for code in [NetError.Code.shapeMismatch, .status] {
            #expect(await failureCode { () async throws(NetError) in _ = try await agent.send(Custom()) } == code)
        }
    }

    @Test func streamAndSaveAcceptEndpoints() async throws {
        let folder = try TemporaryFolder()
        stub.register("*", with: .text("body"))
        #expect(try await agent.stream(Cities()).collect(upTo: 10).text == "body")
        #expect(
            try await agent.download(Cities(), to: folder.file("f"), options: .init(isResumable: false)).value.byteCount
                == 4)
    }

    @Test func callerAuthorizationFieldOverridesBasicCredentials() async throws {
        struct Private: Endpoint {
            typealias Value = Void
            let path = "x"
            var headers: Headers = [:]
            var credentials: Credentials? { .basic(user: "user", password: "pass word") }
        }
        let server = try LoopbackServer()
        server.script("/x", .text("x"))
        let agent = Agent(.init(baseURL: server.url("/")))
        try await agent.send(Private()).value
        try await agent.send(Private(headers: ["Authorization": "Own 1"])).value
        #expect(server.received(0).values(named: "Authorization") == ["Basic dXNlcjpwYXNzIHdvcmQ="])
        #expect(server.received(1).values(named: "Authorization") == ["Own 1"])
    }

    // In YTKNetwork a request can be sent only once at a time, and it retains its accessories (Y21, Y26).
    @Test func oneEndpointCanBeSentConcurrently() async throws {
        stub.register("*", with: .json("[]"))
        let agent = agent
        let endpoint = Cities()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask { (try? await agent.send(endpoint).value) == [] }
            }
            for await isRight in group {
                #expect(isRight)
            }
        }
        #expect(stub.requests.count == 50)
    }
}

extension EndpointTests {
    @Test func duplicateEndpointIsRecognizedByItsType() async throws {
        struct Page: Endpoint {
            typealias Value = Void
            let path: String
        }
        struct Other: Endpoint {
            typealias Value = Void
            let path = "b"
        }
        let gate = StubGate()
        stub.register("/v1/a", with: .status(204).held(by: gate))
        stub.register("*", with: .status(204))
        var configuration = Agent.Configuration(baseURL: "http://h/v1")
        configuration.interceptors = [RequestDeduplication(.ignore)]
        let agent = Agent(configuration, transport: stub)
        let first = Task { try await agent.send(Page(path: "a")).value }
        try await gate.waitForArrivals(1)
        let code = await failureCode { () async throws(NetError) in _ = try await agent.send(Page(path: "b?x=1")) }
        #expect(code == .ignored)
        try await agent.send(Other()).value
        gate.open()
        try await first.value
        try await agent.send(Page(path: "b")).value
        #expect(stub.requests.map(\.path) == ["/v1/a", "/v1/b", "/v1/b"])
    }
}
