internal import CNetCore

/// The connection of a WebSocket over the engine. The event loop thread stores messages and events in a state, and
/// tasks wait for them.
///
/// The engine references this object from the opening until on_end. The open socket also references it.
@safe final class SocketSink: WebSocketConnection {
    private let state: Lock<SocketState>
    private let options: WebSocket.Options

    init(engine: Engine, options: WebSocket.Options) {
        state = Lock(SocketState(engine: engine, maxUnreadBytes: options.maxUnreadBytes))
        self.options = options
    }

    // MARK: Waiting

    /// Changes the state, and resumes the tasks that waited for the change.
    @discardableResult
    fileprivate func change<Result: Sendable>(_ body: (inout SocketState) -> Result) -> Result {
        let (result, due) = state.withLock { state in
            let result = body(&state)
            return (result, state.takeDue())
        }
        for waiter in due {
            waiter.resume()
        }
        return result
    }

    /// Waits for an event, or until the task is cancelled.
    private func wait(for awaited: SocketState.Awaited) async {
        let number = state.withLock { $0.nextWait() }
        await cancelling({ state.withLock { $0.giveUp(number) }?.resume() }) {
            await Waiter.wait { waiter in
                if !state.withLock({ $0.wait(waiter, number, for: awaited) }) {
                    waiter.resume()
                }
            }
        }
        state.withLock { $0.waitEnded(number) }
    }

