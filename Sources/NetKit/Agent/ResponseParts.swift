/// The parts of a multipart response, read while they arrive. Supports multipart/x-mixed-replace, multipart/mixed and
/// all other multipart types.
struct ResponseParts: AsyncSequence, Sendable {
    typealias Decide = @Sendable (PartHead) async throws -> PartAction

    /// The response whose body contains the parts.
    let stream: ResponseStream
    private let contentType: String
    private let limits: PartLimits
    private let decide: Decide?

    init(_ stream: ResponseStream, limits: PartLimits, decide: Decide?) throws(NetError) {
        contentType = stream.headers["Content-Type"] ?? ""
        self.stream = stream
        self.limits = limits
        self.decide = decide
        // Throws now for a wrong type, instead of at the first part.
        _ = try PartsReader(contentType: contentType, maxParts: 0, limits: limits)
    }

    /// Returns an iterator over the parts. The body can be read once: a second iterator throws ``NetError/Code/usage``.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Returns the parts one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
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
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> ResponsePart? {
            do throws(NetError) {
                while chunks != nil {
                    if offset == chunk.count {
                        try await advance(isolation: actor)
                    } else if let part = try await nextBufferedPart() {
                        return part
                    }
                }
                return nil
            } catch {
                chunks = nil
                throw error
            }
        }

        private mutating func startedReader() throws(NetError) -> PartsReader {
            if let reader {
                return reader
            }
            let type = parts.contentType
            let newReader = try PartsReader(
                contentType: type, maxParts: parts.limits.maxParts(of: type), limits: parts.limits)
            reader = newReader
            return newReader
        }

        /// Reads the next bytes of the body.
        private mutating func advance(isolation actor: isolated (any Actor)?) async throws(NetError) {
            if let more = try await chunks?.next(isolation: actor) {
                chunk = more
                offset = 0
            } else {
                try startedReader().finish()
                chunks = nil
            }
        }

        private mutating func nextBufferedPart() async throws(NetError) -> ResponsePart? {
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

        private func decision(on head: PartHead) async throws(NetError) -> PartAction {
            guard let decide = parts.decide else { return .allow }
            let decision: PartAction
            do {
                decision = try await decide(head)
            } catch {
                throw NetError(wrapping: error, .stoppedByCaller, "the part hook failed")
            }
            if decision == .cancel {
                throw NetError(.stoppedByCaller, "the part hook refused part \(head.index)")
            }
            return decision
        }
    }
}

extension ResponseStream {
    /// Returns the parts of the body. The caller has to check the status.
    ///
    /// - Parameters:
    ///   - limits: the limits of the parts.
    ///   - decide: decides about each part from its head. If it throws, the sequence ends with that error, or with
    ///     ``NetError/Code/stoppedByCaller`` if the error is not a ``NetError``. If `nil`, all parts are allowed.
    /// - Throws: ``NetError/Code/badResponse`` for a type that is not multipart or has no boundary.
    public func parts(
        limits: PartLimits = PartLimits(), deciding decide: (@Sendable (PartHead) async throws -> PartAction)? = nil
    ) throws(NetError) -> some AsyncSequence<ResponsePart, NetError> & Sendable {
        try ResponseParts(self, limits: limits, decide: decide)
    }
}

extension Agent {
    /// Sends a request and reads the response's multipart body part by part, while it arrives (RFC 2046, 5.1).
    ///
    ///     for try await part in try await agent.parts(Request<Bytes>("camera")) { show(part.bytes) }
    ///
    /// Each part is delivered when it is complete. If the body ends without its last boundary, the sequence throws
    /// ``NetError/Code/cutShort`` after the complete parts. For malformed content it throws
    /// ``NetError/Code/badResponse``.
    ///
    /// With x-mixed-replace, the sequence ends at the last boundary, even if the connection stays open. With other
    /// types it ends with the body. Releasing the iterator, or cancelling the reading task, cancels the transfer.
    ///
    /// - Parameters:
    ///   - call: the request to send, or a value that creates one.
    ///   - limits: the limits of the parts.
    ///   - decide: called for the head of each part. If `nil`, all parts are allowed.
    /// - Throws: an error with the response head, and for a status with the body:
    ///   - ``NetError/Code/status`` for a status that the request does not accept. If the request
    ///     accepts any status, for a status other than 200 to 299.
    ///   - ``NetError/Code/contentType`` for a type that is not multipart
    ///   - ``NetError/Code/badResponse`` for a multipart type without a boundary
    public func parts(
        _ call: some RequestConvertible, limits: PartLimits = PartLimits(),
        deciding decide: (@Sendable (PartHead) async throws -> PartAction)? = nil
    ) async throws(NetError) -> some AsyncSequence<ResponsePart, NetError> & Sendable {
        var request = try await call.callRequest { !self.isBare($0) }
        request.acceptedStatuses = request.acceptedStatuses.restricted
        request.acceptedTypes = request.acceptedTypes ?? MediaTypes.multipart
        let stream = try await stream(request, isChecked: true)
        do throws(NetError) {
            return try stream.parts(limits: limits, deciding: decide)
        } catch {
            throw error.attaching(Response(status: stream.status, headers: stream.headers, metrics: stream.metrics))
        }
    }
}
