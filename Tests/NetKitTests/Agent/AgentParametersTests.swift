import NetKitCompat
import NetKitTesting
import Testing

@testable import NetKit

/// Fields and parameters that an agent adds to every request.
struct AgentParametersTests {
    private let stub = StubTransport { _ in .text("x") }

    private func sent(
        _ request: Request<Bytes>, _ change: (inout Agent.Configuration) -> Void
    ) async throws(NetError) -> StubRequest? {
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.userAgent = nil
        change(&configuration)
        _ = try await Agent(configuration, transport: stub).send(request)
        return stub.requests.last
    }

    @Test func agentWithoutAdditionsSendsBareRequests() {
        #expect(Agent(.init(baseURL: "http://h"), transport: stub).isBare(Request<Bytes>("x", parameters: ["a": 1])))
        var configuration = Agent.Configuration(headers: ["A": "b"])
        #expect(Agent(configuration, transport: stub).isBare(Request<Bytes>("x")))
        configuration.parameters = ["a": 1]
        #expect(!Agent(configuration, transport: stub).isBare(Request<Bytes>("x")))
    }

    @Test func requestParametersOverrideAgentParameters() async throws {
        let received = try await sent(Request("x", parameters: ["b": 2, "own": 1])) {
            $0.parameters = ["a": 1, "own": 0]
        }
        #expect(received?.url == "http://h/x?a=1&b=2&own=1")
        #expect(try await sent(Request("x")) { $0.parameters = ["a": 1] }?.url == "http://h/x?a=1")
    }

    @Test func agentParametersAreMergedIntoAForm() async throws {
        let received = try await sent(Request("x", method: .post, parameters: ["b": 2])) { $0.parameters = ["a": 1] }
        #expect(received?.url == "http://h/x")
        #expect(received?.body.text == "a=1&b=2")
        #expect(try await sent(Request("x", method: .post)) { $0.parameters = ["a": 1] }?.body.text == "a=1")
    }

    @Test func agentParametersAreMergedIntoJSON() async throws {
        var request = Request<Bytes>("x", method: .post, parameters: ["b": [1, 2]])
        request.parameterPlacement = .byMethodAsJSON
        let received = try await sent(request) { $0.parameters = ["a": 1] }
        #expect(received?.body.text == #"{"b":[1,2],"a":1}"#)
        #expect(received?.headers["Content-Type"] == "application/json")
    }

    @Test func agentParametersAreAddedToTheQueryWhenTheBodyCannotHoldThem() async throws {
        let received = try await sent(Request("x", method: .post, body: .text("own"))) { $0.parameters = ["a": 1] }
        #expect(received?.url == "http://h/x?a=1")
        #expect(received?.body.text == "own")
        var request = Request<Bytes>("x", method: .post, parameters: [1, 2])
        request.parameterPlacement = .json
        let array = try await sent(request) { $0.parameters = ["a": 1] }
        #expect(array?.url == "http://h/x?a=1")
        #expect(array?.body.text == "[1,2]")
    }

    @Test func agentParametersRequireNames() async throws {
        for change in [
            { $0.parameters = [1] }, { $0.computedParameters = { _ in [1] } },
        ] as [(inout Agent.Configuration) -> Void] {
            #expect(
                await failureCode { () async throws(NetError) in _ = try await sent(Request("x"), change) } == .usage)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func computedPartsAreEvaluatedForEachRequestAndTakePrecedence() async throws {
        let starts = Counter()
        var configuration = Agent.Configuration(baseURL: "http://h", headers: ["A": "0", "B": "0", "C": "0"])
        configuration.userAgent = nil
        configuration.parameters = ["a": 0, "b": 0, "c": 0]
        configuration.computedParameters = { request in
            await Task.yield()
            return ["b": .init(starts.increment()), "c": "computed", "m": .string(request.method.rawValue)]
        }
        configuration.computedHeaders = { request in
            await Task.yield()
            return ["B": "computed", "C": "computed", "P": request.url]
        }
        let agent = Agent(configuration, transport: stub)
        for _ in 0..<2 {
            _ = try await agent.send(Request<Bytes>("x", parameters: ["c": "own"], headers: ["C": "own"]))
        }
        #expect(
            stub.requests.map(\.url) == ["http://h/x?a=0&b=1&c=own&m=GET", "http://h/x?a=0&b=2&c=own&m=GET"])
        #expect(stub.requests[0].headers == ["C": "own", "B": "computed", "P": "x", "A": "0"])
    }

