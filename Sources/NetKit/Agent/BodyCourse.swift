/// How far the fetching of one body is that may take several goes: decisions alone.
struct BodyCourse: Sendable {
    /// What is asked at first.
    let request: Request<Bytes>
    let output: any BodyOutput
    /// As ``request``, with what the body is expected to be where nobody looks at it later.
    private let expecting: Request<Bytes>?
    private var check: JSONCheck?
    /// The head that the bytes so far belong to.
    private(set) var head: Response<Bytes>?
    /// Bytes in the output.
    private(set) var offset = 0
    /// Bytes of the whole body; nil when nobody knows.
    private(set) var total: Int?
    /// Whether the output may hold a part of a piece.
    private(set) var isTorn = false
    /// What the goes before this one cost.
    private(set) var hops: [HopMetrics] = []
    private var validator: Headers.Field?

    init(_ request: Request<Bytes>, output: any BodyOutput, expecting: Request<Bytes>? = nil) {
        self.request = request
        self.output = output
        self.expecting = expecting
    }

    /// What is asked now: the rest of the body, when the answer so far can be gone on with.
    var next: Request<Bytes> {
        guard offset > 0, let validator else { return request }
        var rest = request
        rest.headers["Range"] = "bytes=\(offset)-"
        rest.headers.set(validator.renamed("If-Range"))
        return rest
    }

    /// Whether ``next`` asks for a part.
    var asksForRest: Bool { offset > 0 && validator != nil }

    /// Whether the head, which answers a request for the rest, is that of the rest (RFC 9110, 13.1.5 and 15.3.7).
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

    /// How far the body is when this go is so far, whose bytes count from `shift`. A rest may have come before anybody
    /// has looked at its head, and said so: its length tells what it is.
    func whole(_ progress: TransferProgress, shift: Int) -> TransferProgress {
        let isRest = asksForRest && total != nil && progress.receiveTotal.map { $0.addingSaturated(offset) } == total
        let before = isRest ? offset : shift
        var whole = progress
        whole.received = progress.received.addingSaturated(before)
        whole.receiveTotal = progress.receiveTotal.map { $0.addingSaturated(before) }
        return whole
    }

    /// The rest begins with this head, which may be the first to tell the whole's length.
    mutating func takesRest(with head: Response<Bytes>) {
        total = total ?? ContentRange(head.headers["Content-Range"])?.total
    }

    /// The body begins with this head.
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

    /// A piece is about to be written, or was; throws when it is not as expected.
    mutating func writes(_ piece: Bytes) throws(NetError) {
        isTorn = true
        if let total, offset + piece.count > total {
            throw NetError(.badResponse, "the body goes on behind its \(total) bytes", response: head)
        }
        try judge { check throws(NetError) in try check.feed(piece) }
    }

    /// The body has ended; throws when it is not as expected.
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

    /// A go is over.
    mutating func ended(_ metrics: Metrics) {
        hops += Array(metrics)
    }

    /// The output is empty again.
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
    /// What If-Range may carry: a strong entity tag, or a date that is strong by its distance (RFC 9110, 8.8.2.2).
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
