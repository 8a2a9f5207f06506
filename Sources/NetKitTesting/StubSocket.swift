public import NetKit

/// The server's side of a WebSocket that a ``StubTransport`` has opened.
public final class StubSocket: Sendable {
    struct State: Sendable {
        /// Messages for the client that it has not read.
        var unread: [WebSocket.Message] = []
        /// Messages of the client that the script has not read.
        var queued: [WebSocket.Message] = []
        var received: [WebSocket.Message] = []
        var clientFrame: WebSocket.CloseFrame?
        var serverFrame: WebSocket.CloseFrame?
        var isReading = true
        var end: Result<Response<Bytes>, NetError>?

        var unreadBytes: Int { unread.reduce(0) { $0 + $1.size } }
        var queuedBytes: Int { queued.reduce(0) { $0 + $1.size } }
    }

    let state = Watched(State())

    /// The messages that the client has sent so far.
    public var received: [WebSocket.Message] { state.value.received }

    /// The client's close frame; `nil` if it has sent none.
    public var closeFrame: WebSocket.CloseFrame? { state.value.clientFrame }

    /// Whether the socket has ended.
    public var hasEnded: Bool { state.value.end != nil }

    /// Waits until the client has sent this number of messages. Throws `NetError.Code.cancelled` if the task is
    /// cancelled before that, and `NetError.Code.closed` if the socket ends.
    public func waitForMessages(_ count: Int) async throws(NetError) {
        try await state.wait { $0.received.count >= count || $0.end != nil }
        if state.value.received.count < count {
            throw NetError(.closed, "the WebSocket ended before \(count) messages had arrived")
        }
    }

    /// Waits until the socket has ended. Throws `NetError.Code.cancelled` if the task is cancelled before that.
    public func waitForEnd() async throws(NetError) {
        try await state.wait { $0.end != nil }
    }

    // MARK: The script

    /// Runs the steps of the server, and then drops messages until the client closes the socket.
    func run(_ steps: [SocketStep], _ response: Response<Bytes>, maxUnreadBytes: Int) async throws(NetError) {
        for step in steps {
            switch step {
            case .text(let text): try await send(.text(text), maxUnreadBytes)
            case .binary(let bytes): try await send(.binary(bytes), maxUnreadBytes)
            case .receive:
                guard try await next() != nil else { return finish(response) }
            case .echo:
                while let message = try await next() {
                    try await send(message, maxUnreadBytes)
                }
                return finish(response)
            case .wait(let gate): try await gate.pass()
            case .stopReading:
                state.change { $0.isReading = false }
                try await state.wait { $0.end != nil }
            case .close(let code, let reason):
                state.change { $0.serverFrame = .init(code, reason: reason) }
                return finish(response)
            case .drop:
                return end(.failure(NetError(.cutShort, "a stub's WebSocket ended without a close frame")))
            }
        }
        while try await next() != nil {}
        finish(response)
    }

    private func send(_ message: WebSocket.Message, _ maxUnreadBytes: Int) async throws(NetError) {
        try await state.wait { $0.unreadBytes < maxUnreadBytes || $0.end != nil }
        state.change { $0.unread.append(message) }
    }

    /// Returns the next message of the client, or `nil` after its close frame.
    private func next() async throws(NetError) -> WebSocket.Message? {
        try await state.wait { !$0.queued.isEmpty || $0.clientFrame != nil || $0.end != nil }
        return state.change { $0.queued.isEmpty ? nil : $0.queued.removeFirst() }
    }

    private func finish(_ response: Response<Bytes>) {
        let (client, server) = state.change { state in
            state.serverFrame = state.serverFrame ?? state.clientFrame
            return (state.clientFrame, state.serverFrame)
        }
        if client == nil, let server, let error = NetError(endedBy: server, response: response) {
            return end(.failure(error))
        }
        end(.success(response))
    }

    func end(_ outcome: Result<Response<Bytes>, NetError>) {
        state.change { $0.end = $0.end ?? outcome }
    }
}

extension WebSocket.Message {
    /// The size that counts in the limits of the socket.
    var size: Int { bytes.count + 64 }
}
