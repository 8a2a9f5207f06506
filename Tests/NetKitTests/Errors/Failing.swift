import NetKit
import Testing

/// A secret that no message may contain. The tests put it into every part of a request that can carry one.
let canary = "canary"

extension Request where Value == Bytes {
    /// Returns a request with secrets in its userinfo, query and fields.
    static func withSecrets(_ path: String, on server: LoopbackServer) -> Request {
        var request = Request("\(server.url(path, userinfo: "\(canary):\(canary)"))?token=\(canary)#\(canary)")
        request.headers["X-Key"] = canary
        request.headers["Cookie"] = "session=\(canary)"
        return request
    }
}

/// Sends the request and checks its failure: the code, the native number, one line, and no secret in it.
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
