public import NetKit

/// A real server for a test, on an ephemeral port of the loopback interface. It covers connections, TLS and the bytes
/// on the wire, which a ``StubTransport`` does not. It stops when it is deallocated.
///
///     let server = try MockServer()
///     try server.answer("/cities", with: .json("[]"))
///     let agent = Agent(.init(baseURL: server.url))
///     …
///     #expect(server.requests.map(\.path) == ["/cities"])
///
/// A request without a reply gets status 404. Replies are ``StubReply``s. A ``StubReply/Step/fail(_:)`` resets the
/// connection in the body, and a ``StubReply/failure`` resets it before the first byte. Gates work only in a stub.
/// Thread-safe.
public final class MockServer: Sendable {
    /// A received request.
    public struct Received: Sendable {
        /// The method.
        public let method: String
        /// The path and the query.
        public let target: String
        /// The fields, in order.
        public let headers: Headers
        /// The body as received, including chunk framing. Of a request beyond 64 KiB, only its beginning.
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
    ///   - isSecure: whether the server uses TLS, with a certificate for `host` by its own authority: see ``trust``.
    ///   - host: a numeric loopback address. Each address is a different origin.
    public init(isSecure: Bool = false, host: String = "127.0.0.1") throws(NetError) {
        server = try ScriptedServer(isSecure: isSecure, host: host)
        let place = host.contains(":") ? "[\(host)]" : host
        url = "\(isSecure ? "https" : "http")://\(place):\(server.port)"
    }

    /// The port.
    public var port: Int { Int(server.port) }

    /// A policy that trusts only this server's authority. For a server without TLS, the default policy.
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
    ///   - path: a path such as "/cities" without its query, or "*" for any.
    ///   - reply: the first reply.
    ///   - more: the replies to the following requests.
    public func answer(_ path: String, with reply: StubReply, _ more: StubReply...) throws(NetError) {
        var replies: [MockReply] = []
        for one in [reply] + more {
            replies.append(try MockReply(one))
        }
        try server.script(path, replies)
    }

    /// The requests received so far, in order.
    public var requests: [Received] {
        (0..<server.requestCount).compactMap { Received(server.receivedBytes($0)) }
    }

    /// The number of connections accepted so far.
    public var connectionCount: Int { server.connectionCount }

    /// Removes the received requests.
    public func forgetRequests() {
        server.forget()
    }

    /// Waits until this number of requests has been received completely. Returns false if that exceeds the time limit.
    public func waitForRequests(_ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
        await server.waitForRequests(count, UInt32(max(0, min(limit / .milliseconds(1), 0x1p31))))
    }
}

extension MockServer.Received {
    /// Returns `nil` if it is not a request head; the server has already checked that it is.
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
