/// Parses an event stream (WHATWG HTML, 9.2.6) from bytes in pieces of any size. Pure.
struct EventStreamParser: Sendable {
    private let maxBytes: Int
    private var lines: LineSplitter
    private var isAtStart = true
    private var data: [UInt8] = []
    private var hasData = false
    private var kind = ""
    private var eventRetry: Duration?
    private var idBuffer: String
    /// The identifier of the last complete event, for `Last-Event-ID` after the connection was lost.
    private(set) var lastEventID: String
    /// The delay before reconnecting, if the stream has set one.
    private(set) var retry: Duration?

    /// - Parameter maxBytes: the limit of one line, and of one event's data.
    init(maxBytes: Int, lastEventID: String = "") {
        self.maxBytes = maxBytes
        self.lastEventID = lastEventID
        idBuffer = lastEventID
        lines = LineSplitter(maxBytes: maxBytes)
    }

    /// Starts a new connection. An incomplete event is lost.
    mutating func restart() {
        lines = LineSplitter(maxBytes: maxBytes)
        isAtStart = true
        idBuffer = lastEventID
        clearEvent()
    }

    /// Returns the next event of `chunk` from `offset` on and moves the offset behind it, or `nil` if there are no
    /// more.
    ///
    /// - Throws: ``NetError/Code/tooLarge``.
    mutating func nextEvent(in chunk: Span<UInt8>, from offset: inout Int) throws(NetError) -> ServerSentEvent? {
        while offset < chunk.count {
            var splitter = lines
            lines = LineSplitter(maxBytes: 0)
            defer { lines = splitter }
            let event = try splitter.nextLine(in: chunk, from: &offset) { line throws(NetError) in
                try read(line)
            }
            if let event = event ?? nil {
                return event
            }
        }
        return nil
    }

    private mutating func read(_ wholeLine: Span<UInt8>) throws(NetError) -> ServerSentEvent? {
        var start = 0
        if isAtStart {
            isAtStart = false
            let hasMark = wholeLine.count >= 3 && wholeLine[0] == 0xEF && wholeLine[1] == 0xBB && wholeLine[2] == 0xBF
            start = hasMark ? 3 : 0
        }
        let line = wholeLine.extracting(start..<wholeLine.count)
        if line.isEmpty {
            return dispatch()
        }
        let colon = line.indices.first { line[$0] == UInt8(ascii: ":") } ?? line.count
        var valueStart = min(colon + 1, line.count)
        if valueStart < line.count, line[valueStart] == 0x20 {
            valueStart += 1
        }
        let value = line.extracting(valueStart..<line.count)
        switch String(replacingInvalid: line.extracting(0..<colon)) {
        case "data": try append(value)
        case "event": kind = String(replacingInvalid: value)
        case "id" where !value.indices.contains(where: { value[$0] == 0 }): idBuffer = String(replacingInvalid: value)
        case "retry": readRetry(value)
        default: break  // a comment (a line without a name), or an unknown field
        }
        return nil
    }

    private mutating func append(_ value: Span<UInt8>) throws(NetError) {
        if hasData {
            data.append(0x0A)
        }
        hasData = true
        if data.count + value.count > maxBytes {
            throw NetError(.tooLarge, "an event is larger than \(maxBytes) bytes")
        }
        for index in value.indices {
            data.append(value[index])
        }
    }

    /// Milliseconds, only as ASCII digits.
    private mutating func readRetry(_ value: Span<UInt8>) {
        guard !value.isEmpty, value.indices.allSatisfy({ (0x30...0x39).contains(value[$0]) }) else { return }
        // A number that is too large stands for an endless time.
        let milliseconds = Int(String(replacingInvalid: value)) ?? .max
        eventRetry = .milliseconds(min(milliseconds, 1 << 50))
        retry = eventRetry
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = idBuffer
        defer { clearEvent() }
        guard hasData else { return nil }
        return ServerSentEvent(
            id: lastEventID, event: kind.isEmpty ? "message" : kind, data: String(replacingInvalid: data.span),
            retry: eventRetry)
    }

    private mutating func clearEvent() {
        data.removeAll(keepingCapacity: true)
        hasData = false
        kind = ""
        eventRetry = nil
    }
}
