import NetKit

/// An interceptor made of a closure.
struct Wrapping: Interceptor {
    let body: @Sendable (Call, Next) async throws(NetError) -> ChainResponse

    init(_ body: @escaping @Sendable (Call, Next) async throws(NetError) -> ChainResponse) {
        self.body = body
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        try await body(call, next)
    }
}

/// An interceptor that records calls on their way to the transport and back.
struct Probe: Interceptor {
    let name: String
    let log: Collected<String>

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        log.append("\(name) out \(call.kind)")
        let reply = try await next(call)
        log.append("\(name) back \(reply.status)")
        return reply
    }
}

extension Response where Value == Bytes {
    /// Creates a response with this text.
    init(status: Int, _ text: String, headers: Headers = [:]) {
        self.init(status: status, headers: headers, bytes: Bytes(Array(text.utf8)))
    }
}

extension Bytes {
    /// The bytes as text.
    var text: String { String(decoding: Array(self), as: UTF8.self) }
}
