import NetKit

/// An interceptor that is a closure.
struct Wrapping: Interceptor {
    let body: @Sendable (Call, Next) async throws(NetError) -> Answer

    init(_ body: @escaping @Sendable (Call, Next) async throws(NetError) -> Answer) {
        self.body = body
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        try await body(call, next)
    }
}

/// Writes down when calls come by, on their way out and on their way back.
struct Probe: Interceptor {
    let name: String
    let log: Collected<String>

    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        log.append("\(name) out \(call.kind)")
        let reply = try await next(call)
        log.append("\(name) back \(reply.status)")
        return reply
    }
}

extension Response where Value == Bytes {
    /// A response with this text.
    init(status: Int, _ text: String, headers: Headers = [:]) {
        self.init(status: status, headers: headers, bytes: Bytes(Array(text.utf8)))
    }
}

extension Bytes {
    /// The bytes as text.
    var text: String { String(decoding: Array(self), as: UTF8.self) }
}
