internal import CNetCore

/// The state of a streamed transfer, which the lock of its ``StreamSink`` protects. The methods return the actions that
/// the caller must take after it has released the lock.
struct StreamState: Sendable {
    /// A task that waits for bytes, or for the head.
    struct WaitingReader: Sendable {
        let waiter: Waiter
        let isOnLoop: Bool
    }

    /// The actions of the event loop thread after an event.
    struct LoopAction: Sendable {
        var action = nc_action.NC_ACTION_CONTINUE
        var engineToWake: Engine?
    }

    /// The result of reading.
    enum Taken: Sendable {
        case bytes(Bytes, toResume: (Engine, UInt64)?)
        case ended(Result<PooledResponse, NetError>)
        case nothing
    }

    /// A chunk with fewer bytes than this is copied, so that it does not keep a whole block in use.
    private static let smallBytes = 16 << 10

    private let blocks: BlockPool
    private let maxBytes: Int
    // `nil` after the transfer has ended, so that a stream that outlives its transfer does not retain the engine.
    private var engine: Engine?
    private var id: UInt64?
    private var isCancelled = false
    private var isAbandoned = false
    private(set) var isSuperseded = false
    var isRead = false
    private(set) var head: StreamHead?
    /// The heads of followed redirects.
    var earlierHeads: [ResponseHead] = []
    private(set) var outcome: Result<PooledResponse, NetError>?
    private var reader: WaitingReader?
    private var isFlushDue = false
    private var isPaused = false
    private var fullBlocks: [Block] = []
    private var currentBlock: Block?
    private var currentCount = 0

    init(engine: Engine, blocks: BlockPool, maxBytes: Int) {
        self.engine = engine
        self.blocks = blocks
        self.maxBytes = maxBytes
    }

    // MARK: Opening

    /// Registers the task that waits for the head. Returns the engine to submit to, or `nil` if the task was cancelled
    /// already.
    mutating func begin(_ waiter: Waiter) -> Engine? {
        reader = engine.map { WaitingReader(waiter: waiter, isOnLoop: $0.isOnLoop) }
        return isCancelled ? nil : engine
    }

    /// Records the id of the submitted transfer. Returns true if the transfer must be cancelled immediately.
    mutating func isSubmitted(as id: UInt64) -> Bool {
        self.id = outcome == nil ? id : nil
        return isCancelled
    }

    // MARK: Reading

    mutating func take() -> Taken {
        guard let bytes = takeBytes() else {
            return outcome.map { .ended($0) } ?? .nothing
        }
        var toResume: (Engine, UInt64)?
        if isPaused, buffered <= maxBytes / 2, let engine, let id {
            isPaused = false
            toResume = (engine, id)
        }
        return .bytes(bytes, toResume: toResume)
    }

    private mutating func takeBytes() -> Bytes? {
        if !fullBlocks.isEmpty {
            return Bytes(received: BlockBytes(fullBlocks.removeFirst(), count: Block.capacity, pool: blocks))
        }
        guard let block = currentBlock, currentCount > 0 else { return nil }
        defer { currentCount = 0 }
        if currentCount < Self.smallBytes {
            return Bytes(unsafe Array(block.bytes[..<currentCount]))
        }
        currentBlock = nil
        return Bytes(received: BlockBytes(block, count: currentCount, pool: blocks))
    }

    private var buffered: Int { fullBlocks.count * Block.capacity + currentCount }

    /// Registers the waiter. Returns false, without registering it, if bytes or the outcome are already available.
    mutating func wait(_ waiter: Waiter) -> Bool {
        if buffered > 0 || outcome != nil {
            return false
        }
        reader = WaitingReader(waiter: waiter, isOnLoop: engine?.isOnLoop ?? false)
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
        for block in fullBlocks {
            blocks.give(block)
        }
        fullBlocks = []
        returnFillingBlock()
        return cancel()
    }

    private mutating func returnFillingBlock() {
        if let currentBlock {
            blocks.give(currentBlock)
        }
        currentBlock = nil
        currentCount = 0
    }

    // MARK: Events on the event loop thread

    mutating func headArrived(_ head: StreamHead) -> LoopAction {
        self.head = head
        return loopAction()
    }

    mutating func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> LoopAction {
        if isAbandoned {
            return LoopAction(action: .NC_ACTION_STOP)
        }
        var offset = 0
        while offset < bytes.count {
            let block = currentBlock ?? blocks.take()
            currentBlock = block
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: block.bytes[currentCount...])
            let count = min(room.count, bytes.count - offset)
            unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            offset += count
            currentCount += count
            if currentCount == Block.capacity {
                fullBlocks.append(block)
                currentBlock = nil
                currentCount = 0
            }
        }
        isPaused = isPaused || buffered >= maxBytes
        return loopAction()
    }

    private mutating func loopAction() -> LoopAction {
        var loopAction = LoopAction(action: isPaused ? .NC_ACTION_PAUSE : .NC_ACTION_CONTINUE)
        if reader != nil, !isFlushDue {
            isFlushDue = true
            loopAction.engineToWake = engine
        }
        return loopAction
    }

    mutating func takeWaiter() -> WaitingReader? {
        isFlushDue = false
        defer { reader = nil }
        return reader
    }

    /// Records the outcome. Returns the waiting task and the engine, so that the caller releases them outside the lock.
    mutating func end(_ outcome: Result<PooledResponse, NetError>) -> (reader: WaitingReader?, engine: Engine?) {
        self.outcome = outcome
        if isAbandoned || currentCount == 0 {
            returnFillingBlock()
        }
        defer {
            engine = nil
            id = nil
            reader = nil
        }
        return (reader, engine)
    }
}

/// A copy of the heads and metrics of a streamed response. A copy is needed because the core's response changes until
/// the transfer has ended.
struct StreamHead: Sendable {
    /// The final head, after all followed redirects.
    var last: ResponseHead
    /// The heads of the followed redirects.
    var earlier: [ResponseHead]
    /// The metrics of each hop so far.
    var hops: [HopMetrics]

    init(copying response: OpaquePointer, after earlier: [ResponseHead]) {
        last = unsafe ResponseHead(copying: response)
        self.earlier = earlier
        hops = (0..<(unsafe nc_response_hop_count(response))).map { index in
            unsafe HopMetrics(nc_response_hop_at(response, index))
        }
    }
}

extension ResponseHead {
    init(copying response: OpaquePointer) {
        status = Int(unsafe nc_response_status(response))
        httpVersion = HTTPVersion(unsafe nc_response_http_version(response))
        url = unsafe nc_response_url(response).text
        headers = Headers(
            (0..<(unsafe nc_response_header_count(response))).map { index in
                unsafe Headers.Field(nc_response_header_at(response, index))
            })
    }
}
