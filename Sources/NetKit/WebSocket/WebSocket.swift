/// An open WebSocket (RFC 6455).
///
///     let socket = try await agent.webSocket("wss://example.com/chat")
///     try await socket.send("hello")
///     for try await message in socket.messages { … }
///     try await socket.close()
///
/// The sequence ends if either side has closed the socket in order: the app with any code, the server with 1000, 1001
/// or no code. If the server closes it with another code, the sequence throws ``NetError/Code/closedByServer``. Every
/// other end throws the error that caused it.
///
/// Receiving pauses while ``Options/maxUnreadBytes`` are unread, and sending waits while ``Options/maxQueuedBytes`` are
/// unsent. A cancelled task stops to wait, and the socket stays open. When the last reference to the socket is
/// released, it is closed with ``CloseCode/goingAway``. Thread-safe.
public final class WebSocket: Sendable {
    /// The response to the handshake: status 101, its header fields, and the metrics of the connection. It has no body.
    public let response: Response<Bytes>
    /// The number of the call that opened the socket (``Call/id``).
    public let id: UInt64
    private let connection: any WebSocketConnection

    init(_ connection: any WebSocketConnection, _ response: Response<Bytes>, id: UInt64) {
        self.connection = connection
        self.response = response
        self.id = id
    }

    deinit {
        connection.abandon()
    }

    /// The subprotocol that the server has chosen from ``Options/protocols``; `nil` for none.
    public var subprotocol: String? { response.headers["Sec-WebSocket-Protocol"] }

    /// The server's close frame, or `nil` if none has arrived.
    public var closeFrame: CloseFrame? { connection.closeFrame }

    /// Whether messages can be sent: neither side has closed the socket, and it has not failed.
    public var isOpen: Bool { connection.isOpen }

    /// The number of bytes that wait to be sent.
    public var queuedBytes: Int { connection.queuedBytes }

    /// The number of received bytes that wait to be read. Each message counts 64 bytes more than its content.
    public var unreadBytes: Int { connection.unreadBytes }

    // MARK: Sending

    /// Queues a text. Waits while the queue is full; see ``send(_:)-(WebSocket.Message)``.
    public func send(_ text: String) async throws(NetError) {
        try await connection.send(Bytes(Array(text.utf8)), isText: true)
    }

    /// Queues a binary message: `Data`, `[UInt8]` or ``Bytes``. Waits while the queue is full; see
    /// ``send(_:)-(WebSocket.Message)``.
    public func send(_ bytes: some BytesConvertible) async throws(NetError) {
        try await connection.send(bytes._bytes, isText: false)
    }

    /// Queues a message. Waits while the queue is full.
    ///
    /// Concurrent messages are sent one after the other, in the order of the calls.
    /// - Throws: ``NetError/Code/closed`` after a close, or the error that ended the socket. If the task is cancelled
    ///   while it waits, ``NetError/Code/cancelled``. The message is then not sent. If a part of it was sent already,
    ///   because it is larger than the queue, the connection ends.
    public func send(_ message: Message) async throws(NetError) {
        switch message {
        case .text(let text): try await send(text)
        case .binary(let bytes): try await send(bytes)
        }
    }

    /// Sends a value as a text of JSON, written with the ``JSONCoding`` of the request or the agent.
    ///
    /// - Throws: ``NetError/Code/encoding`` for a value that JSON cannot express, and the errors of
    ///   ``send(_:)-(WebSocket.Message)``.
    public func send(json value: some Encodable) async throws(NetError) {
        var body = try Body.json(value)
        try body.apply(response.jsonCoding.value)
        try await connection.send(body.bytes, isText: true)
    }

    // MARK: Receiving

