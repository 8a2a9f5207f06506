public import NetKit

/// A real HTTP server for tests, on an ephemeral port of the loopback interface. Use it instead of a ``StubTransport``
/// to test connections, TLS and the bytes on the wire. It stops when it is deallocated.
///
///     let server = try MockServer()
///     try server.register("/cities", with: .json("[]"))
///     let agent = Agent(.init(baseURL: server.url))
///     …
///     #expect(server.requests.map(\.path) == ["/cities"])
///
/// A request for which no reply is registered gets status 404. Replies are ``StubReply`` values, also for WebSockets,
/// except that gates are not supported. ``StubReply/Step/fail(_:)`` resets the connection within the body, and
/// ``StubReply/failure`` resets it before the first byte. Thread-safe.
public final class MockServer: Sendable {
    /// A received request.
    public struct Received: Sendable {
        /// The method.
        public let method: String
        /// The path and the query.
        public let target: String
        /// The fields, in order.
        public let headers: Headers
        /// The body as received, including the framing of chunks. If the request is longer than 64 KiB, only its
        /// beginning is stored.
        public let body: Bytes

        /// The target without its query.
        public var path: String { String(target.prefix { $0 != "?" }) }
    }

    private let server: ScriptedServer
    /// The server's base URL: scheme, host and port.
    public let url: String

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - isSecure: whether the server uses TLS. Its certificate for `host` is issued by its own authority; see
    ///     ``trust``.
    ///   - host: a numeric loopback address. Servers with different addresses have different origins.
    public init(isSecure: Bool = false, host: String = "127.0.0.1") throws(NetError) {
        server = try ScriptedServer(isSecure: isSecure, host: host)
        let hostLiteral = host.contains(":") ? "[\(host)]" : host
        url = "\(isSecure ? "https" : "http")://\(hostLiteral):\(server.port)"
    }

    /// The port.
    public var port: Int { Int(server.port) }

    /// A trust policy that trusts only this server's authority. For a server without TLS, it is the default policy.
    public var trust: TrustPolicy {
        var policy = TrustPolicy()
        let authority = server.authority
        if !authority.isEmpty {
            policy.roots = .pem(Array(authority.utf8))
        }
        return policy
    }

    /// Sets the replies to successive requests for a path, with any method. The last reply is repeated.
    ///
    /// Throws ``NetKit/NetError/Code/usage`` or ``NetKit/NetError/Code/badHeader`` for a reply that cannot be sent.
    /// - Parameters:
    ///   - path: a path without a query, such as "/cities", or "*" for all paths.
    ///   - reply: the first reply.
    ///   - more: the replies to the following requests.
    public func register(_ path: String, with reply: StubReply, _ more: StubReply...) throws(NetError) {
        var replies: [MockReply] = []
        for reply in [reply] + more {
            replies.append(try MockReply(reply))
        }
        try server.script(path, replies)
    }

    /// The requests received so far, in order.
    public var requests: [Received] {
        (0..<server.requestCount).compactMap { Received(server.receivedBytes($0)) }
    }

    /// The number of connections accepted so far.
    public var connectionCount: Int { server.connectionCount }

    /// Removes all entries of ``requests``.
    public func forgetRequests() {
        server.forget()
    }

    /// Waits until this number of requests has been received completely. Returns false if that takes longer than the
    /// limit.
    public func waitForRequests(_ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
        await server.waitForRequests(count, UInt32(max(0, min(limit / .milliseconds(1), 0x1p31))))
    }
}

extension MockServer.Received {
    /// Parses a request. Returns `nil` if the bytes are not a request, which cannot happen because the server has
    /// parsed them already.
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
