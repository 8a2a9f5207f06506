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
    public func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var base = baseURL.absoluteString
        if base.hasSuffix("/") {
            base.removeLast()
        }
        var asked = Request<Bytes>(
            base + (request.path ?? ""), method: Method(rawValue: request.method.rawValue), body: body.map(Self.body))
        for field in request.headerFields {
            asked.headers.append(name: field.name.rawName, value: field.value)
        }
        asked.acceptedStatuses = nil
        let stream = try await agent.stream(asked)
        var fields = HTTPFields()
        for field in stream.headers {
            if let name = HTTPField.Name(field.name) {
                fields.append(HTTPField(name: name, value: Array(field.bytes)))
            }
        }
        let head = HTTPResponse(status: .init(code: stream.status), headerFields: fields)
        let pieces = stream.map { bytes in ArraySlice(Array(bytes)) }
        return (head, HTTPBody(pieces, length: .unknown, iterationBehavior: .single))
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
}
#endif