    /// Returns the next message. Waits if there is none.
    ///
    ///     switch try await socket.receive() {
    ///     case .text(let text): print(text)
    ///     case .binary(let bytes): print(bytes.count)
    ///     }
    /// - Throws: ``NetError/Code/closed`` if the socket was closed in order, or the error that ended it.
    ///   ``NetError/Code/cancelled`` if the task is cancelled while it waits; no message is lost.
    ///   ``NetError/Code/usage`` if another task is receiving.
    public func receive() async throws(NetError) -> Message {
        guard let message = try await next() else {
            throw NetError(.closed, "the WebSocket is closed: there are no further messages")
        }
        return message
    }

    /// Returns the next message, or `nil` if the socket was closed in order.
    package func next() async throws(NetError) -> Message? {
        try await connection.receive()
    }

    // MARK: Staying alive and closing

    /// Sends a ping, waits for its pong, and returns the time between them.
    ///
    /// A server may answer only the last one of several pings; its pong then answers the earlier ones too. While
    /// received messages are unread up to their limit, no pong arrives.
    /// - Throws: the errors of ``send(_:)-(WebSocket.Message)``.
    @discardableResult
    public func ping() async throws(NetError) -> Duration {
        try await connection.ping()
    }

    /// Closes the socket: sends what is queued and a close frame, and waits until the server has closed it too. The
    /// wait ends after ``Options/closeTimeout``. Does nothing if the socket has ended.
    ///
    /// Messages that arrive before the server's close frame can still be received, up to ``Options/maxUnreadBytes``. If
    /// the task is cancelled, the connection ends immediately.
    /// - Parameters:
    ///   - code: the reason for the end. If `nil`, the close frame has no code, and `reason` must be empty.
    ///   - reason: a text of at most 123 bytes.
    /// - Throws: ``NetError/Code/usage`` for a code that cannot be sent or a reason that is too long,
    ///   ``NetError/Code/peerTimeout`` if the server does not close the socket, or another error that ends it.
    public func close(code: CloseCode? = .normal, reason: String = "") async throws(NetError) {
        try await connection.close(code, reason: reason)
    }

    /// Ends the connection without a close frame. Waiting calls throw ``NetError/Code/cancelled``.
    public func cancel() {
        connection.cancel()
    }
}

extension WebSocket {
    /// The messages one by one, until the socket is closed in order. A loop that ends early leaves the socket open, and
    /// a later loop continues with the next message.
    ///
    ///     for try await message in socket.messages { … }
    public var messages: some AsyncSequence<Message, NetError> & Sendable {
        SocketMessages(socket: self) { (message: Message) throws(NetError) in message }
    }
}

extension WebSocket {
    /// Options of a socket. Every limit is finite by default; `nil` is no limit.
    public struct Options: Sendable, Hashable {
        /// The subprotocols to offer, the preferred one first. Each is a token without spaces.
        public var protocols: [String] = []
        /// Whether to offer compression (permessage-deflate, RFC 7692). The length of a compressed message reveals
        /// something about its content. Do not mix secrets with text that an attacker chooses.
        public var compresses = false
        /// The largest received message after decompression, in bytes (64 MiB).
        public var maxMessageBytes: Int? = 64 << 20
        /// The largest payload of a received frame, in bytes (64 MiB).
        public var maxFrameBytes: Int? = 64 << 20
        /// The largest number of bytes that wait to be sent (16 MiB). Above it,
        /// ``WebSocket/send(_:)-(WebSocket.Message)`` waits.
        public var maxQueuedBytes = 16 << 20
        /// The largest number of received bytes that wait to be read (1 MiB). Above it, receiving pauses, and the
        /// server has to wait. One message may exceed it.
        public var maxUnreadBytes = 1 << 20
        /// The time without received bytes after which a ping is sent (30 s). If `nil`, none is sent.
        public var pingInterval: Duration? = .seconds(30)
        /// The time without received bytes after which the socket ends with ``NetError/Code/peerTimeout`` (90 s). The
        /// time does not count while receiving is paused.
        public var peerTimeout: Duration? = .seconds(90)
        /// The time that the server has to close the connection after a close frame (5 s).
        public var closeTimeout: Duration = .seconds(5)

        /// Creates the default options.
        public init(protocols: [String] = []) {
            self.protocols = protocols
        }
    }
}
