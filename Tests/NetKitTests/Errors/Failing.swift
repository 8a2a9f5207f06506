import NetKit
import Testing

/// Words that no message may tell; they are put wherever a request can carry a secret.
let canary = "canary"

extension Request where Value == Bytes {
    /// Carries secrets in its userinfo, query and fields.
    static func withSecrets(_ path: String, on server: LoopbackServer) -> Request {
        var request = Request("\(server.url(path, userinfo: "\(canary):\(canary)"))?token=\(canary)#\(canary)")
        request.headers["X-Key"] = canary
        request.headers["Cookie"] = "session=\(canary)"
        return request
    }
}

/// Sends and checks what is true of every failure: its code, its number, that it is one line and tells no secret.
@discardableResult
func expectFailure(
    _ code: NetError.Code, native: Int? = nil, of request: Request<some Sendable>, from agent: Agent = Agent(),
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> NetError {
    let thrown = await #expect(throws: NetError.self, sourceLocation: sourceLocation) { try await agent.send(request) }
    let error = try #require(thrown, sourceLocation: sourceLocation)
    #expect(error.code == code, sourceLocation: sourceLocation)
    if let native {
        #expect(error.nativeCode == native, "\(error)", sourceLocation: sourceLocation)
    }
    let isRefusedByProxy = code == .proxy && error.response?.status == 407
    #expect(error.isRetryable == (code.isRetryable && !isRefusedByProxy), sourceLocation: sourceLocation)
    #expect(error.description == "\(code): \(error.message)", sourceLocation: sourceLocation)
    #expect(!error.message.isEmpty, sourceLocation: sourceLocation)
    #expect(error.underlying != nil || !error.message.hasSuffix("."), sourceLocation: sourceLocation)
    #expect(!error.description.contains { $0.isNewline }, sourceLocation: sourceLocation)
    #expect(!error.description.contains(canary), sourceLocation: sourceLocation)
    return error
}
