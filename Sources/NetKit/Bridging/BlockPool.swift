/// Memory for streamed bodies, used again: a fresh block of this size is mapped by the system and zeroed page by page,
/// which costs as much as filling it.
@safe final class BlockPool: Sendable {
    /// Blocks kept for the next use (4 MiB).
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

/// A piece of memory of a fixed size.
@safe final class Block: Sendable {
    static let capacity = 256 << 10

    // SAFETY: written by its one owner before it is given on, and only read afterwards, until it is given back.
    nonisolated(unsafe) let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 64)

    deinit {
        unsafe bytes.deallocate()
    }
}

/// Bytes in a block, which goes back to its pool when nobody reads it any more.
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
