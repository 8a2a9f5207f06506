/// The redirects that led to a response.
struct RedirectTrail {
    private var heads: [ResponseHead] = []
    private var hops: [HopMetrics] = []
    private var cameByChallenge = false
    /// When the first of the transfers was sent whose hops are here.
    private var begun = ContinuousClock.now
    /// When that under way was sent, as long after.
    private var sent = Duration.zero
    /// How many redirects were followed.
    var count: Int { heads.count }

    /// Another transfer is sent now.
    mutating func goesOn() {
        let now = ContinuousClock.now
        if hops.isEmpty {
            begun = now
        }
        sent = now - begun
    }

    mutating func add(_ answer: Answer) {
        heads.append(ResponseHead(of: answer))
        hops = joined(by: answer.metrics)
        cameByChallenge = cameByChallenge || answer.cameByChallenge
    }

    /// Redirects that a transport followed by itself, on the way to a response; their heads where it tells them.
    mutating func add(redirectsOf response: Response<Bytes>, _ heads: [ResponseHead] = []) {
        hops = joined(by: response.metrics.dropLast())
        self.heads += heads
    }

    /// Redirects that a transport followed by itself, on the way to an answer.
    mutating func add(redirectsOf answer: Answer) {
        guard case .stream(let stream) = answer.body else { return add(redirectsOf: answer.response) }
        add(redirectsOf: stream.headOnly, stream.earlierHeads)
    }

    private var isEmpty: Bool { heads.isEmpty && hops.isEmpty }

    /// The hops with those of the transfer under way, whose moments count from its own send, and then from the first.
    fileprivate func joined(by more: some Sequence<HopMetrics>) -> [HopMetrics] {
        hops + more.map { $0.counted(from: sent) }
    }

    /// The error with what came before it: who looks at it sees that a server has acted on the request.
    func leading(to error: NetError) -> NetError {
        hops.isEmpty ? error : error.costing(joined(by: error.metrics))
    }

    /// The response with what came before it.
    func leading(to response: Response<Bytes>) -> Response<Bytes> {
        if isEmpty {
            return response
        }
        var response = response
        response.metrics = Metrics(joined(by: response.metrics))
        response.cameByChallenge = cameByChallenge || response.cameByChallenge
        return response
    }

    /// The stream with what came before it.
    func leading(to stream: ResponseStream) -> ResponseStream {
        if isEmpty {
            return stream
        }
        var followed = stream.replaced(
            by: FollowedChunks(stream, after: self), after: heads, hops: joined(by: stream.metrics))
        followed.cameByChallenge = cameByChallenge || stream.cameByChallenge
        return followed
    }

    /// The answer with what came before it.
    func leading(to answer: Answer) -> Answer {
        switch answer.body {
        case .bytes: Answer(leading(to: answer.response))
        case .file(let file): Answer(leading(to: answer.response), in: file)
        case .stream(let stream): Answer(leading(to: stream))
        }
    }
}

/// A streamed body that redirects led to: its end tells of their hops as well.
private final class FollowedChunks: ChunkSource {
    private let stream: ResponseStream
    private let trail: RedirectTrail

    init(_ stream: ResponseStream, after trail: RedirectTrail) {
        self.stream = stream
        self.trail = trail
    }

    func next() async throws(NetError) -> Bytes? { try await stream.source.next() }

    func abandon(isSuperseded: Bool) { stream.source.abandon(isSuperseded: isSuperseded) }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? {
        guard var ending = stream.source.ending else { return nil }
        ending.metrics = Metrics(trail.joined(by: ending.metrics))
        return ending
    }
}
