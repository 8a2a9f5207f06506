/// A redirect that is about to be followed; see the hook `redirect` of ``TransferHooks``.
public struct RedirectStep: Sendable {
    /// The response head of the redirect.
    public let head: ResponseHead
    /// The request that was redirected.
    public let request: Request<Bytes>
    /// The request to the URL in Location (RFC 9110, 15.4). If that URL has another origin, this request has no
    /// credentials and no fields that identify the user.
    public let next: Request<Bytes>
    /// The number of redirects that were followed before this one.
    public let count: Int

    /// Creates a step. Returns `nil` if the response is not a redirect, or if the policy is to return it. Throws if the
    /// redirect must not be followed, with the error that would end the call without a hook.
    init?(
        _ head: ResponseHead, after request: Request<Bytes>, policy: RedirectPolicy, count: Int
    ) throws(NetError) {
        var redirected = request
        redirected.redirects = policy
        redirected.url = redirected.url.secured(as: head.url)  // Location is relative to the URL after an HSTS upgrade.
        guard let next = try Self.next(after: redirected, head, followed: count) else { return nil }
        self.head = head
        self.request = redirected
        self.next = next
        self.count = count
    }
}

/// The action for a redirect.
public enum RedirectResponse: Sendable {
    /// Sends ``RedirectStep/next``.
    case follow
    /// Sends this request instead, with any URL, fields and credentials.
    case send(Request<Bytes>)
    /// Returns the redirect as the response.
    case deliver
    /// Ends the call with this error. An error that is not a ``NetError`` becomes the ``NetError/underlying`` error of
    /// ``NetError/Code/redirectRefused``.
    case fail(any Error)
}

extension RedirectStep {
    /// Returns the request that a redirect leads to, or `nil` if this head is the final response. The core decides, so
    /// that the engine, a hook and a stub follow the same rules.
    package static func next(
        after request: Request<Bytes>, _ head: ResponseHead, followed: Int
    ) throws(NetError) -> Request<Bytes>? {
        guard let decision = try RedirectDecision(on: head, after: request, followed: followed) else { return nil }
        var next = request
        next.url = decision.url
        if decision.becomesGet {
            next.method = .get
            next.body = nil
            next.dropTrailers()
            next.headers = next.headers.withoutBodyFields
        }
        if decision.isCrossOrigin {
            next.headers = next.headers.safeCrossOrigin
            next.credentials = next.credentials == .none ? .none : .inherited
            next.unixSocket = nil
            next.dropTrailers()
            next.content.optionalSettings.isCrossOrigin = true  // Stays true after a redirect back.
        }
        return next
    }
}

extension Request<Bytes> {
    /// Returns the request of the last hop, after redirects that the transport has followed.
    ///
    /// If the call has to be sent again, only this request may be sent, because the servers of the earlier hops have
    /// acted on theirs.
    func lastHop(along hops: Metrics) -> Request<Bytes> {
        guard hops.count > 1 else { return self }
        var last = self
        last.redirects = .followDowngrades  // The transport has followed these redirects already.
        for (hop, next) in zip(hops, hops.dropFirst()) {
            let head = ResponseHead(status: hop.status, headers: ["Location": next.url], url: hop.url)
            guard let step = try? RedirectStep(head, after: last, policy: .followDowngrades, count: 0) else {
                return self
            }
            last = step.next
        }
        last.redirects = redirects
        last.limits.maxRedirects -= hops.count - 1
        return last
    }
}

extension String {
    /// Returns the URL as it was requested: with https instead of http if the transport upgraded it because of HSTS.
    ///
    /// - Parameter first: the URL of the first hop.
    func secured(as first: String?) -> String {
        guard let first, hasScheme("http"), first.hasScheme("https"), hostName == first.hostName else { return self }
        return first.withUserinfo(of: self)
    }
}

/// The hops of the earlier transfers of a call, which ended with redirects or challenges.
struct RedirectHistory {
    private var heads: [ResponseHead] = []
    private var hops: [HopMetrics] = []
    private var cameByChallenge = false
    /// The time at which the first transfer was sent.
    private var firstStart = ContinuousClock.now
    /// The time from then until the current transfer was sent.
    private var sent = Duration.zero
    /// The number of redirects that were followed.
    var count: Int { heads.count }

    /// Records the start of another transfer.
    mutating func beginTransfer() {
        let now = ContinuousClock.now
        if hops.isEmpty {
            firstStart = now
        }
        sent = now - firstStart
    }

    mutating func add(_ response: ChainResponse) {
        heads.append(ResponseHead(of: response))
        hops = joined(by: response.metrics)
        cameByChallenge = cameByChallenge || response.cameByChallenge
    }

    /// Adds the redirects that the transport itself has followed before this response, with their heads if it reports
    /// them.
    mutating func add(redirectsOf response: Response<Bytes>, _ heads: [ResponseHead] = []) {
        hops = joined(by: response.metrics.dropLast())
        self.heads += heads
    }

