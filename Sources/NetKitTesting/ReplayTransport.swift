public import NetKit

/// A transport that answers from a ``Recording``; nothing is sent.
///
///     let replay = try ReplayTransport(contentsOf: "Fixtures/cities.json")
///     let agent = Agent(configuration, transport: replay)
///
/// A request is matched by method, URL and body, secrets hidden as they were when it was recorded; boundaries of forms
/// do not count. Several exchanges of one request come one after the other; the last one answers all after it. What was
/// not recorded ends with ``NetKit/NetError/Code/usage``, and the message names the request and the closest one that
/// was. Everything else is an agent's as ever: limits, decoding, validation, interceptors, cache and observers.
/// Thread-safe.
public final class ReplayTransport: Transport {
    fileprivate struct State: Sendable {
        var used: Set<Int> = []
        /// By the stub's exchange that was led elsewhere: the recorded one that answers there. Not by the URL, to which
        /// several may be on their way.
        var elsewhere: [Int: Int] = [:]
    }

    private let stub: StubTransport
    private let tape: Tape

    /// What is matched, apart from the stub, which holds it.
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
    ///   - recording: what was recorded.
    ///   - redaction: the one that was recorded with.
    public init(_ recording: Recording, redaction: Redaction = Redaction()) {
        let tape = Tape(recording, redaction)
        self.tape = tape
        stub = StubTransport { asked throws(NetError) in try tape.answer(to: asked) }
    }

    /// Answers from a file.
    public convenience init(contentsOf path: String, redaction: Redaction = Redaction()) throws(NetError) {
        self.init(try Recording(contentsOf: path), redaction: redaction)
    }

    /// What was asked so far, in order: one request for each hop.
    public var requests: [StubRequest] { stub.requests }

    /// Recorded exchanges that nobody has asked for.
    public var unused: [Recording.Exchange] {
        let used = tape.state.withLock { $0.used }
        return tape.recording.exchanges.indices.filter { !used.contains($0) }.map { tape.recording.exchanges[$0] }
    }

    /// Answers as recorded.
    public func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        try await stub.send(request)
    }

    /// Answers as recorded, the body in one piece.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        try await stub.stream(request)
    }

    /// Takes no more requests.
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
            // Which one it was is not recorded. A body that cannot be sent again went nowhere else: that was a 303.
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

    /// What may have been meant.
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
