import NetKit
import NetKitOffline
import NetKitTesting
import Testing

/// A request in a queue keeps the parameters, the fields, the tag and the checks of the value that created it.
@Suite(.timeLimit(.minutes(5)))
struct QueuedCallTests {
    private struct Report: Endpoint {
        typealias Value = Void
        let path = "reports"
        let method = "PUT"
        let headers = ["X-Own": "1"]
        let parameters: Parameters? = ["q": "1"]
        let parameterPlacement = ParameterPlacement.query
        let tag = 7
        let acceptedTypes: [String]? = ["text/plain"]
    }

    private let outcomes = Collected<String>()
    private let tags = Collected<[Int]>()

    private func record(_ outcome: OfflineQueue.Outcome) {
        switch outcome {
        case .answered(_, let response): outcomes.append("answered \(response.status)")
        case .failed(_, let error): outcomes.append("failed \(error.code)")
        case .expired: outcomes.append("expired")
        }
    }

    private func agent(_ stub: StubTransport, _ interceptors: [any Interceptor] = []) -> Agent {
        let listed = Wrapping { [tags] call, next throws(NetError) in
            tags.append([call.request.tag])
            return try await next(call)
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors + [listed]
        return Agent(configuration, transport: stub)
    }

    @Test(arguments: [
        ("text/plain", 200, "answered 200"), ("text/html", 200, "failed contentType"),
        ("text/plain", 404, "failed status"),
    ])
    func uploadOfAnEndpointKeepsItsChecks(type: String, status: Int, outcome: String) async throws {
        let stub = StubTransport()
        stub.register("/reports", with: .bytes([1], contentType: type, status: status))
        let folder = try TemporaryFolder()
        do {
            let queue = try UploadQueue(folder: folder.path)
            try await queue.add(Report())
        }
        let queue = try UploadQueue(folder: folder.path) { record($0) }
        await agent(stub).upload(queue, untilEmpty: true)
        #expect(outcomes.values == [outcome])
        let received = try #require(stub.requests.first)
        #expect(received.url == "http://stub/reports?q=1" && received.headers["X-Own"] == "1")
        #expect(tags.values == [[7]])
    }

    @Test func offlineEndpointKeepsItsChecks() async throws {
        let fixture = try OfflineFixture()
        fixture.stub.register("/reports", with: .text("missing", status: 404))
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        let error = await #expect(throws: NetError.self) { try await agent.send(Report()) }
        #expect(error?.code == .queued)
        await fixture.drain(queue, by: agent, until: 1)
        #expect(fixture.notifications.values == ["1 failed status"])
        let received = try #require(fixture.stub.requests.first)
        #expect(received.url == "http://a.example/reports?q=1" && received.headers["X-Own"] == "1")
        #expect(received.request.tag == 7)
    }
}
