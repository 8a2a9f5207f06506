/// Splits bytes in pieces of any size into lines. A line ends with LF, CR LF or CR. Pure.
struct LineSplitter: Sendable {
    private let maxBytes: Int
    // The start of an unfinished line.
    private var pending: [UInt8] = []
    // The last byte was CR: a following LF belongs to it.
    private var endedWithCR = false

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Calls `body` with the next line of `chunk` from `offset` on, and moves the offset behind it.
    ///
    /// Returns `nil` if the rest has no complete line. The rest is kept, and the offset is at the chunk's end.
    ///
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

    /// Returns the last line if it has no end.
    mutating func takeRest() -> [UInt8]? {
        defer { pending = [] }
        return pending.isEmpty ? nil : pending
    }
}

extension String {
    /// Creates the text of UTF-8 bytes, with invalid sequences replaced.
    init(replacingInvalid bytes: Span<UInt8>) {
        if let valid = try? UTF8Span(validating: bytes) {
            self.init(copying: valid)
            return
        }
        self.init(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
}
