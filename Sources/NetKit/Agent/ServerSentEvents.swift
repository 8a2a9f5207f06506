/// The events of an event stream, over as many connections as it takes.
///
///     for try await event in agent.events(Request<Bytes>("news")) { … }
///
/// When the connection ends or is lost, or a ``CircuitBreaker`` lets none be made, another one follows after the retry
/// time, with `Last-Event-ID`. Status 204 is the end. Another status throws ``NetError/Code/unacceptableStatus`` with the
/// response, body included, another type than text/event-stream ``NetError/Code/badResponse`` with the head, and whatever
/// trying again would not help, itself. Cancelling the task ends it.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// What ended the events for good.
    public typealias Failure = NetError

    /// How events are read.
    public struct Options: Sendable {
        /// The time to wait before connecting again, until the server names one (3 s). A server that names less than
        /// 500 ms gets 500 ms.
        public var retry: Duration = .seconds(3)
        /// One event's data, and one line with its field's name, in bytes (1 MiB); what is larger throws
        /// ``NetError/Code/tooLarge``.
        public var maxEventBytes = 1 << 20
        /// The identifier to go on from; empty begins anew.
        public var lastEventID = ""
        /// Waits before connecting again.
        public var sleep: @Sendable (Duration) async throws -> Void = TimeSource.system.sleep

        /// The defaults.
        public init() {}
    }

    let agent: Agent
    let request: Request<Bytes>
    let options: Options

    /// Connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Gives the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: ServerSentEvents
        private var parser: EventStreamParser
        private var chunks: ResponseStream.AsyncIterator?
        private var chunk: Bytes = []
        private var offset = 0
        private var isOver = false
        // A server that names 0 and closes would be asked thousands of times a second.
        private static let leastRetry = Duration.milliseconds(500)

        fileprivate init(_ events: ServerSentEvents) {
            self.events = events
            parser = EventStreamParser(
                maxBytes: events.options.maxEventBytes, lastEventID: events.options.lastEventID)
        }

        /// The next event; nil after a 204.
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

        /// The next event; nil after a 204.
        public mutating func next() async throws(NetError) -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        private mutating func nextHere() throws(NetError) -> ServerSentEvent? {
            guard offset < chunk.count else { return nil }
            return try chunk.withSpan { span throws(NetError) in try parser.nextEvent(in: span, from: &offset) }
        }

        /// Gets the next bytes, over a new connection if need be; what cannot be had now is had after a while.
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
                // As if the server had closed.
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
                // Around a field's value there is no white space.
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

        /// What the server says of its refusal stands in the body; one that is cut short is still a refusal.
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
    /// The events that a server sends (WHATWG HTML, 9.2): connects when the first is asked for, and again whenever the
    /// connection is lost; no cache (``Caching``) gives or keeps them, unless the request names rules. What
    /// ``Request/progress`` hears is each connection's, and so is its end.
    public func events(
        _ request: Request<some Sendable>, options: ServerSentEvents.Options = .init()
    ) -> ServerSentEvents {
        var request = request.decoded(by: .bytes)
        // HTML requires the cache mode "no-store". Fetch, 4.6, sends it as "no-cache": a shared cache that already stores
        // a response must not answer with it, which "no-store" alone would allow (RFC 9111, 5.2.1.5).
        request.headers = request.headers.filled(
            from: ["Accept": "text/event-stream", "Cache-Control": "no-cache"])
        // What the app's own rules would keep is the past, given again with each connection.
        request.caching = request.caching ?? .off
        return ServerSentEvents(agent: self, request: request, options: options)
    }
}
