import NetKit
import NetKitTesting
import Testing

/// Matching of requests with recorded exchanges.
struct ReplayMatchingTests {
    private func recorded(_ requests: [Request<Bytes>]) async throws -> Agent {
        let stub = StubTransport { received in .text("\(received.headers["Number"] ?? "")") }
        let recorder = Recorder()
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        let agent = Agent(configuration, transport: stub)
        for (number, var request) in requests.enumerated() {
            request.headers["Number"] = .init("\(number)")
            _ = try await agent.send(request)
        }
        return Agent(.init(baseURL: "http://stub"), transport: ReplayTransport(recorder.recording))
    }

    private func answer(of agent: Agent, to request: Request<Bytes>) async throws -> String {
        String(decoding: Array(try await agent.send(request).bytes), as: UTF8.self)
    }

    private func form(_ city: String, boundary: String? = nil) throws -> Request<Bytes> {
        var form = MultipartBody(boundary: boundary)
        form.append(city, name: "city")
        form.append("secret", name: "password")
        return Request<Bytes>("/form", method: .post, body: try .multipart(form))
    }

    @Test func formMatchesWithAnyBoundary() async throws {
        let again = try await recorded([try form("Bern"), try form("Oslo", boundary: "x y'(z)")])
        #expect(try await answer(of: again, to: try form("Oslo")) == "1")
        #expect(try await answer(of: again, to: try form("Bern", boundary: "b")) == "0")
        let error = await #expect(throws: NetError.self) { try await again.send(try form("Rome")) }
        #expect(error?.message.contains("another body") == true)
    }

    @Test func canonicallyEquivalentTextsDoNotMatch() async throws {
        let composed = Request<Bytes>("/", method: .post, body: .text("\u{E9}"))
        let decomposed = Request<Bytes>("/", method: .post, body: .text("e\u{301}"))
        let again = try await recorded([composed, decomposed])
        #expect(try await answer(of: again, to: decomposed) == "1")
        #expect(try await answer(of: again, to: composed) == "0")
    }
}
