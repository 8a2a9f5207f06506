/// Keeps the body in memory.
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
            throw NetError(.bodyTooLarge, "the body is larger than \(maxBytes) bytes")
        }
    }

    func startOver() {
        collected.withLock { $0 = [] }
    }
}
