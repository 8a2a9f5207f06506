/// Finds elements, such as lines, in chunks of any size.
protocol ChunkParser: Sendable {
    associatedtype Element

    /// Returns the next element that ends in `chunk` at or after `offset`, and moves `offset` to the byte after it.
    /// Returns `nil` at the end of the chunk, and keeps the start of an incomplete element.
    mutating func next(in chunk: Span<UInt8>, from offset: inout Int) throws(NetError) -> Element?

    /// Returns the last element if it needs no end of its own.
    mutating func takeLast() throws(NetError) -> Element?
}

extension LineSplitter: ChunkParser {
    mutating func next(in chunk: Span<UInt8>, from offset: inout Int) throws(NetError) -> String? {
        try nextLine(in: chunk, from: &offset) { line in String(replacingInvalid: line) }
    }

    mutating func takeLast() -> String? {
        takePending().map { String(replacingInvalid: $0.span) }
    }
}

extension EventStreamParser: ChunkParser {
    mutating func next(in chunk: Span<UInt8>, from offset: inout Int) throws(NetError) -> ServerSentEvent? {
        try nextEvent(in: chunk, from: &offset)
    }

    func takeLast() -> ServerSentEvent? { nil }
}

/// Decodes newline-delimited JSON. Empty lines are skipped.
struct JSONLineParser<Value: Decodable & Sendable>: ChunkParser {
    private let head: Response<Bytes>
    private var lines: LineSplitter
    private var number = 0

    init(head: Response<Bytes>, maxBytes: Int) {
        self.head = head
        lines = LineSplitter(maxBytes: maxBytes)
    }

    mutating func next(in chunk: Span<UInt8>, from offset: inout Int) throws(NetError) -> Value? {
        while offset < chunk.count {
            let line: [UInt8]?
            do throws(NetError) {
                line = try lines.nextLine(in: chunk, from: &offset) { line in line.indices.map { line[$0] } }
            } catch {
                throw error.prefixed(by: "line \(number + 1)")
            }
            if let line, let value = try value(of: line) {
                return value
            }
        }
        return nil
    }

    mutating func takeLast() throws(NetError) -> Value? {
        try lines.takePending().flatMap { line throws(NetError) in try value(of: line) }
    }

    private mutating func value(of line: [UInt8]) throws(NetError) -> Value? {
        number += 1
        guard !Bytes(line).isBlank else { return nil }
        var response = head
        response.bytes = Bytes(line)
        do throws(NetError) {
            return try response.decode(by: .json)
        } catch {
            throw error.prefixed(by: "line \(number)")
        }
    }
}

extension NetError {
    /// Returns the same error with the name of the part of the body that caused it.
    func prefixed(by part: String) -> NetError {
        NetError(
            code, "\(part): \(message)", nativeCode: nativeCode, offset: offset, response: response, metrics: metrics,
            jsonFaults: jsonFaults, underlying: underlying, trust: trust, resumeToken: resumeToken)
    }
}

/// The elements of a streamed body; see ``ResponseStream/lines`` and ``ResponseStream/events``.
struct ParsedBody<Parser: ChunkParser>: AsyncSequence, Sendable {
    let stream: ResponseStream
    let parser: Parser

    /// Returns an iterator. A stream can have one iterator only, over its elements or its bytes.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: stream.makeAsyncIterator(), parser: parser)
    }

    /// Returns the elements one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        // Set to `nil` at the end and after an error. Releasing the iterator ends the transfer.
        private var chunks: ResponseStream.AsyncIterator?
        private var parser: Parser
        private var chunk: Bytes = []
        private var offset = 0

        fileprivate init(chunks: ResponseStream.AsyncIterator, parser: Parser) {
            self.chunks = chunks
            self.parser = parser
        }

        /// Returns the next element, or `nil` at the end.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Parser.Element? {
            do throws(NetError) {
                while chunks != nil {
                    if let element = try nextInChunk() {
                        return element
                    }
                    guard let more = try await chunks?.next(isolation: actor) else {
                        chunks = nil
                        return try parser.takeLast()
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

        private mutating func nextInChunk() throws(NetError) -> Parser.Element? {
            guard offset < chunk.count else { return nil }
            return try chunk.withSpan { span throws(NetError) in try parser.next(in: span, from: &offset) }
        }
    }
}

/// Splits a sequence of chunks of any size into lines. A line ends with LF, CR LF or CR. Pure.
struct LineSplitter: Sendable {
    private let maxBytes: Int
    // The bytes of the current line that earlier chunks contained.
    private var pending: [UInt8] = []
    // Whether the last chunk ended with CR. If the next byte is LF, it belongs to the same line end.
    private var endedWithCR = false

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Calls `body` with the next line of `chunk` at or after `offset`, and moves `offset` to the byte after the line.
    /// Returns `nil` if no line ends in the remaining chunk. The remaining bytes are then stored as the start of the
    /// next line, and `offset` is at the end of the chunk.
    /// - Throws: ``NetError/Code/tooLarge`` for a line that is too long.
    mutating func nextLine<Result>(
        in chunk: Span<UInt8>, from offset: inout Int, _ body: (Span<UInt8>) throws(NetError) -> Result
    ) throws(NetError) -> Result? {
        if endedWithCR, offset < chunk.count {
            endedWithCR = false
            if chunk[offset] == 0x0A {
                offset += 1
            }
        }
        let start = offset
        var end = start
        while end < chunk.count, chunk[end] != 0x0A, chunk[end] != 0x0D {
            end += 1
        }
        if pending.count + (end - start) > maxBytes {
            throw NetError(.tooLarge, "a line is longer than \(maxBytes) bytes")
        }
        guard end < chunk.count else {
            for index in start..<end {
                pending.append(chunk[index])
            }
            offset = end
            return nil
        }
        endedWithCR = chunk[end] == 0x0D
        offset = end + 1
        if pending.isEmpty {
            return try body(chunk.extracting(start..<end))
        }
        for index in start..<end {
            pending.append(chunk[index])
        }
        defer { pending.removeAll(keepingCapacity: true) }
        return try body(pending.span)
    }

    /// Returns the bytes after the last line end and removes them, or `nil` if there are none.
    mutating func takePending() -> [UInt8]? {
        defer { pending = [] }
        return pending.isEmpty ? nil : pending
    }
}

extension String {
    /// Creates a string from UTF-8 bytes, with U+FFFD for each invalid sequence.
    init(replacingInvalid bytes: Span<UInt8>) {
        if let valid = try? UTF8Span(validating: bytes) {
            self.init(copying: valid)
            return
        }
        self.init(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
}
