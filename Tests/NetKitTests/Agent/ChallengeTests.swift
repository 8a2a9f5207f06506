import NetKit
import Testing

struct ChallengeTests {
    @Test func aChallengesURLTellsNoCredentialsWhoeverIsTheHost() async throws {
        let urls = Collected<String>()
        var configuration = Agent.Configuration()
        configuration.challengeHandler = { challenge in
            urls.append(challenge.url)
            return .useDefault
        }
        let agent = Agent(
            configuration,
            transport: SilentTransport(
                response: Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])))
        _ = try await agent.send(Request<Bytes>("http://user:secret@t/path"))
        #expect(urls.values == ["http://t/path"])
    }
}

/// Tells no URL.
private struct SilentTransport: Transport {
    let response: Response<Bytes>

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> { response }

    func shutdown() async {}
}
