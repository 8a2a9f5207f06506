public import NetKit

/// The reply of a ``StubTransport`` to one request.
///
///     var reply = StubReply(status: 200, headers: ["Content-Type": "text/plain"])
///     reply.body = [.text("begun, "), .wait(gate), .text("done")]
///     reply.trailers = ["X-Sum": "1"]
public struct StubReply: Sendable {
    /// A step in the delivery of a body.
    public enum Step: Sendable {
        /// Delivers these bytes as one chunk.
        case bytes(Bytes)
        /// Waits until the gate is open.
        case wait(StubGate)
        /// Ends the body with this error.
        case fail(NetError)

        /// Delivers this text in UTF-8 as one chunk.
        public static func text(_ text: String) -> Step { .bytes(Bytes(Array(text.utf8))) }
    }

    /// The status, 200 to 999.
    public var status: Int
    /// The header fields, in order. No others are added.
    public var headers: Headers
    /// The steps that deliver the body, which must have no content coding. They are ignored for HEAD requests and for
    /// statuses 204 and 304, because such responses have no body.
    public var body: [Step]
    /// The trailer fields.
    public var trailers: Headers = [:]
    /// Whether only the end of the connection marks the end of the body.
    public var isCloseDelimited = false
    /// The protocol version of the response.
    public var httpVersion = HTTPVersion.http1_1
    /// A gate that must be open before the head is delivered.
    public var gate: StubGate?
    /// Whether the request's body is read before the reply is delivered.
    public var readsBody = true
    /// The steps of a WebSocket; see ``webSocket(_:headers:)``. `nil` for a reply to a request.
    public var socketSteps: [SocketStep]?
    /// If not `nil`, the request fails with this error and has no response. A ``gate`` still delays it.
    public var failure: NetError?

    /// Creates a reply.
    public init(status: Int = 200, headers: Headers = [:], body: [Step] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension StubReply {
    /// Returns a reply with these bytes in one chunk.
    public static func bytes(_ bytes: Bytes, contentType: String? = nil, status: Int = 200) -> StubReply {
        let headers = contentType.map { Headers([.init(name: "Content-Type", value: $0)]) } ?? [:]
        return StubReply(status: status, headers: headers, body: [.bytes(bytes)])
    }

    /// Returns a reply with text in UTF-8.
    public static func text(
        _ text: String, contentType: String = "text/plain; charset=utf-8", status: Int = 200
    ) -> StubReply {
        .bytes(Bytes(Array(text.utf8)), contentType: contentType, status: status)
    }

    /// Returns a reply with this JSON text.
    public static func json(_ text: String, status: Int = 200) -> StubReply {
        .text(text, contentType: "application/json", status: status)
    }

    /// Returns a reply with a value as JSON.
    ///
    /// Throws `NetError.Code.encoding` for a value that JSON cannot represent.
    public static func encoding(_ value: some Encodable, status: Int = 200) throws(NetError) -> StubReply {
        .bytes(try Body.json(value).bytes, contentType: "application/json", status: status)
    }

    /// Returns a reply without a body.
    public static func status(_ status: Int) -> StubReply {
        StubReply(status: status)
    }

    /// Returns a redirect. It is followed as the request's redirect policy defines.
    public static func redirect(to location: String, status: Int = 302) -> StubReply {
        StubReply(status: status, headers: ["Location": location])
    }

    /// Returns a reply that makes the request fail with this error, without a response.
    public static func failure(_ error: NetError) -> StubReply {
        var reply = StubReply()
        reply.failure = error
        return reply
    }

    /// Returns a reply that makes the request fail with this code, without a response.
    public static func failure(_ code: NetError.Code) -> StubReply {
        .failure(NetError(code, "a stub's failure"))
    }

    /// Returns the same reply with a gate that must be open before the head is delivered.
    public func held(by gate: StubGate) -> StubReply {
        var held = self
        held.gate = gate
        return held
    }
}
