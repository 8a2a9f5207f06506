import NetKit
import NetKitTesting
import Testing

/// Returns an agent that receives this response to each request.
func agentReceiving(_ text: String, _ type: String?, status: Int = 200) -> Agent {
    let stub = StubTransport()
    let headers: Headers = type.map { ["Content-Type": $0] } ?? [:]
    stub.register("*", with: StubReply(status: status, headers: headers, body: [.text(text)]))
    return Agent(.init(baseURL: "http://stub"), transport: stub)
}

/// Returns the error that `body` throws.
func failure(_ body: () async throws -> some Any) async throws -> NetError {
    try #require(await #expect(throws: NetError.self) { _ = try await body() })
}
