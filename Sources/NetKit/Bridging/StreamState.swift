internal import CNetCore

/// The state of a streamed transfer, behind its sink's lock: each step returns the actions to take outside the lock.
struct StreamState: Sendable {
    /// A waiting task.
    struct Parked: Sendable {
        let waiter: Waiter
        let isOnLoop: Bool
    }

    /// The actions of the event loop thread after an event.
    struct Reaction: Sendable {
        var verdict = nc_verdict.NC_CONTINUE
        var engineToWake: Engine?
    }

    enum Taken: Sendable {
        case bytes(Bytes, paused: (Engine, UInt64)?)
        case ended(Result<PooledResponse, NetError>)
        case nothing
    }

    /// A smaller chunk is copied, so that it does not keep a large block.
    private static let smallBytes = 16 << 10

    private let blocks: BlockPool
    private let maxBytes: Int
    // `nil` after the transfer has ended: a stream that is kept keeps no engine.
    private var engine: Engine?
    private var id: UInt64?
    private var isCancelled = false
    private var isAbandoned = false
    private(set) var isSuperseded = false
    var isRead = false
    private(set) var head: StreamHead?
    /// Heads of followed redirects.
    var earlierHeads: [ResponseHead] = []
    private(set) var outcome: Result<PooledResponse, NetError>?
    private var parked: Parked?
    private var isFlushDue = false
    private var isPaused = false
    private var full: [Block] = []
    private var filling: Block?
    private var fillCount = 0

    init(engine: Engine, blocks: BlockPool, maxBytes: Int) {
        self.engine = engine
        self.blocks = blocks
        self.maxBytes = maxBytes
    }

    // MARK: The task that opens

    /// Returns the engine to submit to, or `nil` if the task was cancelled before.
    mutating func begin(_ waiter: Waiter) -> Engine? {
        parked = engine.map { Parked(waiter: waiter, isOnLoop: $0.isOnLoop) }
        return isCancelled ? nil : engine
    }

    /// Records the number. Returns true if the transfer has to be cancelled immediately.
    mutating func isSubmitted(as id: UInt64) -> Bool {
        self.id = outcome == nil ? id : nil
        return isCancelled
    }

    // MARK: The task that reads

    mutating func take() -> Taken {
        guard let bytes = takeBytes() else {
            return outcome.map { .ended($0) } ?? .nothing
        }
        var paused: (Engine, UInt64)?
        if isPaused, buffered <= maxBytes / 2, let engine, let id {
            isPaused = false
            paused = (engine, id)
        }
        return .bytes(bytes, paused: paused)
    }

    private mutating func takeBytes() -> Bytes? {
        if !full.isEmpty {
            return Bytes(received: BlockBytes(full.removeFirst(), count: Block.capacity, pool: blocks))
        }
        guard let block = filling, fillCount > 0 else { return nil }
        defer { fillCount = 0 }
        if fillCount < Self.smallBytes {
            return Bytes(unsafe Array(block.bytes[..<fillCount]))
        }
        filling = nil
        return Bytes(received: BlockBytes(block, count: fillCount, pool: blocks))
    }

    private var buffered: Int { full.count * Block.capacity + fillCount }

    /// Returns false if bytes are available, so that no wait is needed.
    mutating func wait(_ waiter: Waiter) -> Bool {
        if buffered > 0 || outcome != nil {
            return false
        }
        parked = Parked(waiter: waiter, isOnLoop: engine?.isOnLoop ?? false)
        return true
    }

    // MARK: Cancellation

    mutating func cancel() -> (Engine, UInt64)? {
        isCancelled = true
        guard let engine, let id else { return nil }
        return (engine, id)
    }

    mutating func abandon(isSuperseded: Bool) -> (Engine, UInt64)? {
        isAbandoned = true
        self.isSuperseded = self.isSuperseded || isSuperseded
        for block in full {
            blocks.give(block)
        }
        full = []
        giveFillingBack()
        return cancel()
    }

    private mutating func giveFillingBack() {
        if let filling {
            blocks.give(filling)
        }
        filling = nil
        fillCount = 0
    }

    // MARK: The event loop thread

    mutating func headArrived(_ head: StreamHead) -> Reaction {
        self.head = head
        return reaction()
    }

    mutating func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Reaction {
        if isAbandoned {
            return Reaction(verdict: .NC_STOP)
        }
        var offset = 0
        while offset < bytes.count {
            let block = filling ?? blocks.take()
            filling = block
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: block.bytes[fillCount...])
            let count = min(room.count, bytes.count - offset)
            unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            offset += count
            fillCount += count
            if fillCount == Block.capacity {
                full.append(block)
                filling = nil
                fillCount = 0
            }
        }
        isPaused = isPaused || buffered >= maxBytes
        return reaction()
    }

    private mutating func reaction() -> Reaction {
        var reaction = Reaction(verdict: isPaused ? .NC_PAUSE : .NC_CONTINUE)
        if parked != nil, !isFlushDue {
            isFlushDue = true
            reaction.engineToWake = engine
        }
        return reaction
    }

    mutating func takeWaiter() -> Parked? {
        isFlushDue = false
        defer { parked = nil }
        return parked
    }

    /// Returns the waiting task and the engine, which the caller must release outside the lock.
    mutating func end(_ outcome: Result<PooledResponse, NetError>) -> (parked: Parked?, engine: Engine?) {
        self.outcome = outcome
        if isAbandoned || fillCount == 0 {
            giveFillingBack()
        }
        defer {
            engine = nil
            id = nil
            parked = nil
        }
        return (parked, engine)
    }
}
