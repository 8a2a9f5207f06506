import NetKit
import NetKitTesting
import Testing

/// `Limits.total` also bounds the app's code between a call's transfers.
@Suite(.timeLimit(.minutes(5)))
struct HookTimeoutTests {
    private static let refusal = Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])

    /// Returns a request with this time limit.
    private static func request(_ url: String, _ total: Duration) -> Request<Bytes> {
        var request = Request<Bytes>(url)
        request.limits = Limits()
        request.limits.total = total
        return request
    }

    @Test(arguments: [false, true])
    func eachChallengeRoundUsesTheRemainingTime(isStreamed: Bool) async throws {
        let totals = Collected<Duration>()
        var configuration = Agent.Configuration()
        configuration.interceptors.append(
            TransferHooks(challenge: { _ in .use(.basic(user: "me", password: "wrong")) }))
        let agent = Agent(configuration, transport: RecordingTransport(response: Self.refusal, totals: totals))
        let request = Self.request("http://t/", .seconds(3600))
        let status = isStreamed ? try await agent.stream(request).status : try await agent.send(request).status
        #expect(status == 401)
        #expect(totals.values.count == 4)
        #expect(zip(totals.values, totals.values.dropFirst()).allSatisfy { $0 > $1 })
    }

    @Test(arguments: [false, true])
    func challengeHandlerIsCancelledAtTheTotalTimeout(isStreamed: Bool) async throws {
        let isCancelled = Collected<Bool>()
        var configuration = Agent.Configuration()
        configuration.interceptors.append(
            TransferHooks(challenge: { _ in
                try? await Task.sleep(for: .seconds(3600))
                isCancelled.append(Task.isCancelled)
                return .useDefault
            }))
        let agent = Agent(
            configuration, transport: RecordingTransport(response: Self.refusal, totals: Collected()))
        let request = Self.request("http://t/", .seconds(1))
        let error = await #expect(throws: NetError.self) {
            _ = isStreamed ? try await agent.stream(request).status : try await agent.send(request).status
        }
        #expect(error?.code == .timeout)
        #expect(error?.message.contains("challenge hook") == true)
        // The call may end before the handler sees its cancellation.
        while isCancelled.values.isEmpty {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(isCancelled.values == [true])
    }

    @Test func redirectHookIsCancelledAtTheTotalTimeout() async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/there"))
        var request = Self.request(server.url("/"), .milliseconds(500))
        request.interceptors.append(
            TransferHooks(redirect: { _ in
                try await Task.sleep(for: .seconds(3600))
                return .follow
            }))
        _ = try await expectFailure(.timeout, of: request, from: Agent())
        #expect(server.requestCount == 1)
    }

    @Test func cancellingDuringTheChallengeHandlerCancelsTheCall() async throws {
        let handlerCalls = Collected<Bool>()
        var configuration = Agent.Configuration()
        configuration.interceptors.append(
            TransferHooks(challenge: { _ in
                handlerCalls.append(true)
                try? await Task.sleep(for: .seconds(3600))
                return .useDefault
            }))
        let agent = Agent(
            configuration, transport: RecordingTransport(response: Self.refusal, totals: Collected()))
        let call = Task { try await agent.send(Self.request("http://t/", .seconds(3600))) }
        while handlerCalls.values.isEmpty {
            await Task.yield()
        }
        call.cancel()
        let error = await #expect(throws: NetError.self) { try await call.value }
        #expect(error?.code == .cancelled)
    }

    @Test func requestSubstitutedByARedirectHookKeepsTheLimitsOfTheCall() async throws {
        let totals = Collected<Duration>()
        var request = Self.request("http://t/", .seconds(3600))
        request.interceptors.append(TransferHooks(redirect: { _ in .send(Request<Bytes>("http://t/other")) }))
        let transport = RecordingTransport(
            response: Response(status: 302, headers: ["Location": "/there"]), totals: totals)
        request.limits.maxRedirects = 3
        _ = try await expectFailure(.tooManyRedirects, of: request, from: Agent(transport: transport))
        #expect(totals.values.count == 4)
        #expect(zip(totals.values, totals.values.dropFirst()).allSatisfy { $0 > $1 })
    }
}

/// A transport that responds to all requests alike and records the time limit of each.
private struct RecordingTransport: Transport {
    let response: Response<Bytes>
    let totals: Collected<Duration>

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        totals.append(request.limits.total ?? .zero)
        return response
    }

    func shutdown() async {}
}
