/// Reusable memory for streamed bodies. The system maps and zeroes a new block page by page, which costs as much as
/// filling it.
@safe final class BlockPool: Sendable {
    /// The number of blocks that are kept (4 MiB).
    private static let maxFree = 16

    private let free = Lock<[Block]>([])

    func take() -> Block {
        free.withLock { $0.popLast() } ?? Block()
    }

    func give(_ block: Block) {
        free.withLock { free in
            if free.count < Self.maxFree {
                free.append(block)
            }
        }
    }
}

/// Memory of a fixed size.
@safe final class Block: Sendable {
    static let capacity = 256 << 10

    // SAFETY: its single owner writes it before passing it on; then it is only read, until it is returned to the pool.
    nonisolated(unsafe) let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 64)

    deinit {
        unsafe bytes.deallocate()
    }
}

/// Bytes in a block, which returns to its pool with the last reader.
@safe final class BlockBytes: ByteStorage {
    private let block: Block
    private let pool: BlockPool
    let bodyCount: Int

    init(_ block: Block, count: Int, pool: BlockPool) {
        self.block = block
        self.pool = pool
        bodyCount = count
    }

    deinit {
        pool.give(block)
    }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(Span(_bytes: RawSpan(_unsafeBytes: block.bytes[..<bodyCount])))
    }
}