    @Test func errorThrownByComputedPartsFailsTheRequest() async throws {
        struct Locked: Error {}
        for error in [Locked() as any Error, NetError(.badHeader, "no")] {
            let code = await failureCode { () async throws(NetError) in
                _ = try await sent(Request("x")) { $0.computedHeaders = { _ in throw error } }
            }
            #expect(code == (error is Locked ? .badParameter : .badHeader))
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func parameterSourceIsEvaluatedForEachRequest() async throws {
        let starts = Counter()
        var request = Request<Bytes>("x", parameters: ["a": 0])
        request.parameterSource = ParameterSource { received in
            await Task.yield()
            return ["n": .init(starts.increment()), "was": received.parameters?["a"] ?? .null]
        }
        #expect(try await sent(request) { _ in }?.url == "http://h/x?n=1&was=0")
        #expect(try await sent(request) { _ in }?.url == "http://h/x?n=2&was=0")
        request.parameterSource = ParameterSource { _ in nil }
        #expect(try await sent(request) { _ in }?.url == "http://h/x?a=0")
    }

    @Test func delegateSuppliesParametersUntilItIsDeallocated() async throws {
        final class Form: ParameterDelegate {
            func parameters(for request: Request<Bytes>) async throws -> Parameters? { ["name": "bang"] }
        }
        var form: Form? = Form()
        var request = Request<Bytes>("x", parameters: ["a": 0])
        if let form {
            request.parameterSource = .delegate(form)
        }
        #expect(try await sent(request) { _ in }?.url == "http://h/x?name=bang")
        weak let releasedForm = form
        form = nil
        #expect(releasedForm == nil)
        #expect(try await sent(request) { _ in }?.url == "http://h/x?a=0")
    }

    @Test func failingParameterSourceFailsTheRequestAndIsReportedToObservers() async throws {
        struct Missing: Error {}
        let events = Collected<String>()
        struct RecordingObserver: Observer {
            let events: Collected<String>
            func observe(_ event: Event) {
                switch event.change {
                case .started: events.append("started")
                case .stopping(.failed(let error)): events.append("\(error.code)")
                case .stopped: events.append("stopped")
                default: events.append("other")
                }
            }
        }
        var request = Request<Bytes>("x")
        request.observers = [RecordingObserver(events: events)]
        request.parameterSource = ParameterSource { _ in throw Missing() }
        let error = await #expect(throws: NetError.self) { try await sent(request) { _ in } }
        #expect(error?.underlying is Missing)
        #expect(events.values == ["started", "badParameter", "stopped"])
        #expect(stub.requests.isEmpty)
    }

    @Test(arguments: [
        (Method.get, ParameterPlacement.byMethod, "?a=1", ""), (.delete, .byMethod, "?a=1", ""),
        (.post, .byMethod, "", "a=1"), (.get, .byMethodAsJSON, "?a=1", ""), (.put, .byMethodAsJSON, "", #"{"a":1}"#),
        (.post, .query, "?a=1", ""), (.delete, .form, "", "a=1"), (.get, .json, "", #"{"a":1}"#),
    ])
    func parameterPlacementDeterminesWhereParametersAreSent(
        method: NetKit.Method, placement: ParameterPlacement, query: String, body: String
    ) async throws {
        var request = Request<Bytes>("x", method: method, parameters: ["a": 1])
        request.parameterPlacement = placement
        let received = try await sent(request) { _ in }
        #expect(received?.url == "http://h/x" + query)
        #expect(received?.body.text == body)
    }
}
