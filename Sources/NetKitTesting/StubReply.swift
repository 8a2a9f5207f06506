public import NetKit

/// What a ``StubTransport`` answers to one request.
///
///     var reply = StubReply(status: 200, headers: ["Content-Type": "text/plain"])
///     reply.body = [.text("begun, "), .wait(gate), .text("done")]
///     reply.trailers = ["X-Sum": "1"]
public struct StubReply: Sendable {
    /// A part of a body.
    public enum Step: Sendable {
        /// The reader gets these bytes, in a piece of their own.
        case bytes(Bytes)
        /// The body goes on when the gate is open.
        case wait(StubGate)
        /// The body ends with this error.
        case fail(NetError)

        /// The reader gets this text in UTF-8, in a piece of its own.
        public static func text(_ text: String) -> Step { .bytes(Bytes(Array(text.utf8))) }
    }

    /// The status, 200 to 999.
    public var status: Int
    /// The fields, in order; none is added.
    public var headers: Headers
    /// The body, step by step, its content codings undone. It is left out where HTTP has none: after HEAD, and for
    /// statuses 204 and 304.
    public var body: [Step]
    /// The fields after the body.
    public var trailers: Headers = [:]
    /// Whether nothing but the end of the connection tells where the body ends.
    public var isCloseDelimited = false
    /// The protocol that the response says it came in.
    public var httpVersion = HTTPVersion.http1_1
    /// The head waits until this is open.
    public var gate: StubGate?
    /// False answers without reading the request's body.
    public var readsBody = true
    /// When not nil, the request ends with this, after the gate, and there is no response.
    public var failure: NetError?

    /// A reply of these steps.
    public init(status: Int = 200, headers: Headers = [:], body: [Step] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension StubReply {
    /// These bytes in one piece, as this type.
    public static func bytes(_ bytes: Bytes, contentType: String? = nil, status: Int = 200) -> StubReply {
        let headers = contentType.map { Headers([.init(name: "Content-Type", value: $0)]) } ?? [:]
        return StubReply(status: status, headers: headers, body: [.bytes(bytes)])
    }

    /// Text in UTF-8.
    public static func text(
        _ text: String, contentType: String = "text/plain; charset=utf-8", status: Int = 200
    ) -> StubReply {
        .bytes(Bytes(Array(text.utf8)), contentType: contentType, status: status)
    }

    /// This JSON text.
    public static func json(_ text: String, status: Int = 200) -> StubReply {
        .text(text, contentType: "application/json", status: status)
    }

    /// A value as JSON.
    ///
    /// Throws `NetError.Code.unencodable` for what JSON cannot say.
    public static func encoding(_ value: some Encodable, status: Int = 200) throws(NetError) -> StubReply {
        .bytes(try Body.json(value).bytes, contentType: "application/json", status: status)
    }

    /// A status without a body.
    public static func status(_ status: Int) -> StubReply {
        StubReply(status: status)
    }

    /// A redirect, followed as the request's policy says.
    public static func redirect(to location: String, status: Int = 302) -> StubReply {
        StubReply(status: status, headers: ["Location": location])
    }

    /// No response but an error.
    public static func failure(_ error: NetError) -> StubReply {
        var reply = StubReply()
        reply.failure = error
        return reply
    }

    /// No response but an error of this code.
    public static func failure(_ code: NetError.Code) -> StubReply {
        .failure(NetError(code, "a stub's failure"))
    }

    /// The same reply, held up until the gate is open.
    public func held(by gate: StubGate) -> StubReply {
        var held = self
        held.gate = gate
        return held
    }
}
