/// The lines of a streamed body as text, without their line ends (LF, CR LF or CR). Bytes that are not UTF-8 are
/// replaced by U+FFFD.
struct ResponseLines: AsyncSequence, Sendable {
    let stream: ResponseStream
    let maxBytes: Int

    /// Returns an iterator over the lines. A stream can have one iterator only, over its lines or its bytes.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: stream.makeAsyncIterator(), splitter: LineSplitter(maxBytes: maxBytes))
    }

    /// Returns the lines one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        // Set to `nil` at the end and after an error. Releasing the iterator ends the transfer.
        private var chunks: ResponseStream.AsyncIterator?
        private var splitter: LineSplitter
        private var chunk: Bytes = []
        private var offset = 0

        fileprivate init(chunks: ResponseStream.AsyncIterator, splitter: LineSplitter) {
            self.chunks = chunks
            self.splitter = splitter
        }

        /// Returns the next line, or `nil` at the end.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> String? {
            do throws(NetError) {
                while chunks != nil {
                    if let line = try nextLineInChunk() {
                        return line
                    }
                    guard let more = try await chunks?.next(isolation: actor) else {
                        chunks = nil
                        return splitter.takePending().map { String(replacingInvalid: $0.span) }
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

        private mutating func nextLineInChunk() throws(NetError) -> String? {
            guard offset < chunk.count else { return nil }
            return try chunk.withSpan { span throws(NetError) in
                try splitter.nextLine(in: span, from: &offset) { line in String(replacingInvalid: line) }
            }
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
