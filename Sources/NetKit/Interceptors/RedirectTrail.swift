/// The redirects that led to a response.
struct RedirectTrail {
    private var heads: [ResponseHead] = []
    private var hops: [HopMetrics] = []
    private var cameByChallenge = false
    /// When the first transfer of these hops was sent.
    private var begun = ContinuousClock.now
    /// When the current transfer was sent, relative to that.
    private var sent = Duration.zero
    /// The number of redirects that were followed.
    var count: Int { heads.count }

    /// Starts another transfer.
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

    /// Adds redirects that the transport itself has followed, with their heads if it reports them.
    mutating func add(redirectsOf response: Response<Bytes>, _ heads: [ResponseHead] = []) {
        hops = joined(by: response.metrics.dropLast())
        self.heads += heads
    }

    /// Adds redirects that the transport itself has followed.
    mutating func add(redirectsOf answer: Answer) {
        guard case .stream(let stream) = answer.body else { return add(redirectsOf: answer.response) }
        add(redirectsOf: stream.headOnly, stream.earlierHeads)
    }

    private var isEmpty: Bool { heads.isEmpty && hops.isEmpty }

    /// Returns the hops with those of the current transfer, whose times are converted to count from the first transfer.
    fileprivate func joined(by more: some Sequence<HopMetrics>) -> [HopMetrics] {
        hops + more.map { $0.counted(from: sent) }
    }

    /// Returns the error with the earlier hops, which show that a server has acted on the request.
    func leading(to error: NetError) -> NetError {
        hops.isEmpty ? error : error.costing(joined(by: error.metrics))
    }

    /// Returns the response with the earlier hops.
    func leading(to response: Response<Bytes>) -> Response<Bytes> {
        if isEmpty {
            return response
        }
        var response = response
        response.metrics = Metrics(joined(by: response.metrics))
        response.cameByChallenge = cameByChallenge || response.cameByChallenge
        return response
    }

    /// Returns the stream with the earlier hops.
    func leading(to stream: ResponseStream) -> ResponseStream {
        if isEmpty {
            return stream
        }
        var followed = stream.replaced(
            by: FollowedChunks(stream, after: self), after: heads, hops: joined(by: stream.metrics))
        followed.cameByChallenge = cameByChallenge || stream.cameByChallenge
        return followed
    }

    /// Returns the response with the earlier hops.
    func leading(to answer: Answer) -> Answer {
        switch answer.body {
        case .bytes: Answer(leading(to: answer.response))
        case .file(let file): Answer(leading(to: answer.response), in: file)
        case .stream(let stream): Answer(leading(to: stream))
        }
    }
}

/// A streamed body after redirects: its end reports their hops too.
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
