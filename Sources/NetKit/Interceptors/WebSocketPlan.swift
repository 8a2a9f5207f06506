/// The options of a WebSocket, and the connection that its last handshake has opened.
final class WebSocketPlan: Sendable {
    private let options: WebSocket.Options
    private let connection = Lock<(any WebSocketConnection)?>(nil)

    init(_ options: WebSocket.Options) {
        self.options = options
    }

    deinit {
        take()?.abandon()
    }

    /// Sends a handshake and returns the response, with any status. Stores the connection of a 101, and closes the
    /// connection of an earlier one.
    func open(
        _ request: Request<Bytes>, through transport: any Transport
    ) async throws(NetError) -> Response<Bytes> {
        guard let transport = transport as? any WebSocketTransport else {
            throw NetError(.unsupported, "the agent's transport cannot open a WebSocket")
        }
        let handshake = try await transport.openWebSocket(request, options)
        let earlier = connection.withLock { connection in
            defer { connection = handshake.connection }
            return connection
        }
        earlier?.abandon()
        return handshake.response
    }

    /// Removes and returns the connection.
    func take() -> (any WebSocketConnection)? {
        connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
    }
}

extension Request {
    /// The plan of the WebSocket that the request opens; `nil` for every other request.
    var webSocket: WebSocketPlan? {
        get { settings.webSocketPlan }
        set { settings.webSocketPlan = newValue }
    }
}

extension String {
    /// The URL with http or https instead of ws or wss.
    var withHTTPScheme: String {
        let scheme = prefix { $0 != ":" }.lowercased()
        guard scheme == "ws" || scheme == "wss" else { return self }
        return "http" + dropFirst(2)
    }
}
