/// The events of an event stream, over as many connections as needed.
struct ServerSentEvents: AsyncSequence, Sendable {
    let agent: Agent
    /// Connects with this `Last-Event-ID`; if it is empty, without one.
    let connect: @Sendable (_ lastEventID: String) async throws(NetError) -> ResponseStream
    let options: ServerSentEvent.Options

    /// Returns an iterator. It connects when the first event is requested.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Returns the events one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        private let events: ServerSentEvents
        private var parser: EventStreamParser
        private var chunks: ResponseStream.AsyncIterator?
        private var chunk: Bytes = []
        private var offset = 0
        private var isOver = false
        // Otherwise a server that sends a delay of 0 and closes each connection would be contacted thousands of times a
        // second.
        private static let minimumRetry = Duration.milliseconds(500)

        fileprivate init(_ events: ServerSentEvents) {
            self.events = events
            parser = EventStreamParser(
                maxBytes: events.options.maxEventBytes, lastEventID: events.options.lastEventID)
        }

        /// Returns the next event, or `nil` after a 204.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> ServerSentEvent? {
            do throws(NetError) {
                while !isOver {
                    if let event = try nextBufferedEvent() {
                        return event
                    }
                    try await advance(isolation: actor)
                }
                return nil
            } catch {
                isOver = true
                chunks = nil
                throw error
            }
        }

        private mutating func nextBufferedEvent() throws(NetError) -> ServerSentEvent? {
            guard offset < chunk.count else { return nil }
            return try chunk.withSpan { span throws(NetError) in try parser.nextEvent(in: span, from: &offset) }
        }

        /// Reads the next bytes, and connects first if there is no connection. At the end of a connection, and after a
        /// temporary failure, it waits for the retry time instead.
        private mutating func advance(isolation actor: isolated (any Actor)?) async throws(NetError) {
            do throws(NetError) {
                if chunks == nil {
                    try await connect(isolation: actor)
                }
                if let more = try await chunks?.next(isolation: actor) {
                    chunk = more
                    offset = 0
                    return
                }
            } catch  where error.isRetryable || error.code == .circuitOpen {
                // Handled like a connection that the server closed.
            }
            chunks = nil
            if !isOver {
                try await waitBeforeReconnecting(isolation: actor)
            }
        }

        private mutating func connect(isolation actor: isolated (any Actor)?) async throws(NetError) {
            parser.restart()
            // White space around a field's value is not part of the value.
            let stream = try await events.connect(parser.lastEventID.trimmingBlanks)
            if stream.status == 204 {
                isOver = true
                return
            }
            guard stream.status == 200 else {
                throw try await unacceptableStatusError(by: stream)
            }
            let type = (stream.headers["Content-Type"] ?? "").prefix { $0 != ";" }
            guard String(type).trimmingBlanks.isEqualIgnoringASCIICase(to: "text/event-stream") else {
                throw NetError(
                    .badResponse,
                    "expected text/event-stream, received \"\(type)\" from \(stream.headOnly.urlWithoutQuery)",
                    response: stream.headOnly)
            }
            parser.json = stream.json
            chunks = stream.makeAsyncIterator()
        }

        /// Returns the error for an unacceptable status, with the response's body. If the body is truncated, the error
        /// is the same.
        private func unacceptableStatusError(by stream: ResponseStream) async throws(NetError) -> NetError {
            var response = stream.headOnly
            do throws(NetError) {
                response.bytes = try await stream.collect(upTo: events.agent.configuration.limits.maxBodyBytes ?? .max)
                response.value = response.bytes
            } catch {
                if error.code == .cancelled {
                    throw error
                }
            }
            return NetError(unacceptable: response)
        }

        private func waitBeforeReconnecting(isolation actor: isolated (any Actor)?) async throws(NetError) {
            do {
                let serverDelay = parser.retry.map { Swift.max($0, Self.minimumRetry) }
                try await events.options.sleep(serverDelay ?? events.options.reconnectDelay)
            } catch {
                throw error as? NetError
                    ?? NetError(.cancelled, "the task was cancelled between two connections", underlying: error)
            }
        }
    }
}

extension ServerSentEvent {
    /// Options of an event stream.
    package struct Options: Sendable {
        /// The delay before reconnecting. A delay that the server sends replaces it; it is at least 500 ms.
        package var reconnectDelay: Duration
        /// The largest size in bytes of one event's data, and of one line including its field name.
        package var maxEventBytes: Int
        /// The identifier of the last event that the app has received. If empty, the first connection sends no
        /// `Last-Event-ID`.
        package var lastEventID: String
        /// Sleeps before reconnecting. Tests can replace it.
        package var sleep: @Sendable (Duration) async throws -> Void = TimeSource.system.sleep

        /// Creates options.
        package init(
            reconnectDelay: Duration = .seconds(3), maxEventBytes: Int = 1 << 20, lastEventID: String = ""
        ) {
            self.reconnectDelay = reconnectDelay
            self.maxEventBytes = maxEventBytes
            self.lastEventID = lastEventID
        }
    }
}

