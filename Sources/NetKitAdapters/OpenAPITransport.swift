#if OpenAPITransport
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import HTTPTypes
public import NetKit
public import OpenAPIRuntime

/// Sends what clients made by Swift OpenAPI Generator ask, through an agent: its interceptors, trust and limits count.
///
///     let client = Client(serverURL: url, transport: AgentTransport(agent))
public struct AgentTransport: ClientTransport {
    private let agent: Agent

    /// - Parameter agent: keeps being the caller's to shut down.
    public init(_ agent: Agent) {
        self.agent = agent
    }

    /// Sends one operation; both bodies are streamed. Throws ``NetKit/NetError``.
    ///
    /// - Returns: The head and the body. The body is nil for HEAD and for the statuses 204 and 304, which have none. Its
    ///   length is known if Content-Length states it and no content coding was undone.
    public func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var base = baseURL.absoluteString
        if base.hasSuffix("/") {
            base.removeLast()
        }
        var asked = Request<Bytes>(
            base + (request.path ?? ""), method: Method(rawValue: request.method.rawValue), body: body.map(Self.body))
        for field in Headers(request.headerFields) {
            asked.headers.append(field)
        }
        asked.acceptedStatuses = nil
        let stream = try await agent.stream(asked)
        let head = HTTPResponse(status: .init(code: stream.status), headerFields: HTTPFields(stream.headers))
        if asked.method == .head || [204, 304].contains(stream.status) {
            // Reads to the end, so that the connection can be reused.
            for try await _ in stream {}
            return (head, nil)
        }
        let pieces = stream.map { bytes in ArraySlice(Array(bytes)) }
        return (head, HTTPBody(pieces, length: Self.length(stream.headers), iterationBehavior: .single))
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

    /// The length of a response's body after decoding. Content-Length counts the coded bytes (RFC 9110, 8.6).
    private static func length(_ headers: Headers) -> HTTPBody.Length {
        let lengths = Set(headers.values(named: "Content-Length"))
        guard headers["Content-Encoding"] == nil, headers["Transfer-Encoding"] == nil, lengths.count == 1,
            let text = lengths.first, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(text)
        else { return .unknown }
        return .known(length)
    }
}
#endif