    /// Adds the redirects that the transport itself has followed before this response.
    mutating func add(redirectsOf response: ChainResponse) {
        guard case .stream(let stream) = response.body else { return add(redirectsOf: response.response) }
        add(redirectsOf: stream.headOnly, stream.earlierHeads)
    }

    private var isEmpty: Bool { heads.isEmpty && hops.isEmpty }

    /// Returns the earlier hops, followed by those of the current transfer. The times of all hops are relative to the
    /// start of the first transfer.
    fileprivate func joined(by more: some Sequence<HopMetrics>) -> [HopMetrics] {
        hops + more.map { $0.counted(from: sent) }
    }

    /// Returns the error with the earlier hops in its metrics. They show that a server has acted on the request.
    func prepending(to error: NetError) -> NetError {
        hops.isEmpty ? error : error.replacingMetrics(joined(by: error.metrics))
    }

    /// Returns the response with the earlier hops in its metrics.
    func prepending(to response: Response<Bytes>) -> Response<Bytes> {
        if isEmpty {
            return response
        }
        var response = response
        response.metrics = Metrics(joined(by: response.metrics))
        response.cameByChallenge = cameByChallenge || response.cameByChallenge
        return response
    }

    /// Returns the stream with the earlier hops in its metrics.
    func prepending(to stream: ResponseStream) -> ResponseStream {
        if isEmpty {
            return stream
        }
        var followed = stream.replaced(
            by: FollowedChunks(stream, after: self), after: heads, hops: joined(by: stream.metrics))
        followed.cameByChallenge = cameByChallenge || stream.cameByChallenge
        return followed
    }

    /// Returns the response with the earlier hops in its metrics.
    func prepending(to response: ChainResponse) -> ChainResponse {
        switch response.body {
        case .bytes: ChainResponse(prepending(to: response.response))
        case .file(let file): ChainResponse(prepending(to: response.response), in: file)
        case .stream(let stream): ChainResponse(prepending(to: stream))
        }
    }
}

/// A streamed body after redirects. At its end, its metrics include the hops of the redirects.
private final class FollowedChunks: ChunkSource {
    private let stream: ResponseStream
    private let history: RedirectHistory

    init(_ stream: ResponseStream, after history: RedirectHistory) {
        self.stream = stream
        self.history = history
    }

    func next() async throws(NetError) -> Bytes? { try await stream.source.next() }

    func abandon(isSuperseded: Bool) { stream.source.abandon(isSuperseded: isSuperseded) }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? {
        guard var ending = stream.source.ending else { return nil }
        ending.metrics = Metrics(history.joined(by: ending.metrics))
        return ending
    }
}

extension Request {
    /// Makes a body that can be read only once repeatable: the hook returns a new body for each send after the first.
    /// Observers are notified of each of these sends.
    ///
    /// - Parameter hook: `newBody` of ``TransferHooks``.
    func renewing(
        by hook: (@Sendable (Request<Bytes>, Int) async throws -> Body)?, _ watch: Watch?
    ) -> Request where Value == Bytes {
        guard let body, case .source(let source) = body.content, hook != nil || watch != nil else { return self }
        var request = self
        let original = self
        let sendCount = Lock(0)
        // Weak, to avoid a reference cycle: an observer may keep events, and an event keeps its request.
        let count: @Sendable () -> Int = { [weak watch] in
            let number = sendCount.withLock { sendCount in
                sendCount += 1
                return sendCount
            }
            if number > 1 {
                watch?.report(.bodyRenewed(number))
            }
            return number
        }
        let maker: BodySource.Maker =
            switch source.maker {
            case .reader(let make):
                .reader { offset in
                    _ = count()
                    return try make(offset)
                }
            case .pump(let pump):
                .pump { offset, put in
                    let number = count()
                    guard number > 1, !source.isRepeatable, let hook else { return try await pump(offset, put) }
                    try await hook(original, number).pour(into: put)
                }
            }
        request.body?.content = .source(
            BodySource(
                offset: source.offset, length: source.length, isRepeatable: source.isRepeatable || hook != nil,
                maker: maker))
        return request
    }
}

extension Body {
    /// Passes the whole body to a closure, piece by piece.
    fileprivate func pour(into put: BodySource.Put) async throws {
        switch content {
        case .bytes(let bytes):
            try await put(bytes)
        case .source(let source):
            switch source.maker {
            case .pump(let pump):
                try await pump(source.offset, put)
            case .reader(let make):
                let read = try make(source.offset)
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    var span = buffer.mutableSpan
                    let count = try BodySource.checked(read(&span), upTo: buffer.count)
                    if count == 0 {
                        return
                    }
                    try await put(Bytes(Array(buffer.prefix(count))))
                }
            }
        case .file, .multipart:
            throw NetError(.unsupported, "a body that is created for each attempt must be bytes or a stream")
        }
    }
}
