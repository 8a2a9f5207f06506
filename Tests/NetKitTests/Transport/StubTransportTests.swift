import NetKit
import NetKitTesting
import Testing

struct StubTransportTests {
    private struct Cause: Error {}

    @Test func transportReceivesTheCompleteRequest() async throws {
        let stub = StubTransport { _ in Response(status: 200) }
        var configuration = Agent.Configuration(baseURL: "http://h/v1", headers: ["A": "agent", "B": "agent"])
        configuration.limits.total = .seconds(7)
        configuration.redirects = .return
        configuration.userAgent = nil
        let agent = Agent(configuration, transport: stub)
        let body = Body([1], contentType: "x/y")
        _ = try await agent.send(Request<Void>("p", method: .put, headers: ["b": "request"], body: body))
        let sent = try #require(stub.requests.first?.request)
        #expect(stub.requests.count == 1)
        #expect(sent.method == .put)
        #expect(sent.url == "http://h/v1/p")
        #expect(sent.headers == ["b": "request", "A": "agent"])
        #expect(sent.body?.bytes == [1])
        #expect(sent.body?.contentType == "x/y")
        #expect(sent.limits.equals(configuration.limits))
        #expect(sent.redirects == .return)
    }

    @Test func onlyTheRequestsOwnTrustPolicyReachesTheTransport() async throws {
        let stub = StubTransport { _ in Response(status: 200) }
        let agent = Agent(transport: stub)
        var request = Request<Bytes>("http://h/")
        _ = try await agent.send(request)
        request.trust = TrustPolicy(acceptsAnything: true)
        _ = try await agent.send(request)
        #expect(stub.requests.map(\.request.trust) == [nil, TrustPolicy(acceptsAnything: true)])
    }

    @Test func requestSettingsTakePrecedence() async throws {
        let stub = StubTransport { _ in Response(status: 200) }
        var configuration = Agent.Configuration()
        configuration.limits.total = .seconds(7)
        configuration.redirects = .return
        var request = Request<Bytes>("http://h/")
        request.limits = Limits(total: .seconds(9))
        request.redirects = .followDowngrades
        request.httpVersionPolicy = .http1
        request.acceptsCodings = false
        request.addressOverrides = [AddressOverride(toPort: 1)]
        _ = try await Agent(configuration, transport: stub).send(request)
        let sent = try #require(stub.requests.first?.request)
        #expect(sent.limits.equals(Limits(total: .seconds(9))))
        #expect(sent.redirects == .followDowngrades)
        #expect(sent.httpVersionPolicy == .http1)
        #expect(!sent.acceptsCodings)
        #expect(sent.addressOverrides == [AddressOverride(toPort: 1)])
    }

    @Test func errorThrownByATransportIsUnchanged() async throws {
        let response = Response(status: 503)
        let stub = StubTransport(responding: { _ throws(NetError) in
            throw NetError(.reset, "stub", nativeCode: 5, offset: 6, response: response, underlying: Cause())
        })
        let error = try #require(
            await #expect(throws: NetError.self) { try await Agent(transport: stub).send(Request<[Int]>("http://h/")) })
        #expect(error.code == .reset)
        #expect(error.message == "stub")
        #expect(error.nativeCode == 5)
        #expect(error.offset == 6)
        #expect(error.response?.status == 503)
        #expect(error.underlying is Cause)
    }

    @Test func stubResponseIsDecodedAndItsStatusChecked() async throws {
        let stub = StubTransport { request in
            request.url.hasSuffix("/ok")
                ? Response(status: 200, headers: ["Content-Type": "text/plain; charset=gb18030"], bytes: [0xD6, 0xD0])
                : Response(status: 500)
        }
        let agent = Agent(.init(baseURL: "http://h"), transport: stub)
        let response = try await agent.send(Request<String>("ok"))
        #expect(response.value == "中")
        #expect(response.source == .stub)
        #expect(await ending(of: Request<String>("bad"), from: agent) == .failed(.status))
    }

    @Test func shutdownReachesTheTransport() async {
        let stub = StubTransport { _ in Response(status: 200) }
        let agent = Agent(transport: stub)
        await agent.shutdown()
        #expect(stub.isShutDown)
        #expect(await ending(of: Request<Bytes>("http://h/"), from: agent) == .failed(.closed))
    }

    @Test func aCancelledTaskDoesNotReachTheTransport() async {
        let stub = StubTransport { _ in Response(status: 200) }
        let agent = Agent(transport: stub)
        let outcome = await withTaskGroup(of: Ending.self) { group in
            group.cancelAll()
            group.addTask { await ending(of: Request<Bytes>("http://h/"), from: agent) }
            return await group.next()
        }
        #expect(outcome == .failed(.cancelled))
        #expect(stub.requests.isEmpty)
    }

    @Test func theExecutorOfAStubbedAgentRunsTasks() async {
        let agent = Agent(transport: StubTransport { _ in Response(status: 204) })
        let status = await withTaskExecutorPreference(agent.executor) {
            try? await agent.send(Request<Bytes>("http://h/")).status
        }
        #expect(status == 204)
    }
}
