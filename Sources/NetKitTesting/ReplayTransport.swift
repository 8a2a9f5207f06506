public import NetKit

/// A transport that returns the responses of a ``Recording``. It sends nothing.
///
///     let replay = try ReplayTransport(contentsOf: "Fixtures/cities.json")
///     let agent = Agent(configuration, transport: replay)
///
/// A request is matched by method, URL and body, with the same secrets hidden as in the recording. Boundaries of forms
/// are ignored. Several transfers of one request are returned in order, and the last one is repeated.
///
/// A request that was not recorded fails with ``NetKit/NetError/Code/usage``; the message names it and the closest
/// recorded one. The agent's own parts work as usual: limits, decoding, validation, interceptors, cache and observers.
/// Thread-safe.
public final class ReplayTransport: Transport {
    fileprivate struct State: Sendable {
        var used: Set<Int> = []
        /// The recorded transfer that supplies a redirect's target, by the number of the stub's transfer. Not by URL,
        /// because several transfers may be redirected to one.
        var elsewhere: [Int: Int] = [:]
    }

    private let stub: StubTransport
    private let tape: Tape

    /// The matching state. It is separate from the stub, which references it.
    fileprivate final class Tape: Sendable {
        let recording: Recording
        let redaction: Redaction
        let state = Lock(State())

        init(_ recording: Recording, _ redaction: Redaction) {
            self.recording = recording
            self.redaction = redaction
        }
    }

    /// - Parameters:
    ///   - recording: the recorded transfers.
    ///   - redaction: the redaction that was used for the recording.
    public init(_ recording: Recording, redaction: Redaction = Redaction()) {
        let tape = Tape(recording, redaction)
        self.tape = tape
        stub = StubTransport { asked throws(NetError) in try tape.answer(to: asked) }
    }

    /// Creates a transport from a file.
    public convenience init(contentsOf path: String, redaction: Redaction = Redaction()) throws(NetError) {
        self.init(try Recording(contentsOf: path), redaction: redaction)
    }

    /// The requests so far, in order: one for each hop.
    public var requests: [StubRequest] { stub.requests }

    /// The recorded transfers that were not requested.
    public var unused: [Recording.Exchange] {
        let used = tape.state.withLock { $0.used }
        return tape.recording.exchanges.indices.filter { !used.contains($0) }.map { tape.recording.exchanges[$0] }
    }

    /// Returns the recorded response.
    public func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        try await stub.send(request)
    }

    /// Returns the recorded response, with the body in one chunk.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        try await stub.stream(request)
    }

    /// Accepts no more requests.
    public func shutdown() async {
        await stub.shutdown()
    }
}

extension ReplayTransport.Tape {
    fileprivate func answer(to asked: StubRequest) throws(NetError) -> StubReply {
        if let index = state.withLock({ $0.elsewhere.removeValue(forKey: asked.exchange) }) {
            return reply(index)
        }
        let body = asked.request.body == nil ? nil : asked.body
        let question = Recording.Question(asked.request, body, without: redaction)
        let matching = recording.exchanges.indices.filter { recording.exchanges[$0].request.matches(question) }
        let index = state.withLock { state in
            let index = matching.first { !state.used.contains($0) } ?? matching.last
            if let index {
                state.used.insert(index)
            }
            return index
        }
        guard let index else {
            throw NetError(.usage, "\(question.method) \(question.url) was not recorded\(closest(to: question))")
        }
        let exchange = recording.exchanges[index]
        if let fault = exchange.fault {
            throw NetError(.usage, "exchanges[\(index)] of the recording, \(exchange.name), \(fault)")
        }
        if let failure = exchange.failure {
            throw NetError(NetError.Code(rawValue: failure.code), failure.message)
        }
        if let url = exchange.response?.url, asked.request.redirects ?? .follow != .return {
            state.withLock { $0.elsewhere[asked.exchange] = index }
            // The redirect's status is not recorded. A body that cannot be sent again was not resent, so the status was
            // 303.
            return .redirect(to: url, status: asked.request.body?.isRepeatable ?? true ? 307 : 303)
        }
        return reply(index)
    }

    private func reply(_ index: Int) -> StubReply {
        guard let recorded = recording.exchanges[index].response else { return .failure(.internal) }
        var reply = StubReply(
            status: recorded.status, headers: recorded.fields.headers, body: [.bytes(recorded.body.bytes)])
        reply.trailers = recorded.trailers?.headers ?? [:]
        return reply
    }

    /// Returns a hint at the closest recorded request, for the error message.
    private func closest(to question: Recording.Question) -> String {
        let requests = recording.exchanges.map(\.request)
        if requests.contains(where: { $0.url == question.url && $0.method == question.method }) {
            return ": the one that was has another body"
        }
        if let other = requests.first(where: { $0.url == question.url }) {
            return ": \(other.method) was"
        }
        let place = question.url.prefix { $0 != "?" }
        let near = requests.filter { $0.url.prefix { $0 != "?" } == place }
        if let other = near.first(where: { $0.method == question.method }) ?? near.first {
            return ": \(other.method) \(other.url) was"
        }
        return requests.isEmpty ? ": the recording is empty" : ""
    }
}