extension Agent {
    /// Returns the events of a server (WHATWG HTML, 9.2).
    ///
    ///     for try await event in agent.serverSentEvents("news") { print(event.name, event.data) }
    ///
    /// When a connection ends, is lost, or is prevented by a ``CircuitBreaker``, the next one is opened after a delay,
    /// with `Last-Event-ID`. The sequence ends if the task is cancelled, or if the status of a response is 204.
    ///
    /// The sequence throws:
    /// - ``NetError/Code/status``, with response and body, if the status is neither 200 nor 204
    /// - ``NetError/Code/badResponse``, with the response head, if the type is not text/event-stream
    /// - an error for which a retry would not help, unchanged
    ///
    /// Connects when the first event is requested, and again when the connection is lost. ``Caching`` does not apply
    /// unless the request sets cache rules. ``Request/progress`` reports each connection separately, with its end.
    /// - Parameters:
    ///   - call: the request, or a value that creates one for each connection.
    ///   - lastEventID: the identifier of the last event that the app has received. If empty, the first connection
    ///     sends no `Last-Event-ID`.
    ///   - reconnectDelay: the delay before reconnecting. A delay that the server sends replaces it; it is at least
    ///     500 ms.
    ///   - maxEventBytes: the largest size of one event's data, and of one line including its field name. Above it, the
    ///     sequence throws ``NetError/Code/tooLarge``.
    public func serverSentEvents(
        _ call: some RequestConvertible, lastEventID: String = "", reconnectDelay: Duration = .seconds(3),
        maxEventBytes: Int = 1 << 20
    ) -> some AsyncSequence<ServerSentEvent, NetError> & Sendable {
        serverSentEvents(
            call,
            options: ServerSentEvent.Options(
                reconnectDelay: reconnectDelay, maxEventBytes: maxEventBytes, lastEventID: lastEventID))
    }

    /// Returns the events of a server, from a GET request.
    ///
    /// - Parameters:
    ///   - path: a path relative to ``Configuration/baseURL``, or a URL.
    ///   - query: the query, as for ``get``.
    ///   - headers: the header fields.
    ///   - credentials: the credentials.
    ///   - lastEventID: the identifier of the last event that the app has received.
    ///   - reconnectDelay: the delay before reconnecting, unless the server sends one.
    ///   - maxEventBytes: the largest size of one event's data.
    public func serverSentEvents(
        _ path: some URLConvertible, query: ParameterList? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, lastEventID: String = "", reconnectDelay: Duration = .seconds(3),
        maxEventBytes: Int = 1 << 20
    ) -> some AsyncSequence<ServerSentEvent, NetError> & Sendable {
        var request = Request<Void>(path, query: query, headers: headers)
        request.credentials = credentials
        return serverSentEvents(
            request, lastEventID: lastEventID, reconnectDelay: reconnectDelay, maxEventBytes: maxEventBytes)
    }

    /// Returns the events of a server, with options that tests can replace.
    package func serverSentEvents(
        _ call: some RequestConvertible, options: ServerSentEvent.Options
    ) -> some AsyncSequence<ServerSentEvent, NetError> & Sendable {
        let connect = { @Sendable (lastEventID: String) async throws(NetError) in
            var request = try await call.callRequest { !self.isBare($0) }
            // HTML requires the cache mode "no-store", for which Fetch (4.6) sends the field value "no-cache". With the
            // field value "no-store", a shared cache could still use a stored response (RFC 9111, 5.2.1.5).
            request.headers = request.headers.filled(
                from: ["Accept": "text/event-stream", "Cache-Control": "no-cache"])
            if !lastEventID.isEmpty {
                request.headers["Last-Event-ID"] = lastEventID
            }
            // With the rules of the Caching interceptor, each connection could return old, stored events.
            if case .inherited = request.caching {
                request.caching = .off
            }
            request.acceptedStatuses = self.acceptedStatuses(of: request).endingEventStreams
            return try await self.stream(request, isChecked: true)
        }
        return ServerSentEvents(agent: self, connect: connect, options: options)
    }
}

extension StatusSet {
    /// The statuses that a connection accepts. 204 is one of them, because it ends the event stream.
    fileprivate var endingEventStreams: StatusSet {
        guard self != .any else { return 200..<205 }
        return ranges?.first.map { $0.lowerBound <= 204 } ?? true ? inserting(204) : self
    }
}
