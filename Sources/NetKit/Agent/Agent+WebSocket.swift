extension Agent {
    /// Opens a WebSocket. Returns when the handshake is complete.
    ///
    ///     let socket = try await agent.webSocket("wss://example.com/chat")
    ///
    /// The handshake is a GET request with everything that the agent adds: fields, credentials, cookies, interceptors,
    /// the trust policy with its pins, proxies and redirects. Its URL has the scheme ws, wss, http or https. The limits
    /// of the request apply until the handshake is complete.
    ///
    /// The socket is one call for ``Agent/activity(keeping:)`` and for observers, and one request task from its opening to its
    /// end. Cancelling the task ends the connection. A pause has no effect. A task listener receives a `Response<Void>`
    /// with the head of the handshake when the socket has ended in order, or its error.
    /// - Throws: ``NetError/Code/upgradeRefused`` if the server responds with another status than 101. The error
    ///   contains the response, with at most 64 KiB of its body.
    public func webSocket(
        _ call: some RequestConvertible, options: WebSocket.Options = .init()
    ) async throws(NetError) -> WebSocket {
        try await openSocket(try await call.callRequest(), options)
    }

    /// Opens a WebSocket to a path relative to ``Configuration/baseURL``, or to a URL.
    ///
    /// - Parameters:
    ///   - path: the path or the URL.
    ///   - headers: the header fields of the handshake.
    ///   - credentials: the credentials.
    ///   - protocols: the subprotocols to offer (``WebSocket/Options/protocols``).
    ///   - pingInterval: the time without received bytes after which a ping is sent; `nil` for no pings.
    ///
    /// For the other ``WebSocket/Options``, pass a `Request<Void>(path)`.
    public func webSocket(
        _ path: some URLConvertible, headers: Headers = [:], credentials: Credentials = .inherited,
        protocols: [String] = [], pingInterval: Duration? = .seconds(30)
    ) async throws(NetError) -> WebSocket {
        var options = WebSocket.Options(protocols: protocols)
        options.pingInterval = pingInterval
        var request = Request<Void>(path, headers: headers)
        CallOptions(headers, credentials).apply(to: &request)
        return try await openSocket(request, options)
    }

    private func openSocket<Value>(
        _ request: Request<Value>, _ options: WebSocket.Options
    ) async throws(NetError) -> WebSocket {
        try enter(request)
        defer { inFlight.group.leave() }  // The listed call counts until the end of the socket.
        let listeners = request.listeners.decoding { (head: Response<Void>) in head as? Response<Value> }
        let plan = WebSocketPlan(options)
        var handshake = request.decoded(by: .bytes)
        handshake.url = handshake.url.withHTTPScheme
        handshake.caching = .off
        handshake.webSocket = plan
        return try await openListed(handshake, control(of: request), listeners) { handshake async throws(NetError) in
            try await self.handshake(handshake, plan)
        } follow: { (opened: OpenedSocket, listing) throws(NetError) in
            if listing.control.isCancelled {
                opened.connection.cancel()
                opened.follow(nil)
                throw NetError(.cancelled, "the task was cancelled while it opened a WebSocket")
            }
            opened.follow(listing)
            sockets.insert(opened.connection, id: listing.control.id)
            if !inFlight.isOpen {
                sockets.closeAll()
            }
            return WebSocket(opened.connection, opened.response, id: listing.control.id)
        }
    }

    /// Sends the handshake through the interceptors.
    private func handshake(_ request: Request<Bytes>, _ plan: WebSocketPlan) async throws(NetError) -> OpenedSocket {
        let (connection, response, watch) = try await runToResponse(request, .webSocket) {
            call async throws(NetError) in
            let chainResponse = try await self.chainResponse(to: call)
            let response = self.withJSONSettings(chainResponse.response, of: call.request)
            guard response.status == 101 else {
                throw NetError(upgradeRefusedBy: response)
            }
            guard let connection = plan.take() else {
                throw NetError(
                    .usage, "an interceptor returned a response with status 101 without opening a WebSocket",
                    response: response)
            }
            return (connection, response)
        }
        return OpenedSocket(connection: connection, response: response, watch: watch)
    }
}

/// A connection, the response to its handshake, and the notifier of the call's observers.
private struct OpenedSocket: Sendable {
    let connection: any WebSocketConnection
    let response: Response<Bytes>
    let watch: Watch?

    /// Reports the end of the connection to the observers and to the request task. Cancelling the task cancels the
    /// connection.
    func follow(_ listing: ListedCall?) {
        listing?.followCancellation { [connection] in connection.cancel() }
        connection.onEnd { [watch] outcome in
            Task {
                if let watch {
                    await watch.reportStopping(Event.Outcome(outcome))
                    watch.reportStopped()
                }
                _ = try? await listing?.finish(with: outcome.map { response in response.map { _ in } })
            }
        }
    }
}

extension Event.Outcome {
    fileprivate init(_ outcome: Result<Response<Bytes>, NetError>) {
        switch outcome {
        case .success(let response): self = .answered(response)
        case .failure(let error): self = .failed(error)
        }
    }
}

/// The open WebSockets of an agent.
final class OpenSockets: Sendable {
    private let connections = Lock<[UInt64: any WebSocketConnection]>([:])

    /// Adds a socket until its end.
    func insert(_ connection: any WebSocketConnection, id: UInt64) {
        connections.withLock { $0[id] = connection }
        connection.onEnd { [self] _ in
            connections.withLock { _ = $0.removeValue(forKey: id) }
        }
    }

    /// Closes all sockets with ``WebSocket/CloseCode/goingAway``, and does not wait.
    func closeAll() {
        for connection in connections.withLock({ Array($0.values) }) {
            connection.beginClosing(.goingAway)
        }
    }
}