    private static func checkCancellation(_ activity: String) throws(NetError) {
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled while \(activity)")
        }
    }

    // MARK: Opening

    /// Sends the handshake and waits for its response, or for the failure of the connection.
    func open(_ request: Request<Bytes>) async throws(NetError) -> WebSocketHandshake {
        guard let engine = state.withLock({ $0.begin() }), !Task.isCancelled else {
            throw NetError(.cancelled, "cancelled before the request was sent")
        }
        let handle = try engine.openSocket(request, options, to: self)
        if state.withLock({ $0.isStarted(as: handle) }) {
            handle.cancel()
        }
        let number = state.withLock { $0.nextWait() }
        await cancelling({ cancel() }) {
            await Waiter.wait { waiter in
                if !state.withLock({ $0.wait(waiter, number, for: .opening) }) {
                    waiter.resume()
                }
            }
        }
        let (response, end) = state.withLock { ($0.response, $0.end) }
        if let response {
            return WebSocketHandshake(response, self)
        }
        switch end {
        case .success(let response): return WebSocketHandshake(response)
        case .failure(let error) where error.code == .upgradeRefused:
            guard let response = error.response else { throw error }
            return WebSocketHandshake(response)
        case .failure(let error): throw error
        case nil: throw NetError(.internal, "a WebSocket was resumed before its handshake")
        }
    }

    // MARK: Messages

    func send(_ bytes: Bytes, isText: Bool) async throws(NetError) {
        let ticket = state.withLock { $0.takeTicket() }
        defer { change { $0.leave(ticket) } }
        await wait(for: .turn(ticket))
        try Self.checkCancellation("it waited to send a message")
        // With pieces of half the queue, a piece has room whenever on_room is called.
        let pieceBytes = max(1, options.maxQueuedBytes / 2)
        var offset = 0
        var isSent = false
        while !isSent {
            let (handle, roomCount) = try state.withLock { $0.sending() }.get()
            let piece = offset..<min(bytes.count, offset + pieceBytes)
            let isLast = piece.upperBound == bytes.count
            if try handle.send(bytes, piece, isText: isText, isLast: isLast) {
                offset = piece.upperBound
                isSent = isLast
                continue
            }
            await wait(for: .room(roomCount))
            if Task.isCancelled, offset > 0 {
                cancel()  // The rest of the message can never be sent.
            }
            try Self.checkCancellation("it waited to send a message")
        }
    }

    func receive() async throws(NetError) -> WebSocket.Message? {
        guard state.withLock({ $0.beginReading() }) else {
            throw NetError(.usage, "another task is receiving the messages of the WebSocket")
        }
        defer { state.withLock { $0.endReading() } }
        while true {
            switch state.withLock({ $0.take() }) {
            case .message(let message, let toResume):
                toResume?.resume()
                return message
            case .ended(.success): return nil
            case .ended(.failure(let error)): throw error
            case .nothing:
                try Self.checkCancellation("it waited for a message")
                await wait(for: .message)
            }
        }
    }

    func ping() async throws(NetError) -> Duration {
        let ping = state.withLock { $0.beginPing() }
        var pong: ContinuousClock.Instant?
        var start = ContinuousClock.now
        do throws(NetError) {
            while true {
                let (handle, roomCount) = try state.withLock { $0.sending() }.get()
                start = ContinuousClock.now
                if try handle.ping(ping) {
                    break
                }
                await wait(for: .room(roomCount))
                try Self.checkCancellation("it waited to send a ping")
            }
            await wait(for: .pong(ping))
            pong = state.withLock { $0.endPing(ping) }
        } catch {
            _ = state.withLock { $0.endPing(ping) }
            throw error
        }
        if let pong {
            return pong - start
        }
        try Self.checkCancellation("it waited for a pong")
        if case .failure(let error) = state.withLock({ $0.end }) {
            throw error
        }
        throw NetError(.closed, "the WebSocket was closed before a pong arrived")
    }

    // MARK: The end

    var closeFrame: WebSocket.CloseFrame? { state.withLock { $0.closeFrame } }

    var isOpen: Bool { state.withLock { $0.response != nil && $0.end == nil && !$0.isClosing } }

    var queuedBytes: Int { state.withLock { $0.handle }?.queuedBytes ?? 0 }

    var unreadBytes: Int { state.withLock { $0.unreadBytes } }

    func close(_ code: WebSocket.CloseCode?, reason: String) async throws(NetError) {
        let (handle, isOver) = state.withLock { ($0.handle, $0.end != nil) }
        guard let handle, !isOver else { return }
        try sendClose(by: handle, code, reason)
        await wait(for: .end)
        guard let end = state.withLock({ $0.end }) else {
            cancel()
            throw NetError(.cancelled, "the task was cancelled while it waited for the end of the WebSocket")
        }
        _ = try end.get()
    }

    func beginClosing(_ code: WebSocket.CloseCode) {
        guard let handle = state.withLock({ $0.end == nil ? $0.handle : nil }) else { return }
        do throws(NetError) {
            try sendClose(by: handle, code, "")
        } catch {
            handle.cancel()
        }
    }

    /// Queues the close frame. The state changes first, because the server may answer before the function returns.
    private func sendClose(
        by handle: SocketHandle, _ code: WebSocket.CloseCode?, _ reason: String
    ) throws(NetError) {
        let wasClosing = state.withLock { $0.setClosing(true) }
        do throws(NetError) {
            if try handle.close(code, reason: reason) {
                state.withLock { $0.endPause() }?.resume()
            } else {
                _ = state.withLock { $0.setClosing(wasClosing) }
            }
        } catch {
            _ = state.withLock { $0.setClosing(wasClosing) }
            throw error
        }
    }

    func cancel() {
        state.withLock { $0.cancel() }?.cancel()
    }

    func abandon() {
        if state.withLock({ $0.abandon() }) != nil {
            beginClosing(.goingAway)
        }
    }

    func onEnd(_ handler: @escaping @Sendable (Result<Response<Bytes>, NetError>) -> Void) {
        if let end = state.withLock({ $0.addEndHandler(handler) }) {
            handler(end)
        }
    }
}

// These functions are called on the event loop thread.
extension SocketSink {
    fileprivate func opened(_ response: OpaquePointer) {
        let head = unsafe StreamHead(copying: response, after: [])
        change { $0.opened(Response(head)) }
    }

