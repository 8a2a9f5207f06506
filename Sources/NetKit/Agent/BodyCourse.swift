/// The state machine of fetching one body in several attempts. It makes decisions only.
struct BodyCourse: Sendable {
    /// The original request.
    let request: Request<Bytes>
    let output: any BodyOutput
    /// The request with its expectation, if the body has to be checked while it arrives.
    private let expecting: Request<Bytes>?
    private var check: JSONCheck?
    /// The head that the bytes so far belong to.
    private(set) var head: Response<Bytes>?
    /// The bytes in the output.
    private(set) var offset = 0
    /// The bytes of the whole body; `nil` if unknown.
    private(set) var total: Int?
    /// Whether the output may contain an incomplete piece.
    private(set) var isTorn = false
    /// The hops of earlier attempts.
    private(set) var hops: [HopMetrics] = []
    private var validator: Headers.Field?

    init(_ request: Request<Bytes>, output: any BodyOutput, expecting: Request<Bytes>? = nil) {
        self.request = request
        self.output = output
        self.expecting = expecting
    }

    /// The next request: for the rest of the body if the response can be continued.
    var next: Request<Bytes> {
        guard offset > 0, let validator else { return request }
        var rest = request
        rest.headers["Range"] = "bytes=\(offset)-"
        rest.headers.set(validator.renamed("If-Range"))
        return rest
    }

    /// Whether ``next`` is a range request.
    var asksForRest: Bool { offset > 0 && validator != nil }

    /// Returns true if the response to a range request continues the body (RFC 9110, 13.1.5 and 15.3.7).
    func goesOn(with head: Response<Bytes>) -> Bool {
        guard head.isPart, head.headers["Content-Encoding"] == nil,
            let range = ContentRange(head.headers["Content-Range"]), range.start == offset
        else { return false }
        if let total, let said = range.total, said != total {
            return false
        }
        let said = validator.flatMap { head.headers.content($0.name) }
        return said == nil || said == validator?.content
    }

    /// Returns the progress of the whole body, given that of this attempt, whose bytes count from `shift`. The rest may
    /// arrive before its head was evaluated: then its length identifies it.
    func whole(_ progress: TransferProgress, shift: Int) -> TransferProgress {
        let isRest = asksForRest && total != nil && progress.receiveTotal.map { $0.addingSaturated(offset) } == total
        let before = isRest ? offset : shift
        var whole = progress
        whole.received = progress.received.addingSaturated(before)
        whole.receiveTotal = progress.receiveTotal.map { $0.addingSaturated(before) }
        return whole
    }

    /// Continues the body with this head, which may be the first with the whole length.
    mutating func takesRest(with head: Response<Bytes>) {
        total = total ?? ContentRange(head.headers["Content-Range"])?.total
    }

    /// Begins the body with this head.
    mutating func begin(with head: Response<Bytes>) throws(NetError) {
        if head.isPart, request.headers["Range"] == nil {
            throw NetError(.badRange, "the server sends a part of the body, but all was asked for", response: head)
        }
        self.head = head
        self.head?.source = .network
        if let expecting {
            check = try JSONCheck(for: expecting, status: head.status, headers: head.headers)
        }
        offset = 0
        let isWhole = request.method == .get && request.headers["Range"] == nil && head.status == 200
        let isCoded = head.headers["Content-Encoding"] != nil
        let refusesRanges = head.headers["Accept-Ranges"]?.isEqualIgnoringASCIICase(to: "none") == true
        validator = isWhole && !isCoded && !refusesRanges ? head.headers.strongValidator : nil
        total = isCoded ? nil : head.headers["Content-Length"].flatMap { Int($0) }
    }

    /// Checks a piece before it is written.
    mutating func writes(_ piece: Bytes) throws(NetError) {
        isTorn = true
        if let total, offset + piece.count > total {
            throw NetError(.badResponse, "the body goes on behind its \(total) bytes", response: head)
        }
        try judge { check throws(NetError) in try check.feed(piece) }
    }

    /// Checks the end of the body.
    func finish() throws(NetError) {
        try judge { check throws(NetError) in try check.finish() }
    }

    private func judge(_ step: (JSONCheck) throws(NetError) -> Void) throws(NetError) {
        guard let check, let head else { return }
        do throws(NetError) {
            try step(check)
        } catch {
            throw error.telling(head)
        }
    }

    mutating func wrote(_ count: Int) {
        offset += count
        isTorn = false
    }

    /// Records the end of an attempt.
    mutating func ended(_ metrics: Metrics) {
        hops += Array(metrics)
    }

    /// Resets the state after the output was emptied.
    mutating func startedOver() {
        head = nil
        check = nil
        offset = 0
        total = nil
        validator = nil
        isTorn = false
    }
}

extension Headers {
    /// The validator for If-Range: a strong entity tag, or a date that is strong by its distance (RFC 9110, 8.8.2.2).
    fileprivate var strongValidator: Field? {
        if let tag = first(named: "ETag") {
            return tag.value.utf8.first == UInt8(ascii: "\"") ? tag : nil
        }
        guard let changed = first(named: "Last-Modified"), let changedAt = HTTPDate.epochSeconds(of: changed.value),
            let sent = self["Date"].flatMap(HTTPDate.epochSeconds(of:)), sent - changedAt >= 60
        else { return nil }
        return changed
    }
}
