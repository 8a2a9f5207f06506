/// The state of a body that is fetched in several attempts. It decides how to continue, and does no I/O.
struct ResumableBody: Sendable {
    /// The original request.
    let request: Request<Bytes>
    let output: any BodyOutput
    /// The request with its JSON expectation, if the body has to be checked while it arrives.
    private let requestWithExpectation: Request<Bytes>?
    private var check: JSONCheck?
    /// The response head of the bytes in the output.
    private(set) var head: Response<Bytes>?
    /// The number of bytes in the output.
    private(set) var offset = 0
    /// The number of bytes of the whole body; `nil` if unknown.
    private(set) var total: Int?
    /// Whether the output may contain an incompletely written piece.
    private(set) var hasPartialWrite = false
    /// The hops of earlier attempts.
    private(set) var hops: [HopMetrics] = []
    private var validator: Headers.Field?

    init(_ request: Request<Bytes>, output: any BodyOutput, requestWithExpectation: Request<Bytes>? = nil) {
        self.request = request
        self.output = output
        self.requestWithExpectation = requestWithExpectation
    }

    /// The request of the next attempt. If the body can be continued, it is a range request for the remaining bytes.
    var next: Request<Bytes> {
        guard offset > 0, let validator else { return request }
        var remainder = request
        remainder.headers["Range"] = "bytes=\(offset)-"
        remainder.headers.set(validator.renamed("If-Range"))
        return remainder
    }

    /// Whether ``next`` is a range request.
    var requestsRemainder: Bool { offset > 0 && validator != nil }

    /// Returns true if the response to a range request continues the body (RFC 9110, 13.1.5 and 15.3.7).
    func continues(with head: Response<Bytes>) -> Bool {
        guard head.isPart, head.headers["Content-Encoding"] == nil,
            let range = ContentRange(head.headers["Content-Range"]), range.start == offset
        else { return false }
        if let total, let reported = range.total, reported != total {
            return false
        }
        let reported = validator.flatMap { head.headers.content($0.name) }
        return reported == nil || reported == validator?.content
    }

    /// Converts the progress of an attempt to that of the whole body.
    ///
    /// Bytes of the remainder may be reported before its head was evaluated, while `shift` is still 0. Then the length
    /// of the attempt's body shows that it is the remainder.
    /// - Parameter shift: the offset in the whole body of the attempt's first byte.
    func whole(_ progress: TransferProgress, shift: Int) -> TransferProgress {
        let isRemainder =
            requestsRemainder && total != nil && progress.receiveTotal.map { $0.addingSaturated(offset) } == total
        let preceding = isRemainder ? offset : shift
        var whole = progress
        whole.received = progress.received.addingSaturated(preceding)
        whole.receiveTotal = progress.receiveTotal.map { $0.addingSaturated(preceding) }
        return whole
    }

    /// Continues the body with the response of a range request. Its head may be the first that contains the length of
    /// the whole body.
    mutating func continueBody(with head: Response<Bytes>) {
        total = total ?? ContentRange(head.headers["Content-Range"])?.total
    }

    /// Begins the body with the head of its response.
    mutating func begin(with head: Response<Bytes>) throws(NetError) {
        if head.isPart, request.headers["Range"] == nil {
            throw NetError(
                .badRange, "the server sent a partial response to a request without a Range header", response: head)
        }
        self.head = head
        self.head?.source = .network
        if let requestWithExpectation {
            check = try JSONCheck(for: requestWithExpectation, status: head.status, headers: head.headers)
        }
        offset = 0
        let isWhole = request.method == .get && request.headers["Range"] == nil && head.status == 200
        let isCoded = head.headers["Content-Encoding"] != nil
        let refusesRanges = head.headers["Accept-Ranges"]?.isEqualIgnoringASCIICase(to: "none") == true
        validator = isWhole && !isCoded && !refusesRanges ? head.headers.strongValidator : nil
        total = isCoded ? nil : head.headers["Content-Length"].flatMap { Int($0) }
    }

    /// Checks a piece before it is written.
    mutating func willWrite(_ piece: Bytes) throws(NetError) {
        hasPartialWrite = true
        if let total, offset + piece.count > total {
            throw NetError(
                .badResponse, "the body is longer than its announced length of \(total) bytes", response: head)
        }
        try runCheck { check throws(NetError) in try check.feed(piece) }
    }

    /// Checks the end of the body.
    func finish() throws(NetError) {
        try runCheck { check throws(NetError) in try check.finish() }
    }

    private func runCheck(_ operation: (JSONCheck) throws(NetError) -> Void) throws(NetError) {
        guard let check, let head else { return }
        do throws(NetError) {
            try operation(check)
        } catch {
            throw error.attaching(head)
        }
    }

    mutating func didWrite(_ count: Int) {
        offset += count
        hasPartialWrite = false
    }

    /// Records the end of an attempt.
    mutating func attemptEnded(_ metrics: Metrics) {
        hops += Array(metrics)
    }

    /// Resets the state after the output was emptied.
    mutating func didEmptyOutput() {
        head = nil
        check = nil
        offset = 0
        total = nil
        validator = nil
        hasPartialWrite = false
    }
}

/// An output that keeps the body in memory, up to a limit.
final class MemoryOutput: BodyOutput {
    private let maxBytes: Int
    private let collected = Lock<[UInt8]>([])

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// The collected bytes.
    var bytes: Bytes { Bytes(collected.withLock { $0 }) }

    func write(_ bytes: Bytes) throws {
        let fits = collected.withLock { [maxBytes] collected in
            guard bytes.count <= maxBytes - collected.count else { return false }
            collected.append(contentsOf: bytes)
            return true
        }
        if !fits {
            throw NetError(.bodyTooLarge, "the body is larger than the limit of \(maxBytes) bytes")
        }
    }

    func startOver() {
        collected.withLock { $0 = [] }
    }
}
