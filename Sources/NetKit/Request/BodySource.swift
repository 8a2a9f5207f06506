/// A body that is produced while it is sent.
struct BodySource: Sendable {
    typealias Put = (Bytes) async throws -> Void

    /// The producer of the bytes.
    enum Maker: Sendable {
        /// Passes pieces to a function that waits while its buffer is full.
        case pump(@Sendable (Put) async throws -> Void)
        /// Fills a buffer with any number of bytes that fit.
        case reader(@Sendable () throws -> Body.Reader)
    }

    /// The number of bytes; `nil` if unknown.
    let length: Int?
    /// Whether the producer can start again.
    let isRepeatable: Bool
    let maker: Maker

    /// Throws ``NetError/Code/bodyLength`` for a negative length.
    func checkLength() throws(NetError) {
        if let length, length < 0 {
            throw NetError(.bodyLength, "the body is to be \(length) bytes long")
        }
    }

    /// Returns a reader's count, or throws its error if the count is impossible.
    static func checked(_ count: Int, upTo capacity: Int) throws(NetError) -> Int {
        guard count >= 0, count <= capacity else {
            throw NetError(.bodySource, "the reader of the body answered \(count), of 0 to \(capacity) bytes")
        }
        return count
    }

    /// An empty body.
    static let nothing = BodySource(length: 0, isRepeatable: true, maker: .reader { { _ in 0 } })
}
