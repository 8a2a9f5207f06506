public import NetKit

/// A transport that sends nothing: it answers as the test says, and remembers what it was asked.
///
///     let stub = StubTransport()
///     stub.answer("/cities", with: .json("[]"))
///     stub.answer("/login", method: .post, with: .status(503), .json(#"{"token": "t"}"#))   // one after the other
///     let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
///     …
///     #expect(stub.requests.map(\.path) == ["/login", "/login", "/cities"])
///
/// It does what a transport does: what the engine would not send is refused with the same error, bodies are read to
/// their announced length, redirects are followed as the request says, limits of bodies, heads and redirects hold,
/// bodies are saved to files, and a cancelled task is told at once.
/// Time does not pass in it: what should take long waits for a ``StubGate``, and limits of time never end anything.
/// Connections, TLS, content codings, cookies and challenges of one's own credentials are the engine's alone.
/// Thread-safe.
public final class StubTransport: Transport {
    /// Makes a reply from a request whose body has been read; what it throws ends the request.
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

    /// A stub that answers what ``answer(_:method:with:_:)`` says, and ends any other request with
    /// `NetError.Code.usage`.
    public init() {
        fallback = nil
    }

    /// A stub that answers by a closure whatever ``answer(_:method:with:_:)`` does not.
    public init(_ answer: @escaping Answer) {
        fallback = answer
    }

    /// A stub whose closure gets the request as the agent completed it, and makes a whole response, which comes in one
    /// piece. A redirect among them is followed.
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

    /// Describes the replies to successive requests; the last one answers all after it.
    ///
    /// The most telling description counts: a URL before a path before "*", and one with a method before one without.
    /// - Parameters:
    ///   - place: a path such as "/cities", an absolute URL without a query, or "*" for any.
    ///   - method: nil is any.
    ///   - reply: the first reply.
    ///   - more: those to the requests after it.
    public func answer(_ place: String, method: Method? = nil, with reply: StubReply, _ more: StubReply...) {
        answer(place, method: method, with: [reply] + more)
    }

    /// As ``answer(_:method:with:_:)``, with the replies in an array; none makes the place unknown again.
    public func answer(_ place: String, method: Method? = nil, with replies: [StubReply]) {
        state.change { $0.script.set(replies, for: .init(method: method, place: place)) }
    }

    /// What was asked so far, in order: one request for each hop.
    public var requests: [StubRequest] { state.value.requests }

    /// Whether it was shut down.
    public var isShutDown: Bool { state.value.isShutDown }

    /// Waits until this many requests in all have come, and their bodies, where the reply waits for them.
    ///
    /// Throws `NetError.Code.cancelled` when the task is cancelled first.
    public func waitForRequests(_ count: Int) async throws(NetError) {
        try await state.wait { $0.requests.count { $0.isWhole } >= count }
    }

    /// Answers as described.
    public func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        let exchange = try begin(request)
        return try await promptly { () async throws(NetError) in
            defer { exchange.end() }
            return try await exchange.response()
        }
    }

    /// Answers as described: the body's steps are taken as the stream is read, and not sooner.
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

    /// Takes no more requests, and returns when the last one has ended and the last stream is read or given up.
    public func shutdown() async {
        state.change { $0.isShutDown = true }
        // A task of its own, so that cancelling the caller ends the wait no sooner.
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
    /// Remembers a hop's request; returns its place, and the reply that is described for it.
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

    /// What the closure says, when no reply is described.
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
