public import NetKit

/// A real server for a test, on a port of its own of the loopback interface: what a ``StubTransport`` cannot show,
/// connections, TLS, bytes, goes through it. It stops when it is let go.
///
///     let server = try MockServer()
///     try server.answer("/cities", with: .json("[]"))
///     let agent = Agent(.init(baseURL: server.url))
///     …
///     #expect(server.requests.map(\.path) == ["/cities"])
///
/// What has no reply is answered with 404. Replies are ``StubReply``s: a ``StubReply/Step/fail(_:)`` resets the
/// connection in the body, a ``StubReply/failure`` before the first byte; gates are a stub's alone. Thread-safe.
public final class MockServer: Sendable {
    /// A request as it came.
    public struct Received: Sendable {
        /// The method.
        public let method: String
        /// The path and the query.
        public let target: String
        /// The fields, in order.
        public let headers: Headers
        /// The body as it came, chunk framing included; of requests beyond 64 KiB the beginning.
        public let body: Bytes

        /// The target without its query.
        public var path: String { String(target.prefix { $0 != "?" }) }
    }

    private let server: ScriptedServer
    /// The server's base: scheme, host and port.
    public let url: String

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - isSecure: speaks TLS, with a certificate for `host` by an authority of its own: see ``trust``.
    ///   - host: a numeric loopback address; another one is another origin.
    public init(isSecure: Bool = false, host: String = "127.0.0.1") throws(NetError) {
        server = try ScriptedServer(isSecure: isSecure, host: host)
        let place = host.contains(":") ? "[\(host)]" : host
        url = "\(isSecure ? "https" : "http")://\(place):\(server.port)"
    }

    /// The port.
    public var port: Int { Int(server.port) }

    /// Believes this server's authority alone; what an agent starts with for a plain one.
    public var trust: TrustPolicy {
        var policy = TrustPolicy()
        let authority = server.authority
        if !authority.isEmpty {
            policy.roots = .pem(Array(authority.utf8))
        }
        return policy
    }

    /// Describes the replies to successive requests for a path, whatever the method; the last one answers all after it.
    ///
    /// Throws ``NetKit/NetError/Code/usage`` or ``NetKit/NetError/Code/badHeader`` for what cannot be sent.
    /// - Parameters:
    ///   - path: a path such as "/cities" without its query, or "*" for any.
    ///   - reply: the first reply.
    ///   - more: those to the requests after it.
    public func answer(_ path: String, with reply: StubReply, _ more: StubReply...) throws(NetError) {
        var replies: [MockReply] = []
        for one in [reply] + more {
            replies.append(try MockReply(one))
        }
        try server.script(path, replies)
    }

    /// What was asked so far, in order.
    public var requests: [Received] {
        (0..<server.requestCount).compactMap { Received(server.receivedBytes($0)) }
    }

    /// Connections that were made so far.
    public var connectionCount: Int { server.connectionCount }

    /// Forgets what was asked.
    public func forgetRequests() {
        server.forget()
    }

    /// Waits until this many requests in all have come whole; false when that takes longer than the limit.
    public func waitForRequests(_ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
        await server.waitForRequests(count, UInt32(max(0, min(limit / .milliseconds(1), 0x1p31))))
    }
}

extension MockServer.Received {
    /// Nil for what is no head; the server has checked that it is.
    fileprivate init?(_ bytes: [UInt8]) {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else { return nil }
        var lines = bytes[..<end].split { $0 == 0x0D || $0 == 0x0A }[...]
        let words = lines.popFirst()?.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) } ?? []
        guard words.count == 3 else { return nil }
        method = words[0]
        target = words[1]
        headers = Headers(
            lines.compactMap { line in
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
                let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
                return Headers.Field(
                    name: String(decoding: line[..<colon], as: UTF8.self), bytes: Bytes(Array(value)))
            })
        body = Bytes(Array(bytes[(end + separator.count)...]))
    }
}
