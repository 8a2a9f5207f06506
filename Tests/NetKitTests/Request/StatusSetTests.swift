import NetKit
import NetKitTesting
import Testing

struct StatusSetTests {
    private let stub = StubTransport()

    private func agent(_ statuses: StatusSet) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.acceptedStatuses = statuses
        return Agent(configuration, transport: stub)
    }

    private func accepted(_ request: Request<Void>, by agent: Agent) async throws -> [Int] {
        var accepted: [Int] = []
        for status in [200, 204, 299, 304, 404, 500] {
            stub.register("/", with: .status(status))
            switch await ending(of: request, from: agent) {
            case .answered: accepted.append(status)
            case let end: #expect(end == .failed(.status))
            }
        }
        return accepted
    }

    @Test func literalsAndCollectionsCreateTheSameSet() {
        let (range, list) = (200..<300, [204, 404])
        let pairs: [(StatusSet, StatusSet)] = [
            (200..<300, 200...299), (StatusSet(range), 200..<300), ([200...250, 240..<300], 200..<300),
            ([201, 200], 200...201), (StatusSet(list), [404, 204]), (404, [404]),
            ([200..<300, 304], [304, 200...299]), ([100, .any], .any), ([100, .automatic], .automatic),
            (StatusSet([Int.max]), StatusSet(Int.max...Int.max)), (StatusSet(200...Int.max), StatusSet(200..<Int.max)),
        ]
        for (left, right) in pairs {
            #expect(left == right)
        }
        #expect(StatusSet.automatic != 200..<300 && StatusSet.any != 0..<1000)
        let none: StatusSet = []
        #expect(!none.contains(200) && none == StatusSet(200..<200))
    }

    @Test func rangeWithoutATypeIsStillARange() {
        let range = 1..<4
        #expect(range.map(\.self) == [1, 2, 3] && (1...3).count == 3)
    }

    @Test func statusesOfTheAgentApplyToRequestsThatSetNone() async throws {
        let request = Request<Void>("/")
        #expect(try await accepted(request, by: agent(.automatic)) == [200, 204, 299])
        #expect(try await accepted(request, by: agent(.any)) == [200, 204, 299, 304, 404, 500])
        #expect(try await accepted(request, by: agent([200, 404])) == [200, 404])
        var own = request
        own.acceptedStatuses = [200..<204, 304]
        #expect(try await accepted(own, by: agent(.any)) == [200, 304])
        own.acceptedStatuses = .automatic
        #expect(try await accepted(own, by: agent(404)) == [404])
        let bytes = Request<Bytes>("/")
        stub.register("/", with: .status(500))
        #expect(try await agent(200).send(bytes).status == 500)
    }

    @Test func statusesOfTheServiceOverrideThoseOfTheAgent() async throws {
        var configuration = Service.Configuration()
        configuration.acceptedStatuses = 300..<400
        var request = Request<Void>("/")
        request.service = Service("s", configuration)
        #expect(try await accepted(request, by: agent(.any)) == [304])
        request.tag = 7
        request.interceptors = [Retry(maxRetries: 0)]
        #expect(try await accepted(request, by: agent(.any)) == [304])
        request.service = Service("other")
        #expect(try await accepted(request, by: agent(404)) == [404])
    }

    @Test func startedAndStreamedRequestsUseTheStatusesOfTheAgent() async throws {
        stub.register("/", with: .status(404))
        let agent = agent([200, 404])
        #expect(try await agent.start(Request<Void>("/")).value.status == 404)
        let events = await failureCode { () async throws(NetError) in
            for try await _ in self.agent(.any).serverSentEvents("/") {}
        }
        #expect(events == .status)
    }

    @Test func endpointsHaveStatusesOfEveryForm() async throws {
        struct Listed: Endpoint {
            typealias Value = Void
            let path = "/"
            let acceptedStatuses = [200, 404]
        }
        struct Closed: Endpoint {
            typealias Value = Void
            let path = "/"
            let acceptedStatuses = 200...204
        }
        struct Literal: Endpoint {
            typealias Value = Void
            let path = "/"
            var acceptedStatuses: StatusSet { [200..<205, 304] }
        }
        let agent = agent(.automatic)
        #expect(try await accepted(Listed().request(), by: agent) == [200, 404])
        #expect(try await accepted(Closed().request(), by: agent) == [200, 204])
        #expect(try await accepted(Literal().request(), by: agent) == [200, 204, 304])
    }

    @Test func expectationIsCheckedForStatusesOfAllRanges() async throws {
        let server = try LoopbackServer()
        var request = Request<[Int]>(server.url("/")).expecting(.array(of: .integer), statuses: [200, 404])
        func reply(_ status: UInt16, _ text: String) -> Reply {
            Reply(status: status, headers: ["Content-Type: application/json"], body: Array(text.utf8))
        }
        for status in [200, 404] as [UInt16] {
            server.script("/", reply(status, "[1]"))
            #expect(try await Agent().send(request).value == [1])
            server.script("/", reply(status, "{}"))
            #expect(await ending(of: request, from: Agent()) == .failed(.shapeMismatch))
        }
        request.acceptedStatuses = 404
        server.script("/", reply(200, "{}"))
        #expect(await ending(of: request, from: Agent()) == .failed(.status))
    }
}
