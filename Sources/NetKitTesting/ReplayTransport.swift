public import NetKit

/// A transport that returns the responses of a ``Recording``. It sends nothing.
///
///     let replay = try ReplayTransport(contentsOf: "Fixtures/cities.json")
///     let agent = Agent(configuration, transport: replay)
///
/// A request is matched with the recorded requests by method, URL and body. For that, its secrets are hidden in the
/// same way as in the recording, and the boundaries of forms are ignored. If a request was recorded several times, its
/// responses are returned in order, and the last one is repeated.
///
/// A request that was not recorded fails with ``NetKit/NetError/Code/usage``. The message contains the request and the
/// most similar recorded one. All other parts of the agent work as usual: limits, decoding, validation, interceptors,
/// cache and observers. Thread-safe.
public final class ReplayTransport: Transport {
    fileprivate struct State: Sendable {
        var used: Set<Int> = []
        /// For a transfer of the stub that was redirected, the index of the recorded transfer that has the response of
        /// the redirect's target. The key is the number of the stub's transfer and not a URL, because several transfers
        /// may be redirected to the same URL.
        var redirectTargets: [Int: Int] = [:]
    }

    private let stub: StubTransport
    private let recordedExchanges: RecordedExchanges

    /// The recording and the state of the matching. It is a separate object because the stub's closure references it.
    fileprivate final class RecordedExchanges: Sendable {
        let recording: Recording
        let redaction: Redaction
        let state = Lock(State())

        init(_ recording: Recording, _ redaction: Redaction) {
            self.recording = recording
            self.redaction = redaction
        }
    }

    /// Creates a transport from a recording.
    ///
    /// - Parameters:
    ///   - recording: the recorded transfers.
    ///   - redaction: the redaction that was used for the recording.
    public init(_ recording: Recording, redaction: Redaction = Redaction()) {
        let recordedExchanges = RecordedExchanges(recording, redaction)
        self.recordedExchanges = recordedExchanges
        stub = StubTransport { received throws(NetError) in try recordedExchanges.answer(to: received) }
    }

    /// Creates a transport from a recording in a file.
    public convenience init(contentsOf path: String, redaction: Redaction = Redaction()) throws(NetError) {
        self.init(try Recording(contentsOf: path), redaction: redaction)
    }

    /// The requests so far, in order. There is one for each hop.
    public var requests: [StubRequest] { stub.requests }

    /// The recorded transfers that were not used so far.
    public var unused: [Recording.Exchange] {
        let used = recordedExchanges.state.withLock { $0.used }
        return recordedExchanges.recording.exchanges.indices.filter { !used.contains($0) }.map {
            recordedExchanges.recording.exchanges[$0]
        }
    }

    /// Returns the recorded response to the request.
    public func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        try await stub.send(request)
    }

    /// Returns the recorded response to the request, with the body in one chunk.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        try await stub.stream(request)
    }

    /// Refuses further requests, and returns when all requests in flight have ended.
    public func shutdown() async {
        await stub.shutdown()
    }
}

extension ReplayTransport.RecordedExchanges {
    fileprivate func answer(to received: StubRequest) throws(NetError) -> StubReply {
        if let index = state.withLock({ $0.redirectTargets.removeValue(forKey: received.exchange) }) {
            return reply(index)
        }
        let body = received.request.body == nil ? nil : received.body
        let description = Recording.Question(received.request, body, without: redaction)
        let matching = recording.exchanges.indices.filter { recording.exchanges[$0].request.matches(description) }
        let index = state.withLock { state in
            let index = matching.first { !state.used.contains($0) } ?? matching.last
            if let index {
                state.used.insert(index)
            }
            return index
        }
        guard let index else {
            throw NetError(.usage, "\(description.method) \(description.url) was not recorded\(hint(to: description))")
        }
        let exchange = recording.exchanges[index]
        if let fault = exchange.fault {
            throw NetError(.usage, "exchanges[\(index)] of the recording, \(exchange.name), \(fault)")
        }
        if let failure = exchange.failure {
            throw NetError(NetError.Code(rawValue: failure.code) ?? .internal, failure.message)
        }
        if let url = exchange.response?.url, received.request.redirects != .return {
            state.withLock { $0.redirectTargets[received.exchange] = index }
            // The status of the redirect was not recorded. If the body cannot be sent again, it was not resent, so the
            // status must have been 303.
            return .redirect(to: url, status: received.request.body?.isRepeatable ?? true ? 307 : 303)
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

    /// Returns text about the most similar recorded request, for the error message.
    private func hint(to description: Recording.Question) -> String {
        let requests = recording.exchanges.map(\.request)
        if requests.contains(where: { $0.url == description.url && $0.method == description.method }) {
            return ": the recorded request has another body"
        }
        if let other = requests.first(where: { $0.url == description.url }) {
            return ": \(other.method) was"
        }
        let urlWithoutQuery = description.url.prefix { $0 != "?" }
        let similar = requests.filter { $0.url.prefix { $0 != "?" } == urlWithoutQuery }
        if let other = similar.first(where: { $0.method == description.method }) ?? similar.first {
            return ": \(other.method) \(other.url) was"
        }
        return requests.isEmpty ? ": the recording is empty" : ""
    }
}
