/// The state of a WebSocket, which the lock of its ``SocketSink`` protects. The methods return the actions that the
/// caller must take after it has released the lock.
struct SocketState: Sendable {
    /// An event that a task waits for.
    enum Awaited: Sendable {
        /// The handshake or its failure.
        case opening
        /// A message.
        case message
        /// The turn of this sender.
        case turn(UInt64)
        /// Room in the queue, after this number of reports.
        case room(Int)
        /// The pong of this ping.
        case pong(UInt64)
        /// The end.
        case end
    }

    /// A result of reading.
    enum Taken: Sendable {
        case message(WebSocket.Message, toResume: SocketHandle?)
        case ended(Result<Void, NetError>)
        case nothing
    }

    private struct WaitingTask: Sendable {
        let number: UInt64
        let awaited: Awaited
        let waiter: Waiter
    }

    /// The size that a message has in addition to its content, so that empty messages are limited too.
    private static let messageBytes = 64

    private let maxUnreadBytes: Int
    // `nil` after the end, so that a socket that outlives its connection does not retain the engine.
    private var engine: Engine?
    private(set) var handle: SocketHandle?
    private(set) var isCancelled = false
    private(set) var isAbandoned = false
    private(set) var isClosing = false
    /// The response to the handshake, after a 101.
    private(set) var response: Response<Bytes>?
    private(set) var closeFrame: WebSocket.CloseFrame?
    private(set) var end: Result<Response<Bytes>, NetError>?

    private var messages: [WebSocket.Message] = []
    private var firstMessage = 0
    private(set) var unreadBytes = 0
    private var isPaused = false
    private var isReading = false

    private var lastTicket: UInt64 = 0
    private var turn: UInt64 = 1
    private var left: Set<UInt64> = []
    private(set) var roomCount = 0

    private var lastPing: UInt64 = 0
    private var pongs: [UInt64: ContinuousClock.Instant] = [:]
    private var pings: Set<UInt64> = []

    private var waiting: [WaitingTask] = []
    private var lastNumber: UInt64 = 0
    // The waits that were given up before they began.
    private var givenUp: Set<UInt64> = []
    private var endHandlers: [@Sendable (Result<Response<Bytes>, NetError>) -> Void] = []

    init(engine: Engine, maxUnreadBytes: Int) {
        self.engine = engine
        self.maxUnreadBytes = max(1, maxUnreadBytes)
    }

    // MARK: Waiting

    mutating func nextWait() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Registers a waiter. Returns false, without registering it, if it need not wait.
    mutating func wait(_ waiter: Waiter, _ number: UInt64, for awaited: Awaited) -> Bool {
        if givenUp.remove(number) != nil || isDue(awaited) {
            return false
        }
        waiting.append(WaitingTask(number: number, awaited: awaited, waiter: waiter))
        return true
    }

    /// Ends the wait of a cancelled task. Returns its waiter, if it is waiting.
    mutating func giveUp(_ number: UInt64) -> Waiter? {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else {
            givenUp.insert(number)
            return nil
        }
        return waiting.remove(at: index).waiter
    }

    mutating func waitEnded(_ number: UInt64) {
        givenUp.remove(number)
    }

    private func isDue(_ awaited: Awaited) -> Bool {
        if end != nil {
            return true
        }
        switch awaited {
        case .opening: return response != nil
        case .message: return firstMessage < messages.count
        case .turn(let ticket): return ticket == turn
        case .room(let count): return roomCount != count
        case .pong(let ping): return pongs[ping] != nil
        case .end: return false
        }
    }

    /// Removes and returns the waiters whose event has happened.
    mutating func takeDue() -> [Waiter] {
        if waiting.isEmpty {
            return []
        }
        let all = waiting
        let due = all.filter { isDue($0.awaited) }
        if !due.isEmpty {
            waiting = all.filter { !isDue($0.awaited) }
        }
        return due.map(\.waiter)
    }

    // MARK: Opening

    /// Returns the engine to open the socket with, or `nil` if the task was cancelled already.
    func begin() -> Engine? { isCancelled ? nil : engine }

    /// Stores the handle of the opened socket. Returns true if it must be cancelled immediately.
    mutating func isStarted(as handle: SocketHandle) -> Bool {
        self.handle = handle
        return isCancelled
    }

    mutating func opened(_ response: Response<Bytes>) {
        self.response = response
    }

    // MARK: Receiving

    mutating func beginReading() -> Bool {
        defer { isReading = true }
        return !isReading
    }

    mutating func endReading() {
        isReading = false
    }

