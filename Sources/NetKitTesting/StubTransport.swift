public import NetKit

/// A transport that sends nothing. It returns the replies of the test, and records the requests.
///
///     let stub = StubTransport()
///     stub.answer("/cities", with: .json("[]"))
///     stub.answer("/login", method: .post, with: .status(503), .json(#"{"token": "t"}"#))   // one after the other
///     let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
///     …
///     #expect(stub.requests.map(\.path) == ["/login", "/login", "/cities"])
///
/// It behaves like a transport:
/// - it rejects what the engine would not send, with the same error
/// - it reads bodies to their announced length
/// - it follows redirects by the request's policy
/// - it applies the limits of bodies, heads and redirects
/// - it saves bodies to files
/// - it reports a cancellation immediately
///
/// Time does not pass in it. A slow reply waits for a ``StubGate``, and time limits never expire. Connections, TLS,
/// content codings, cookies and authentication challenges exist only in the engine. Thread-safe.
public final class StubTransport: Transport {
    /// Creates a reply from a request whose body has been read. An error thrown here ends the request.
    public typealias Answer = @Sendable (StubRequest) async throws -> StubReply

    private struct State: Sendable {
        var script = StubScript()
        var requests: [StubRequest] = []
        var begun = 0
        var underWay = 0
        var isShutDown = false
    }

    private let state = Watched(State())
    private let fallback: Answer?

    /// Creates a stub with the replies set by ``answer(_:method:with:_:)``. Any other request fails with
    /// `NetError.Code.usage`.
    public init() {
        fallback = nil
    }

    /// Creates a stub whose closure replies to all requests that ``answer(_:method:with:_:)`` does not cover.
    public init(_ answer: @escaping Answer) {
        fallback = answer
    }

    /// Creates a stub whose closure receives the completed request and returns a complete response, delivered in one
    /// chunk. A returned redirect is followed.
    public convenience init(
        responding response: @escaping @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) {
        self.init { asked in
            let response = try await response(asked.request)
            var reply = StubReply(
                status: response.status, headers: response.headers, body: [.bytes(response.bytes)])
            reply.trailers = response.trailers
            reply.isCloseDelimited = response.isCloseDelimited
            reply.httpVersion = response.httpVersion
            return reply
        }
    }

    /// Sets the replies to successive requests. The last reply is repeated.
    ///
    /// The most specific entry applies. A URL is more specific than a path, and a path than "*". An entry with a method
    /// precedes one without.
    /// - Parameters:
    ///   - place: a path such as "/cities", an absolute URL without a query, or "*" for any.
    ///   - method: the method; `nil` matches all.
    ///   - reply: the first reply.
    ///   - more: the replies to the following requests.
    public func answer(_ place: String, method: Method? = nil, with reply: StubReply, _ more: StubReply...) {
        answer(place, method: method, with: [reply] + more)
    }

    /// As ``answer(_:method:with:_:)``, with an array of replies. An empty array removes the entry.
    public func answer(_ place: String, method: Method? = nil, with replies: [StubReply]) {
        state.change { $0.script.set(replies, for: .init(method: method, place: place)) }
    }

    /// The requests so far, in order: one for each hop.
    public var requests: [StubRequest] { state.value.requests }

    /// Whether it was shut down.
    public var isShutDown: Bool { state.value.isShutDown }

    /// Waits until this number of requests has been received, with the bodies that their replies wait for.
    ///
    /// Throws `NetError.Code.cancelled` if the task is cancelled first.
    public func waitForRequests(_ count: Int) async throws(NetError) {
        try await state.wait { $0.requests.count { $0.isWhole } >= count }
    }

    /// Returns the reply for the request.
    public func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        let exchange = try begin(request)
        return try await promptly { () async throws(NetError) in
            defer { exchange.end() }
            return try await exchange.response()
        }
    }

    /// Returns the reply as a stream. The steps of the body run while the stream is read.
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

    /// Accepts no more requests. Returns when the last one has ended and the last stream is read or released.
    public func shutdown() async {
        state.change { $0.isShutDown = true }
        // A separate task, because cancelling the caller must not end the wait.
        await Task { [state] in try? await state.wait { $0.underWay == 0 } }.value
    }

    private func begin(_ request: Request<Bytes>) throws(NetError) -> StubExchange {
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before it was sent")
        }
        try request.checkAsEngine()
        let number: Int? = state.change { state in
            if state.isShutDown {
                return nil
            }
            state.begun += 1
            state.underWay += 1
            return state.begun
        }
        guard let number else { throw NetError(.closed, "the stub was shut down") }
        return StubExchange(request, number: number, with: self)
    }
}

extension StubTransport {
    /// Records a hop's request. Returns its index, and the reply that was set for it.
    func arrived(_ request: Request<Bytes>, of exchange: Int) -> (index: Int, reply: StubReply?) {
        state.change { state in
            let asked = StubRequest(request, of: exchange)
            state.requests.append(asked)
            return (state.requests.count - 1, state.script.next(for: asked))
        }
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

    /// Returns the closure's reply, for a request without an entry.
    func answer(to request: StubRequest) async throws(NetError) -> StubReply {
        guard let fallback else {
            throw NetError(.usage, "the stub has no reply to \(request.method) \(request.path)")
        }
        do {
            return try await fallback(request)
        } catch let error as NetError {
            throw error
        } catch {
            throw NetError(.receive, "the stub's closure failed: \(error)", underlying: error)
        }
    }

    func ended() {
        state.change { $0.underWay -= 1 }
    }
}
