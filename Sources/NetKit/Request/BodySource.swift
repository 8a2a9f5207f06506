/// A body that is made while it is sent.
struct BodySource: Sendable {
    typealias Put = (Bytes) async throws -> Void

    /// Who makes the bytes.
    enum Maker: Sendable {
        /// Gives the pieces one by one to a function that waits while enough of them wait.
        case pump(@Sendable (Put) async throws -> Void)
        /// Fills the memory that it is given, each time as much as it likes.
        case reader(@Sendable () throws -> Body.Reader)
    }

    /// The number of bytes; nil when nobody knows.
    let length: Int?
    /// Whether the maker can begin again.
    let isRepeatable: Bool
    let maker: Maker

    /// Throws ``NetError/Code/bodyLength`` for a length that none can be.
    func checkLength() throws(NetError) {
        if let length, length < 0 {
            throw NetError(.bodyLength, "the body is to be \(length) bytes long")
        }
    }

    /// What a reader says that it wrote, or the error that it is when it cannot have.
    static func checked(_ count: Int, upTo capacity: Int) throws(NetError) -> Int {
        guard count >= 0, count <= capacity else {
            throw NetError(.bodySource, "the reader of the body answered \(count), of 0 to \(capacity) bytes")
        }
        return count
    }

    /// No bytes.
    static let nothing = BodySource(length: 0, isRepeatable: true, maker: .reader { { _ in 0 } })
}
