import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// Members of endpoints in every form that a programmer may write: each is sent. Forms that cannot be converted do not
/// compile (Tests/Docs/refused).
struct EndpointMemberTests {
    private let stub = StubTransport()
    private var agent: Agent { Agent(.init(baseURL: "http://agent/v1"), transport: stub) }

    private func sent(_ endpoint: some Endpoint) async throws -> StubRequest {
        stub.register("*", with: .json("1"))
        _ = try await agent.send(endpoint)
        return try #require(stub.requests.last)
    }

    @Test func membersOfOtherTypesAreConverted() async throws {
        struct Converted: Endpoint {
            typealias Value = Int
            let path = "things"
            let method = "POST"
            let headers = ["X-B": "2", "X-A": "1"]
            let body: Body = .text("body")
            let baseURL = URL(string: "http://base/v2")
            let limits = Limits()
            let credentials: Credentials = .basic(user: "u", password: "p")
            let acceptedStatuses = 200...299
            let acceptedTypes = ["application/json"]
            var parameters: Parameters { ["a": 1] }
            var parameterPlacement: ParameterPlacement? { .query }
        }
        let received = try await sent(Converted())
        #expect(received.method == .post && received.url == "http://base/v2/things?a=1")
        #expect(received.body.text == "body")
        #expect(received.headers["X-A"] == "1" && received.headers["X-B"] == "2")
        #expect(received.request.credentials == .basic(user: "u", password: "p"))
        #expect(received.request.limits.equals(Limits()))
        #expect(received.request.acceptedStatuses == StatusSet(200..<300))
        #expect(received.request.acceptedTypes == ["application/json"])
    }

    @Test func queryAndPoliciesAreThoseOfTheRequest() async throws {
        struct Search: Endpoint {
            typealias Value = Int
            var q: String
            var page: Int?
            let path = "things"
            let method = "POST"
            var query: Parameters {
                if let page {
                    ["q": q, "page": page]
                } else {
                    ["q": q]
                }
            }
            var parameters: Parameters? { ["a": 1] }
            let timeout: Duration = .seconds(5)
            let redirects: RedirectPolicy = .return
            var caching: CacheRules? { .off }
            var retries: RetryPolicy { .never }
        }
        let received = try await sent(Search(q: "x y", page: 2))
        #expect(received.url == "http://agent/v1/things?page=2&q=x%20y" && received.body.text == "a=1")
        #expect(received.request.timeout == .seconds(5) && received.request.redirects == .return)
        if case .off = received.request.caching {} else { Issue.record("the request has no cache rules") }
        if case .never = received.request.retries {} else { Issue.record("the request has no retry policy") }
        #expect(try await sent(Search(q: "z")).url == "http://agent/v1/things?q=z")
        struct Named: Endpoint {
            typealias Value = Int
            let path = "things"
            let query = ["q": "x"]
            var limits: Limits? {
                var limits = Limits()
                limits.total = .seconds(9)
                return limits
            }
        }
        let named = try await sent(Named())
        #expect(named.url == "http://agent/v1/things?q=x" && named.request.timeout == .seconds(9))
    }

    @Test func errorOfAQueryEndsTheCall() async throws {
        struct Locked: Error {}
        struct LockedQuery: Endpoint {
            typealias Value = Int
            let path = "p"
            var query: Parameters? { get throws { throw Locked() } }
        }
        do throws(NetError) {
            _ = try await agent.send(LockedQuery())
            Issue.record("the query has no error")
        } catch {
            #expect(error.code == .badParameter && error.underlying is Locked)
        }
    }

