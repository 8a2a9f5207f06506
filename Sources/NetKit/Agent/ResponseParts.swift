/// The parts of a multipart response as they arrive: multipart/x-mixed-replace, multipart/mixed and any other multipart
/// type.
///
///     for try await part in try await agent.parts(Request<Bytes>("camera")) { show(part.bytes) }
///
/// A part is given when it is whole. A body that ends without its last boundary throws ``NetError/Code/cutShort``, and what
/// is malformed ``NetError/Code/badResponse``, behind the parts before it. With x-mixed-replace the parts end at the last
/// boundary, whatever the server does with the connection then; with others they end with the body. Letting the iterator
/// go, or cancelling the task that reads, cancels the transfer.
public struct ResponseParts: AsyncSequence, Sendable {
    /// A part.
    public typealias Element = ResponsePart
    /// What ended the parts early.
    public typealias Failure = NetError
    /// Says what becomes of a part; what it throws ends the parts: a ``NetError`` as it is, anything else under
    /// ``NetError/Code/stoppedByCaller``.
    public typealias Decide = @Sendable (PartHead) async throws -> PartDecision

    /// The response that is read.
    public let stream: ResponseStream
    private let contentType: String
    private let limits: PartLimits
    private let decide: Decide?

    init(_ stream: ResponseStream, limits: PartLimits, decide: Decide?) throws(NetError) {
        contentType = stream.headers["Content-Type"] ?? ""
        self.stream = stream
        self.limits = limits
        self.decide = decide
        // What can be told now is.
        _ = try PartsReader(contentType: contentType, maxParts: 0, limits: limits)
    }

    /// Reads the body; a second iterator fails with ``NetError/Code/usage``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Gives the parts one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let parts: ResponseParts
        private var chunks: ResponseStream.AsyncIterator?
        private var reader: PartsReader?
        private var assembly = PartAssembly()
        private var chunk: Bytes = []
        private var offset = 0

        fileprivate init(_ parts: ResponseParts) {
            self.parts = parts
            chunks = parts.stream.makeAsyncIterator()
        }

        /// The next part; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> ResponsePart? {
            do throws(NetError) {
                while chunks != nil {
                    if offset == chunk.count {
                        try await advance(isolation: actor)
                    } else if let part = try await nextHere() {
                        return part
                    }
                }
                return nil
            } catch {
                chunks = nil
                throw error
            }
        }

        /// The next part; nil at the end.
        public mutating func next() async throws(NetError) -> ResponsePart? {
            try await next(isolation: nil)
        }

        private mutating func startedReader() throws(NetError) -> PartsReader {
            if let reader {
                return reader
            }
            let type = parts.contentType
            let made = try PartsReader(
                contentType: type, maxParts: parts.limits.maxParts(of: type), limits: parts.limits)
            reader = made
            return made
        }

        /// Gets the next bytes.
        private mutating func advance(isolation actor: isolated (any Actor)?) async throws(NetError) {
            if let more = try await chunks?.next(isolation: actor) {
                chunk = more
                offset = 0
            } else {
                try startedReader().finish()
                chunks = nil
            }
        }

        private mutating func nextHere() async throws(NetError) -> ResponsePart? {
            let event = try startedReader().next(in: chunk, from: &offset, into: &assembly.content)
            switch event {
            case .head(let headers):
                let head = assembly.begin(headers)
                if try await decision(on: head) == .allow {
                    assembly.content = []
                }
            case .partEnd: return assembly.end(.partEnd)
            case .end where PartLimits.isReplacing(parts.contentType): chunks = nil
            default: break
            }
            return nil
        }

        private func decision(on head: PartHead) async throws(NetError) -> PartDecision {
            guard let decide = parts.decide else { return .allow }
            let decision: PartDecision
            do {
                decision = try await decide(head)
            } catch {
                throw NetError(asking: error, .stoppedByCaller, "the part's hook failed")
            }
            if decision == .cancel {
                throw NetError(.stoppedByCaller, "the part \(head.index) was refused")
            }
            return decision
        }
    }
}

extension ResponseStream {
    /// The body's parts; the status is the reader's to judge.
    ///
    /// Throws ``NetError/Code/badResponse`` for another type than a multipart one, and for one without a boundary.
    /// - Parameters:
    ///   - limits: how much the parts may be.
    ///   - decide: asked for each part when its fields are there; nil allows all.
    public func parts(
        limits: PartLimits = PartLimits(), deciding decide: ResponseParts.Decide? = nil
    ) throws(NetError) -> ResponseParts {
        try ResponseParts(self, limits: limits, decide: decide)
    }
}
