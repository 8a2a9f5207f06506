public import NetKit

/// A transport for tests that sends nothing. It returns registered replies and records the requests.
///
///     let stub = StubTransport()
///     stub.register("/cities", with: .json("[]"))
///     stub.register("/login", method: .post, with: .status(503), .json(#"{"token": "t"}"#))   // one after the other
///     let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
///     …
///     #expect(stub.requests.map(\.path) == ["/login", "/login", "/cities"])
///
/// Like the engine, it:
/// - rejects invalid requests, with the same errors
/// - reads request bodies and checks their announced length
/// - follows redirects as the request's redirect policy defines
/// - applies the limits of bodies, heads and redirects
/// - saves bodies to files
/// - reports a cancellation immediately
///
/// Time limits never expire, because no time passes in a stub. To make a reply slow, use a ``StubGate``. Connections,
/// TLS, content codings, cookies and authentication challenges are not simulated. Thread-safe.
public final class StubTransport: WebSocketTransport {
    /// A closure that creates the reply to a request whose body has been read. If it throws an error, the request fails
    /// with it.
    public typealias StubResponder = @Sendable (StubRequest) async throws -> StubReply

    private struct State: Sendable {
        var script = StubScript()
        var requests: [StubRequest] = []
        var sockets: [StubSocket] = []
        var startedCount = 0
        var inFlight = 0
        var isShutDown = false
    }

    private let state = Watched(State())
    private let responder: StubResponder?

    /// Creates a stub that returns only registered replies. A request for which no reply is registered fails with
    /// `NetError.Code.usage`.
    public init() {
        responder = nil
    }

    /// Creates a stub with a closure that replies to all requests for which no reply is registered.
    public init(_ responder: @escaping StubResponder) {
        self.responder = responder
    }

    /// Creates a stub with a closure that returns complete responses. The body of a response is delivered as one chunk.
    /// If the closure returns a redirect, it is followed.
    public convenience init(
        responding response: @escaping @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) {
        self.init { received in
            let response = try await response(received.request)
            var reply = StubReply(
                status: response.status, headers: response.headers, body: [.bytes(response.bytes)])
            reply.trailers = response.trailers
            reply.isCloseDelimited = response.isCloseDelimited
            reply.httpVersion = response.httpVersion
            return reply
        }
    }

    /// Registers the replies to successive requests. The last reply is repeated.
    ///
    /// If several patterns match a request, the most specific one applies. A URL is more specific than a path, and a
    /// path is more specific than "*". For the same pattern, an entry with a method precedes one without.
    /// - Parameters:
    ///   - pattern: a path such as "/cities", an absolute URL without a query, or "*" for all requests.
    ///   - method: the method. If `nil`, all methods match.
    ///   - reply: the first reply.
    ///   - more: the replies to the following requests.
    public func register(_ pattern: String, method: Method? = nil, with reply: StubReply, _ more: StubReply...) {
        register(pattern, method: method, with: [reply] + more)
    }

    /// Registers an array of replies; see ``register(_:method:with:_:)``. An empty array removes the entry.
    public func register(_ pattern: String, method: Method? = nil, with replies: [StubReply]) {
        state.change { $0.script.set(replies, for: .init(method: method, pattern: pattern)) }
    }

    /// The requests so far, in order. There is one for each hop.
    public var requests: [StubRequest] { state.value.requests }

    /// The WebSockets so far, in the order of their handshakes.
    public var sockets: [StubSocket] { state.value.sockets }

    /// Whether the stub was shut down.
    public var isShutDown: Bool { state.value.isShutDown }

    /// Waits until this number of requests has been received with their bodies. Requests whose replies do not wait for
    /// the body do not count.
    ///
    /// Throws `NetError.Code.cancelled` if the task is cancelled before that.
    public func waitForRequests(_ count: Int) async throws(NetError) {
        try await state.wait { $0.requests.count { $0.isWhole } >= count }
    }

    /// Returns the reply to the request.
    public func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        let exchange = try begin(request)
        return try await promptly { () async throws(NetError) in
            defer { exchange.end() }
            return try await exchange.response()
        }
    }

    /// Returns the reply to the request as a stream. The steps of the body run while the stream is read.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        let exchange = try begin(request)
        return try await promptly { () async throws(NetError) in
            do throws(NetError) {
                return try await exchange.stream()
            } catch {
                exchange.end()
                throw error
            }
        }
    }

    /// Opens a WebSocket with the reply to the request.
    package func openWebSocket(
        _ request: Request<Bytes>, _ options: WebSocket.Options
    ) async throws(NetError) -> WebSocketHandshake {
        if request.method != .get || request.body != nil {
            throw NetError(.usage, "a WebSocket is opened by a GET request without a body")
        }
        let exchange = try begin(request, opensSocket: true)
        return try await promptly { () async throws(NetError) in
            do throws(NetError) {
                return try await exchange.socket(options)
            } catch {
                exchange.end()
                throw error
            }
        }
    }

    /// Refuses further requests. Returns when all requests in flight have ended, and all streams were read to their end
    /// or released.
    public func shutdown() async {
        state.change { $0.isShutDown = true }
        // The wait runs in a separate task, so that it does not end if the caller is cancelled.
        await Task { [state] in try? await state.wait { $0.inFlight == 0 } }.value
    }

    private func begin(_ request: Request<Bytes>, opensSocket: Bool = false) throws(NetError) -> StubExchange {
        if Task.isCancelled {
            throw NetError(.cancelled, "cancelled before the request was sent")
        }
        try request.checkAsEngine()
        let number: Int? = state.change { state in
            if state.isShutDown {
                return nil
            }
            state.startedCount += 1
            state.inFlight += 1
            return state.startedCount
        }
        guard let number else { throw NetError(.closed, "the stub was shut down") }
        return StubExchange(request, number: number, with: self, opensSocket: opensSocket)
    }
}

extension StubTransport {
    /// Records the request of a hop. Returns its index, and the registered reply if there is one.
    func arrived(_ request: Request<Bytes>, of exchange: Int) -> (index: Int, reply: StubReply?) {
        state.change { state in
            let received = StubRequest(request, of: exchange)
            state.requests.append(received)
            return (state.requests.count - 1, state.script.next(for: received))
        }
    }

    /// Records a WebSocket.
    func opened() -> StubSocket {
        let socket = StubSocket()
        state.change { $0.sockets.append(socket) }
        return socket
    }

    func received(_ bytes: Bytes, at index: Int) {
        state.change { $0.requests[index].received.append(contentsOf: bytes) }
    }

    func completed(at index: Int) -> StubRequest {
        state.change { state in
            state.requests[index].isWhole = true
            return state.requests[index]
        }
    }

    /// Returns the closure's reply to a request for which no reply is registered.
    func responderReply(to request: StubRequest) async throws(NetError) -> StubReply {
        guard let responder else {
            throw NetError(.usage, "the stub has no reply to \(request.method) \(request.path)")
        }
        do {
            return try await responder(request)
        } catch let error as NetError {
            throw error
        } catch {
            throw NetError(.receive, "the stub's closure failed: \(error)", underlying: error)
        }
    }

    func ended() {
        state.change { $0.inFlight -= 1 }
    }
}