    @Test(arguments: 0..<5) func membersMayThrowAnyErrorAndBeAsynchronous(kind: Int) async throws {
        struct Plain: Endpoint {
            typealias Value = Int
            let path = "p"
            let method = "PUT"
            var body: Body? { get throws { .text("sent") } }
            func finish(_ request: inout Request<Int>) throws { request.headers["X-Finished"] = "1" }
        }
        struct Asynchronous: Endpoint {
            typealias Value = Int
            let path = "p"
            let method = "PUT"
            var body: Body {
                get async throws {
                    await Task.yield()
                    return .text("sent")
                }
            }
            func finish(_ request: inout Request<Int>) async { request.headers["X-Finished"] = "1" }
        }
        struct Typed: Endpoint {
            typealias Value = Int
            let path = "p"
            let method = NetKit.Method.put
            var body: Body? { get throws(NetError) { .text("sent") } }
            func finish(_ request: inout Request<Int>) throws(NetError) { request.headers["X-Finished"] = "1" }
        }
        struct Raw: Endpoint {
            typealias Value = Int
            let path = "p"
            let method = "PUT"
            let body: [UInt8] = Array("sent".utf8)
            func finish(_ request: inout Request<Int>) { request.headers["X-Finished"] = "1" }
        }
        struct Complete: Endpoint {
            typealias Value = Int
            let path = "ignored"
            var completeRequest: Request<Bytes> {
                get async throws {
                    Request("http://x/p", method: .put, headers: ["X-Finished": "1"], body: .text("sent"))
                }
            }
        }
        let endpoints: [any Endpoint] = [Plain(), Asynchronous(), Typed(), Raw(), Complete()]
        let received = try await sent(endpoints[kind])
        #expect(received.method == .put && received.body.text == "sent" && received.headers["X-Finished"] == "1")
    }

    @Test func dataIsABodyAndAMissingOneIsNone() async throws {
        struct Sending: Endpoint {
            typealias Value = Int
            let path = "p"
            let method = "POST"
            var body: Data?
        }
        #expect(try await sent(Sending(body: Data("sent".utf8))).body.text == "sent")
        #expect(try await sent(Sending(body: nil)).request.body == nil)
    }

    @Test func errorsOfMembersEndTheCallWithTheirCause() async throws {
        struct Locked: Error {}
        struct LockedBody: Endpoint {
            typealias Value = Int
            let path = "p"
            var body: Body { get throws { throw Locked() } }
        }
        struct LockedFields: Endpoint {
            typealias Value = Int
            let path = "p"
            var headers: Headers { get async throws { throw Locked() } }
        }
        struct LockedRequest: Endpoint {
            typealias Value = Int
            let path = "p"
            var completeRequest: Request<Bytes> { get throws { throw Locked() } }
        }
        struct LockedEnd: Endpoint {
            typealias Value = Int
            let path = "p"
            func finish(_ request: inout Request<Int>) async throws { throw Locked() }
        }
        let agent = agent
        let endpoints: [(any Endpoint, NetError.Code)] = [
            (LockedBody(), .usage), (LockedFields(), .badHeader), (LockedRequest(), .usage), (LockedEnd(), .usage),
        ]
        for (endpoint, code) in endpoints {
            func send(_ endpoint: some Endpoint) async -> NetError? {
                await #expect(throws: NetError.self) { _ = try await agent.send(endpoint) }
            }
            let error = await send(endpoint)
            #expect(error?.code == code && error?.underlying is Locked)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func dataAndArraysOfBytesAreTheBodyUnchanged() async throws {
        func fetch<Value: Decodable & Sendable>(as type: Value.Type) async throws -> Value {
            try await agent.get("raw", as: type).value
        }
        func send<Value: Decodable & Sendable>(as type: Value.Type) async throws -> Value {
            try await agent.send(Request<Value>("raw")).value
        }
        struct Raw<Value: Decodable & Sendable>: Endpoint { let path = "raw" }
        stub.register("*", with: .text("[1, 2]"))
        let bytes = Array("[1, 2]".utf8)
        #expect(try await agent.send(Request<Data>("raw")).value == Data(bytes))
        #expect(try await agent.send(Request<[UInt8]>("raw")).value == bytes)
        #expect(try await fetch(as: Data.self) == Data(bytes))
        #expect(try await send(as: Data.self) == Data(bytes))
        #expect(try await fetch(as: [UInt8].self) == bytes)
        #expect(try await send(as: [UInt8].self) == bytes)
        #expect(try await fetch(as: String.self) == "[1, 2]")
        #expect(try await send(as: String.self) == "[1, 2]")
        #expect(try await agent.send(Raw<Data>()).value == Data(bytes))
        #expect(try await agent.send(Raw<[UInt8]>()).value == bytes)
        #expect(try await agent.send(Raw<String>()).value == "[1, 2]")
        stub.register("/v1/raw", with: .json("[1, 2]"))
        #expect(try await fetch(as: [Int].self) == [1, 2])
    }
}
