public import NetKit

/// The events of an XML body as it arrives, in bounded memory.
///
///     for try await event in try await agent.xmlEvents(Request<[XMLEvent]>("feed.xml")) { … }
///
/// What ended the body early, and what makes it no XML, is thrown behind the events that came before it. Letting the
/// iterator go, or cancelling the task that reads, cancels the transfer.
public struct XMLEvents: AsyncSequence, Sendable {
    /// What was met.
    public typealias Element = XMLEvent
    /// What ended the events.
    public typealias Failure = NetError

    /// The response that is read.
    public let stream: ResponseStream
    private let rules: XMLRules

    init(_ stream: ResponseStream, rules: XMLRules) {
        self.stream = stream
        self.rules = rules
    }

    /// Reads the body; a second iterator fails with `NetError.Code.usage`.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream, rules: rules)
    }

    /// Gives the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var chunks: ResponseStream.AsyncIterator
        private let charset: String?
        private let rules: XMLRules
        private var parser: XMLParser?
        private var events: ArraySlice<XMLEvent> = []
        /// Thrown when the events before it are told.
        private var failure: NetError?
        private var isOver = false

        fileprivate init(_ stream: ResponseStream, rules: XMLRules) {
            chunks = stream.makeAsyncIterator()
            charset = stream.headers["Content-Type"].flatMap(charsetName)
            self.rules = rules
        }

        /// The next event; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> XMLEvent? {
            while true {
                if let event = events.popFirst() {
                    return event
                }
                if let failure {
                    self.failure = nil
                    throw failure
                }
                if isOver {
                    return nil
                }
                do throws(NetError) {
                    try await advance(isolation: actor)
                } catch {
                    isOver = true
                    throw error
                }
            }
        }

        /// The next event; nil at the end.
        public mutating func next() async throws(NetError) -> XMLEvent? {
            try await next(isolation: nil)
        }

        private mutating func startedParser() throws(NetError) -> XMLParser {
            if let parser {
                return parser
            }
            let made = try XMLParser(charset: charset, rules: rules)
            parser = made
            return made
        }

        private mutating func advance(isolation actor: isolated (any Actor)?) async throws(NetError) {
            let parser = try startedParser()
            let chunk = try await chunks.next(isolation: actor)
            do throws(NetError) {
                if let chunk {
                    events = try parser.feed(chunk)[...]
                } else {
                    isOver = true
                    events = try parser.finish()[...]
                }
            } catch {
                isOver = true
                failure = error
                events = parser.takeEvents()[...]
            }
        }
    }
}

extension ResponseStream {
    /// The body's XML, event by event; the status and the type are the reader's to judge.
    public func xmlEvents(rules: XMLRules = XMLRules()) -> XMLEvents {
        XMLEvents(self, rules: rules)
    }
}

extension Agent {
    /// Sends a request and reads its XML body as it arrives.
    ///
    /// Another status than the request accepts throws `NetError.Code.unacceptableStatus`, with the error of another type
    /// beneath it; another type by itself `unacceptableType`. Both tell the head, and the body is not read.
    public func xmlEvents(
        _ request: Request<[XMLEvent]>, rules: XMLRules = XMLRules()
    ) async throws(NetError) -> XMLEvents {
        let stream = try await stream(request)
        try request.checkHead(of: stream, types: xmlTypes)
        return XMLEvents(stream, rules: rules)
    }
}
