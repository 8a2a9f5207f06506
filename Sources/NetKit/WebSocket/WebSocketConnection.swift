/// The connection of a ``WebSocket``. The engine has one, and stubs have others. Thread-safe.
package protocol WebSocketConnection: AnyObject, Sendable {
    /// The server's close frame, if one has arrived.
    var closeFrame: WebSocket.CloseFrame? { get }
    /// Whether messages can be sent.
    var isOpen: Bool { get }
    /// The number of bytes that wait to be sent.
    var queuedBytes: Int { get }
    /// The number of received bytes that wait to be read, with 64 bytes for each message.
    var unreadBytes: Int { get }
    /// Queues a message, and waits while the queue is full.
    func send(_ bytes: Bytes, isText: Bool) async throws(NetError)
    /// Returns the next message, or `nil` after an orderly end.
    func receive() async throws(NetError) -> WebSocket.Message?
    /// Sends a ping and waits for the pong.
    func ping() async throws(NetError) -> Duration
    /// Sends a close frame and waits for the end.
    func close(_ code: WebSocket.CloseCode?, reason: String) async throws(NetError)
    /// Closes the socket with a code, and does not wait. Does nothing if it is closing or has ended.
    func beginClosing(_ code: WebSocket.CloseCode)
    /// Ends the connection immediately.
    func cancel()
    /// Closes the socket, because nothing uses it any more. Its messages are dropped.
    func abandon()
    /// Calls a closure once at the end of the connection, or immediately if it has ended. The outcome is an error
    /// unless the socket was closed in order.
    func onEnd(_ handler: @escaping @Sendable (Result<Response<Bytes>, NetError>) -> Void)
}

extension NetError {
    /// Creates the error for a response that refuses the handshake.
    init(upgradeRefusedBy response: Response<Bytes>) {
        self.init(
            .upgradeRefused,
            "the server refused the WebSocket handshake with status \(response.status)", nativeCode: response.status,
            response: response)
    }
}

/// The response to a handshake.
package struct WebSocketHandshake: Sendable {
    /// The response. A response with another status than 101 has its body, at most 64 KiB of it.
    package let response: Response<Bytes>
    /// The connection; `nil` if the status is not 101.
    package let connection: (any WebSocketConnection)?

    package init(_ response: Response<Bytes>, _ connection: (any WebSocketConnection)? = nil) {
        self.response = response
        self.connection = connection
    }
}