    mutating func take() -> Taken {
        guard firstMessage < messages.count else {
            return end.map { .ended($0.map { _ in }) } ?? .nothing
        }
        let message = messages[firstMessage]
        messages[firstMessage] = .text("")
        firstMessage += 1
        if firstMessage == messages.count || firstMessage > 1000 {
            messages.removeFirst(firstMessage)
            firstMessage = 0
        }
        unreadBytes -= Self.size(of: message)
        var toResume: SocketHandle?
        if isPaused, unreadBytes <= maxUnreadBytes / 2 {
            isPaused = false
            toResume = handle
        }
        return .message(message, toResume: toResume)
    }

    private static func size(of message: WebSocket.Message) -> Int {
        switch message {
        case .text(let text): text.utf8.count + messageBytes
        case .binary(let bytes): bytes.count + messageBytes
        }
    }

    // MARK: Sending

    mutating func takeTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    /// Ends a sender's turn, or its wait for it.
    mutating func leave(_ ticket: UInt64) {
        left.insert(ticket)
        while left.remove(turn) != nil {
            turn += 1
        }
    }

    /// Returns the handle to send with and the current number of reports about room. Throws if the socket is closed.
    func sending() -> Result<(SocketHandle, Int), NetError> {
        if case .failure(let error) = end {
            return .failure(error)
        }
        guard let handle, end == nil, !isClosing else {
            return .failure(NetError(.closed, "the WebSocket is closing or has ended"))
        }
        return .success((handle, roomCount))
    }

    // MARK: Pings

    mutating func beginPing() -> UInt64 {
        lastPing += 1
        pings.insert(lastPing)
        return lastPing
    }

    /// Ends a ping. Returns the time of its pong, if it has arrived.
    mutating func endPing(_ ping: UInt64) -> ContinuousClock.Instant? {
        pings.remove(ping)
        return pongs.removeValue(forKey: ping)
    }

    // MARK: Ending

    /// Records a cancellation. Returns the handle to cancel.
    mutating func cancel() -> SocketHandle? {
        isCancelled = true
        return end == nil ? handle : nil
    }

    /// Records whether this side closes the socket, and returns the earlier value. While it closes, receiving does not
    /// pause.
    mutating func setClosing(_ isClosing: Bool) -> Bool {
        defer { self.isClosing = isClosing }
        return self.isClosing
    }

    /// Ends a pause. Returns the handle to resume.
    mutating func endPause() -> SocketHandle? {
        guard isPaused else { return nil }
        isPaused = false
        return handle
    }

    mutating func abandon() -> SocketHandle? {
        isAbandoned = true
        messages = []
        firstMessage = 0
        unreadBytes = 0
        return end == nil ? handle : nil
    }

    /// Adds a closure for the end. Returns the outcome, without adding it, if the socket has ended.
    mutating func addEndHandler(
        _ handler: @escaping @Sendable (Result<Response<Bytes>, NetError>) -> Void
    ) -> Result<Response<Bytes>, NetError>? {
        if end == nil {
            endHandlers.append(handler)
        }
        return end
    }

    // MARK: Events on the event loop thread

    /// Stores a message. Returns false if receiving must pause.
    mutating func received(_ message: WebSocket.Message) -> Bool {
        if isAbandoned || (isClosing && unreadBytes >= maxUnreadBytes) {
            return true
        }
        messages.append(message)
        unreadBytes += Self.size(of: message)
        isPaused = !isClosing && unreadBytes >= maxUnreadBytes
        return !isPaused
    }

    mutating func hasRoom() {
        roomCount += 1
    }

    /// A pong answers its ping and the earlier ones.
    mutating func pongArrived(_ ping: UInt64, at time: ContinuousClock.Instant) {
        for answered in pings where answered <= ping && pongs[answered] == nil {
            pongs[answered] = time
        }
    }

    /// Records the end. Returns the engine, so that the caller releases it outside the lock, and the closures to call.
    mutating func ended(
        _ outcome: Result<Response<Bytes>, NetError>, _ frame: WebSocket.CloseFrame?
    ) -> (Engine?, [@Sendable (Result<Response<Bytes>, NetError>) -> Void]) {
        closeFrame = frame
        var outcome = outcome
        if case .success(let response) = outcome, let frame, !isClosing,
            let error = NetError(endedBy: frame, response: response)
        {
            outcome = .failure(error)
        }
        end = outcome
        defer {
            engine = nil
            endHandlers = []
        }
        return (engine, endHandlers)
    }
}
