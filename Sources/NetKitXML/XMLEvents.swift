#if XML
public import NetKit

/// The events of an XML body, which is parsed while it arrives, in bounded memory.
///
///     for try await event in try await agent.xmlEvents(Request<[XMLEvent]>("feed.xml")) { … }
///
/// If the transfer or the parser fails, the events before the error are delivered first, and then the error is thrown.
/// The transfer is cancelled if the iterator is released, or if the reading task is cancelled.
public struct XMLEvents: AsyncSequence, Sendable {
    /// The response whose body is parsed.
    public let stream: ResponseStream
    private let rules: XMLRules

    init(_ stream: ResponseStream, rules: XMLRules) {
        self.stream = stream
        self.rules = rules
    }

    /// Returns an iterator over the body. A second iterator fails with `NetError.Code.usage`.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream, rules: rules)
    }

    /// Reads the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var chunks: ResponseStream.AsyncIterator
        private let charset: String?
        private let rules: XMLRules
        private var parser: XMLParser?
        private var events: ArraySlice<XMLEvent> = []
        /// The error that is thrown after the remaining events.
        private var failure: NetError?
        private var isOver = false

        fileprivate init(_ stream: ResponseStream, rules: XMLRules) {
            chunks = stream.makeAsyncIterator()
            charset = stream.headers["Content-Type"].flatMap(charsetName)
            self.rules = rules
        }

        /// Returns the next event, or `nil` at the end.
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

        /// Returns the next event, or `nil` at the end.
        public mutating func next() async throws(NetError) -> XMLEvent? {
            try await next(isolation: nil)
        }

        private mutating func startedParser() throws(NetError) -> XMLParser {
            if let parser {
                return parser
            }
            let newParser = try XMLParser(charset: charset, rules: rules)
            parser = newParser
            return newParser
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
    /// Returns the events of the body. The status and the content type are not checked.
    public func xmlEvents(rules: XMLRules = XMLRules()) -> XMLEvents {
        XMLEvents(self, rules: rules)
    }
}

extension Agent {
    /// Sends a request and parses its XML body while it arrives.
    ///
    /// These errors are thrown before the body is read. They contain the response head.
    /// - `NetError.Code.status` if the request does not accept the status. If the type is not accepted
    ///   either, the error about the type is the underlying error.
    /// - `NetError.Code.contentType` if only the content type is not accepted
    public func xmlEvents(
        _ request: Request<[XMLEvent]>, rules: XMLRules = XMLRules()
    ) async throws(NetError) -> XMLEvents {
        let stream = try await stream(request)
        try request.checkHead(of: stream, types: xmlTypes)
        return XMLEvents(stream, rules: rules)
    }
}
#endif
