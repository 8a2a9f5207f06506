/// The events of an event stream, over as many connections as needed.
///
///     for try await event in agent.events(Request<Bytes>("news")) { … }
///
/// When the connection ends or is lost, or a ``CircuitBreaker`` prevents one, a new one is opened after the retry time,
/// with `Last-Event-ID`. Cancelling the task ends the sequence, and so does status 204.
///
/// It throws ``NetError/Code/unacceptableStatus`` with response and body for another status than 200, and
/// ``NetError/Code/badResponse`` with the head for another type than text/event-stream. Errors that a retry cannot
/// solve are thrown unchanged.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The error that ended the sequence.
    public typealias Failure = NetError

    /// Options of an event stream.
    public struct Options: Sendable {
        /// The delay before reconnecting, until the server sets one (3 s). A delay of the server is at least 500 ms.
        public var retry: Duration = .seconds(3)
        /// The limit of one event's data, and of one line with its field name, in bytes (1 MiB). Larger ones throw
        /// ``NetError/Code/tooLarge``.
        public var maxEventBytes = 1 << 20
        /// The identifier to continue after; empty starts without one.
        public var lastEventID = ""
        /// Sleeps before reconnecting.
        public var sleep: @Sendable (Duration) async throws -> Void = TimeSource.system.sleep

        /// Creates the default options.
        public init() {}
    }

    let agent: Agent
    let request: Request<Bytes>
    let options: Options

    /// Returns an iterator, which connects when the first event is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Returns the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: ServerSentEvents
        private var parser: EventStreamParser
        private var chunks: ResponseStream.AsyncIterator?
        private var chunk: Bytes = []
        private var offset = 0
        private var isOver = false
        // Otherwise a server with a delay of 0 that closes would be contacted thousands of times a second.
        private static let leastRetry = Duration.milliseconds(500)

        fileprivate init(_ events: ServerSentEvents) {
            self.events = events
            parser = EventStreamParser(
                maxBytes: events.options.maxEventBytes, lastEventID: events.options.lastEventID)
        }

        /// Returns the next event, or `nil` after a 204.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> ServerSentEvent? {
            do throws(NetError) {
                while !isOver {
                    if let event = try nextHere() {
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

        /// Returns the next event, or `nil` after a 204.
        public mutating func next() async throws(NetError) -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        private mutating func nextHere() throws(NetError) -> ServerSentEvent? {
            guard offset < chunk.count else { return nil }
            return try chunk.withSpan { span throws(NetError) in try parser.nextEvent(in: span, from: &offset) }
        }

        /// Reads the next bytes, on a new connection if necessary; after a temporary failure, waits first.
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
                try await pause(isolation: actor)
            }
        }

        private mutating func connect(isolation actor: isolated (any Actor)?) async throws(NetError) {
            parser.restart()
            var request = events.request
            if !parser.lastEventID.isEmpty {
                // A field's value has no white space around it.
                request.headers["Last-Event-ID"] = parser.lastEventID.trimmingBlanks
            }
            let stream = try await events.agent.stream(request)
            if stream.status == 204 {
                isOver = true
                return
            }
            guard stream.status == 200 else {
                throw try await refusal(by: stream)
            }
            let type = (stream.headers["Content-Type"] ?? "").prefix { $0 != ";" }
            guard String(type).trimmingBlanks.isEqualIgnoringASCIICase(to: "text/event-stream") else {
                throw NetError(
                    .badResponse, "an event stream of type \"\(type)\" from \(stream.headOnly.place)",
                    response: stream.headOnly)
            }
            chunks = stream.makeAsyncIterator()
        }

        /// Returns the error for a refusal, with its body; a truncated body does not change it.
        private func refusal(by stream: ResponseStream) async throws(NetError) -> NetError {
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

        private func pause(isolation actor: isolated (any Actor)?) async throws(NetError) {
            do {
                let asked = parser.retry.map { Swift.max($0, Self.leastRetry) }
                try await events.options.sleep(asked ?? events.options.retry)
            } catch {
                throw error as? NetError
                    ?? NetError(.cancelled, "the task was cancelled between two connections", underlying: error)
            }
        }
    }
}

extension Agent {
    /// Returns the events of a server (WHATWG HTML, 9.2). Connects when the first one is requested, and again when the
    /// connection is lost. ``Caching`` does not apply unless the request sets rules. ``Request/progress`` reports each
    /// connection, with its end.
    public func events(
        _ request: Request<some Sendable>, options: ServerSentEvents.Options = .init()
    ) -> ServerSentEvents {
        var request = request.decoded(by: .bytes)
        // HTML requires the cache mode "no-store", which Fetch, 4.6, sends as "no-cache". A shared cache must not use a
        // stored response, and "no-store" alone would allow that (RFC 9111, 5.2.1.5).
        request.headers = request.headers.filled(
            from: ["Accept": "text/event-stream", "Cache-Control": "no-cache"])
        // The app's own rules would store old events and return them again for each connection.
        request.caching = request.caching ?? .off
        return ServerSentEvents(agent: self, request: request, options: options)
    }
}
