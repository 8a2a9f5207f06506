/// The parts of a multipart response while they arrive: multipart/x-mixed-replace, multipart/mixed and all other
/// multipart types.
///
///     for try await part in try await agent.parts(Request<Bytes>("camera")) { show(part.bytes) }
///
/// Each part is delivered when it is complete. After the complete parts, a body without its last boundary throws
/// ``NetError/Code/cutShort``, and malformed content ``NetError/Code/badResponse``. With x-mixed-replace the sequence
/// ends at the last boundary, even if the connection stays open; with other types it ends with the body. Releasing the
/// iterator, or cancelling the reading task, cancels the transfer.
public struct ResponseParts: AsyncSequence, Sendable {
    /// A part.
    public typealias Element = ResponsePart
    /// The error that ended the sequence early.
    public typealias Failure = NetError
    /// Decides about a part by its head. An error thrown here ends the sequence: a ``NetError`` unchanged, any other
    /// error as ``NetError/Code/stoppedByCaller``.
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
        // Report a wrong type now instead of at the first part.
        _ = try PartsReader(contentType: contentType, maxParts: 0, limits: limits)
    }

    /// Returns an iterator over the parts. A second one throws ``NetError/Code/usage``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Returns the parts one by one.
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

        /// Returns the next part, or `nil` at the end.
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

        /// Returns the next part, or `nil` at the end.
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

        /// Reads the next bytes.
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
    /// Returns the body's parts. The caller has to check the status.
    ///
    /// - Parameters:
    ///   - limits: the limits of the parts.
    ///   - decide: called for the head of each part; `nil` allows all parts.
    /// - Throws: ``NetError/Code/badResponse`` for a type that is not multipart, and for one without a boundary.
    public func parts(
        limits: PartLimits = PartLimits(), deciding decide: ResponseParts.Decide? = nil
    ) throws(NetError) -> ResponseParts {
        try ResponseParts(self, limits: limits, decide: decide)
    }
}
