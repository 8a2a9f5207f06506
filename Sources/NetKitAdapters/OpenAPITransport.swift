#if OpenAPITransport
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import HTTPTypes
public import NetKit
public import OpenAPIRuntime

/// A transport for clients that Swift OpenAPI Generator generates. It sends their operations through an agent, with the
/// agent's interceptors, trust policy and limits.
///
///     let client = Client(serverURL: url, transport: AgentTransport(agent))
public struct AgentTransport: ClientTransport {
    private let agent: Agent

    /// Creates a transport.
    ///
    /// - Parameter agent: the agent. The caller remains responsible for shutting it down.
    public init(_ agent: Agent) {
        self.agent = agent
    }

    /// Sends one operation. The bodies of the request and of the response are streamed. Throws ``NetKit/NetError``.
    ///
    /// - Returns: the head and the body. The body is `nil` for a HEAD request and for the statuses 204 and 304. The
    ///   length of the body is known if the response has a Content-Length and no content coding.
    public func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var base = baseURL.absoluteString
        if base.hasSuffix("/") {
            base.removeLast()
        }
        var agentRequest = Request<Bytes>(
            base + (request.path ?? ""), method: Method(rawValue: request.method.rawValue), body: body.map(Self.body))
        for field in Headers(request.headerFields) {
            agentRequest.headers.append(field)
        }
        agentRequest.acceptedStatuses = .any
        let stream = try await agent.stream(agentRequest)
        let head = HTTPResponse(status: .init(code: stream.status), headerFields: HTTPFields(stream.headers))
        if agentRequest.method == .head || [204, 304].contains(stream.status) {
            // The stream is read to its end, so that the connection can be reused.
            for try await _ in stream {}
            return (head, nil)
        }
        let chunks = stream.map { bytes in ArraySlice(Array(bytes)) }
        return (head, HTTPBody(chunks, length: Self.length(stream.headers), iterationBehavior: .single))
    }

    private static func body(_ body: HTTPBody) -> Body {
        var length: Int?
        if case .known(let count) = body.length {
            length = Int(clamping: count)
        }
        switch body.iterationBehavior {
        case .single: return .once(length: length, body.map { Array($0) })
        case .multiple: return .stream(length: length) { body.map { Array($0) } }
        }
    }

    /// Returns the length of a response's body after decoding, if it is known. Content-Length is the length before
    /// decoding (RFC 9110, 8.6), so it is used only if there is no content coding.
    private static func length(_ headers: Headers) -> HTTPBody.Length {
        let lengths = Set(headers.values(named: "Content-Length"))
        guard headers["Content-Encoding"] == nil, headers["Transfer-Encoding"] == nil, lengths.count == 1,
            let text = lengths.first, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(text)
        else { return .unknown }
        return .known(length)
    }
}
#endif