    fileprivate func received(_ message: WebSocket.Message) -> nc_action {
        change { $0.received(message) } ? .NC_ACTION_CONTINUE : .NC_ACTION_PAUSE
    }

    fileprivate func pongArrived(_ payload: nc_slice) {
        guard unsafe payload.length == MemoryLayout<UInt64>.size, let data = unsafe payload.data else { return }
        let ping = unsafe UnsafeRawPointer(data).loadUnaligned(as: UInt64.self)
        let time = ContinuousClock.now
        change { $0.pongArrived(ping, at: time) }
    }

    fileprivate func hasRoom() {
        change { $0.hasRoom() }
    }

    fileprivate func ended(_ end: nc_socket_end) {
        let received = unsafe PooledResponse(retaining: end.response)
        let error = unsafe end.error.pointee
        let outcome: Result<Response<Bytes>, NetError>
        if error.status == .NC_OK {
            outcome = .success(Response(received: received))
        } else if error.status == .NC_ERR_UPGRADE_REFUSED {
            var response = Response(received: received)
            response.bytes = Bytes(
                unsafe Array(UnsafeBufferPointer(start: end.refusal.data, count: end.refusal.length)))
            response.value = response.bytes
            outcome = .failure(NetError(upgradeRefusedBy: response))
        } else {
            outcome = .failure(NetError(error, received: received))
        }
        let hasFrame = unsafe end.close_code != NC_SOCKET_NO_CLOSE_FRAME
        let frame = unsafe WebSocket.CloseFrame(
            .init(rawValue: end.close_code), reason: end.close_reason.text)
        let (engine, handlers) = change { $0.ended(outcome, hasFrame ? frame : nil) }
        _ = engine
        guard let final = state.withLock({ $0.end }) else { return }
        for handler in handlers {
            handler(final)
        }
    }

    static func cValue(retainedAs retained: Unmanaged<SocketSink>) -> nc_socket_sink {
        unsafe nc_socket_sink(
            ctx: retained.toOpaque(), on_open: socketOpened, on_message: socketMessage, on_pong: socketPong,
            on_room: socketRoom, on_end: socketEnded)
    }
}

extension Response where Value == Bytes {
    /// Creates a response without a body from a copied head.
    fileprivate init(_ head: StreamHead) {
        self.init(status: head.last.status, headers: head.last.headers, metrics: Metrics(head.hops))
        httpVersion = head.last.httpVersion
        source = .network
    }
}

private func socketOpened(_ context: UnsafeMutableRawPointer?, _ socket: OpaquePointer, _ response: OpaquePointer) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<SocketSink>.fromOpaque(context).takeUnretainedValue().opened(response)
}

private func socketMessage(
    _ context: UnsafeMutableRawPointer?, _ socket: OpaquePointer, _ kind: nc_socket_kind, _ bytes: nc_slice,
    _ isLast: Bool
) -> nc_action {
    guard let context = unsafe context else { return .NC_ACTION_CONTINUE }
    let message: WebSocket.Message =
        kind == .NC_SOCKET_TEXT
        ? .text(unsafe bytes.text)
        : .binary(Bytes(unsafe Array(UnsafeBufferPointer(start: bytes.data, count: bytes.length))))
    return unsafe Unmanaged<SocketSink>.fromOpaque(context).takeUnretainedValue().received(message)
}

private func socketPong(_ context: UnsafeMutableRawPointer?, _ socket: OpaquePointer, _ payload: nc_slice) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<SocketSink>.fromOpaque(context).takeUnretainedValue().pongArrived(payload)
}

private func socketRoom(_ context: UnsafeMutableRawPointer?, _ socket: OpaquePointer) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<SocketSink>.fromOpaque(context).takeUnretainedValue().hasRoom()
}

private func socketEnded(
    _ context: UnsafeMutableRawPointer?, _ socket: OpaquePointer, _ end: UnsafePointer<nc_socket_end>
) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<SocketSink>.fromOpaque(context).takeRetainedValue().ended(end.pointee)
}
