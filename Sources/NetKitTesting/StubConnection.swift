import NetKit

/// The client's side of a ``StubSocket``.
final class StubConnection: WebSocketConnection {
    private let socket: StubSocket
    private let options: WebSocket.Options
    private let script: Task<Void, Never>
    private let isReceiving = Watched(false)

    /// Runs the script of the server. `onEnd` is called once, at the end of the socket.
    init(
        _ socket: StubSocket, steps: [SocketStep], _ response: Response<Bytes>, _ options: WebSocket.Options,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.socket = socket
        self.options = options
        script = Task {
            do throws(NetError) {
                try await socket.run(steps, response, maxUnreadBytes: max(1, options.maxUnreadBytes))
            } catch {
                socket.end(.failure(error))
            }
            onEnd()
        }
    }

    var closeFrame: WebSocket.CloseFrame? { socket.state.value.serverFrame }

    var isOpen: Bool {
        let state = socket.state.value
        return state.end == nil && state.clientFrame == nil
    }

    var queuedBytes: Int { socket.state.value.queuedBytes }

    var unreadBytes: Int { socket.state.value.unreadBytes }

    func send(_ bytes: Bytes, isText: Bool) async throws(NetError) {
        let message: WebSocket.Message = isText ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes)
        let limit = max(1, options.maxQueuedBytes)
        while true {
            let (isSent, failure) = socket.state.change { state -> (Bool, NetError?) in
                if let failure = state.sendingFailure {
                    return (false, failure)
                }
                guard state.queuedBytes < limit else { return (false, nil) }
                state.queued.append(message)
                state.received.append(message)
                return (true, nil)
            }
            if let failure {
                throw failure
            }
            if isSent {
                return
            }
            try await socket.state.wait { $0.queuedBytes < limit || $0.sendingFailure != nil }
        }
    }

    func receive() async throws(NetError) -> WebSocket.Message? {
        let wasReceiving = isReceiving.change { isReceiving in
            defer { isReceiving = true }
            return isReceiving
        }
        if wasReceiving {
            throw NetError(.usage, "another task is receiving the messages of the WebSocket")
        }
        defer { isReceiving.change { $0 = false } }
        try await socket.state.wait { !$0.unread.isEmpty || $0.end != nil }
        let (message, end) = socket.state.change { ($0.unread.isEmpty ? nil : $0.unread.removeFirst(), $0.end) }
        if message == nil, case .failure(let error) = end {
            throw error
        }
        return message
    }

    /// No time passes in a stub, so the result is zero.
    func ping() async throws(NetError) -> Duration {
        try await socket.state.wait { $0.isReading || $0.sendingFailure != nil }
        if let failure = socket.state.value.sendingFailure {
            throw failure
        }
        return .zero
    }

    func close(_ code: WebSocket.CloseCode?, reason: String) async throws(NetError) {
        if code == nil ? !reason.isEmpty : reason.utf8.count > 123 {
            throw NetError(.usage, "the close code cannot be sent, or the reason has more than 123 bytes")
        }
        begin(.init(code ?? .none, reason: reason))
        do throws(NetError) {
            try await socket.waitForEnd()
        } catch {
            cancel()
            throw error
        }
        if case .failure(let error) = socket.state.value.end {
            throw error
        }
    }

    func beginClosing(_ code: WebSocket.CloseCode) {
        begin(.init(code))
    }

    private func begin(_ frame: WebSocket.CloseFrame) {
        socket.state.change { state in
            if state.end == nil {
                state.clientFrame = state.clientFrame ?? frame
            }
        }
    }

    func cancel() {
        socket.end(.failure(NetError(.cancelled, "the WebSocket was cancelled")))
        script.cancel()
    }

    func abandon() {
        begin(.init(.goingAway))
        if !socket.state.value.isReading {
            cancel()
        }
    }

    func onEnd(_ handler: @escaping @Sendable (Result<Response<Bytes>, NetError>) -> Void) {
        Task { [socket] in
            try? await socket.waitForEnd()
            if let end = socket.state.value.end {
                handler(end)
            }
        }
    }
}

extension StubSocket.State {
    /// The error of a message that cannot be sent.
    fileprivate var sendingFailure: NetError? {
        if case .failure(let error) = end {
            return error
        }
        return end != nil || clientFrame != nil ? NetError(.closed, "the WebSocket is closing or has ended") : nil
    }
}
