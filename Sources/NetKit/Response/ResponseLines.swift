/// The lines of a streamed body as text, without their ends: LF, CR LF or CR. Bytes that are not UTF-8 are replaced.
public struct ResponseLines: AsyncSequence, Sendable {
    /// A line.
    public typealias Element = String
    /// The error that ended the body early.
    public typealias Failure = NetError

    let stream: ResponseStream
    let maxBytes: Int

    /// Returns an iterator over the lines; the stream has no other reader then.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: stream.makeAsyncIterator(), splitter: LineSplitter(maxBytes: maxBytes))
    }

    /// Returns the lines one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // `nil` after the last read, so that an error ends the transfer immediately.
        private var chunks: ResponseStream.AsyncIterator?
        private var splitter: LineSplitter
        private var chunk: Bytes = []
        private var offset = 0

        fileprivate init(chunks: ResponseStream.AsyncIterator, splitter: LineSplitter) {
            self.chunks = chunks
            self.splitter = splitter
        }

        /// Returns the next line, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> String? {
            do throws(NetError) {
                while chunks != nil {
                    if let line = try nextHere() {
                        return line
                    }
                    guard let more = try await chunks?.next(isolation: actor) else {
                        chunks = nil
                        return splitter.takeRest().map { String(replacingInvalid: $0.span) }
                    }
                    chunk = more
                    offset = 0
                }
                return nil
            } catch {
                chunks = nil
                throw error
            }
        }

        /// Returns the next line, or `nil` at the end.
        public mutating func next() async throws(NetError) -> String? {
            try await next(isolation: nil)
        }

        private mutating func nextHere() throws(NetError) -> String? {
            guard offset < chunk.count else { return nil }
            return try chunk.withSpan { span throws(NetError) in
                try splitter.nextLine(in: span, from: &offset) { line in String(replacingInvalid: line) }
            }
        }
    }
}
