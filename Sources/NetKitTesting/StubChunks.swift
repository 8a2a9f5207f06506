import NetKit

/// The chunks of a reply's body. Each step of the reply runs when the reader requests the next chunk.
struct StubChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = NetError

    private let steps: [StubReply.Step]
    /// The steps of a WebSocket.
    let socketSteps: [SocketStep]?
    private let maxBytes: Int
    private var next = 0
    private var count = 0
    private let check: JSONCheck?
    // The error of the JSON check. As in the engine, it is thrown after the chunk that caused it was delivered.
    private var failure: NetError?
    /// The response head that is attached to errors, for a stream.
    var head: Response<Bytes>?

    init(_ reply: StubReply, to request: Request<Bytes>) throws(NetError) {
        check = try JSONCheck(for: request, status: reply.status, headers: reply.headers)
        let hasBody = request.method != .head && reply.status != 204 && reply.status != 304
        steps = hasBody ? reply.body : []
        socketSteps = reply.socketSteps
        maxBytes = request.limits.maxBodyBytes ?? .max
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: StubChunks

        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Bytes? {
            try await chunks.next()
        }

        mutating func next() async throws(NetError) -> Bytes? {
            try await chunks.next()
        }
    }

    /// Returns the next bytes, or `nil` at the end.
    mutating func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            return try await nextBytes()
        } catch {
            throw head.map { error.attaching($0) } ?? error
        }
    }

    private mutating func nextBytes() async throws(NetError) -> Bytes? {
        while next < steps.count, failure == nil {
            next += 1
            switch steps[next - 1] {
            case .bytes(let bytes):
                if bytes.count > maxBytes - count {
                    throw NetError(.bodyTooLarge, "the body is larger than the limit of \(maxBytes) bytes")
                }
                count += bytes.count
                checkJSON(bytes)
                if !bytes.isEmpty {
                    return bytes
                }
            case .wait(let gate):
                try await gate.pass()
            case .fail(let error):
                throw error
            }
        }
        if let failure {
            throw failure
        }
        try check?.finish()
        return nil
    }

    private mutating func checkJSON(_ bytes: Bytes) {
        do throws(NetError) {
            try check?.feed(bytes)
        } catch {
            failure = error
        }
    }
}
