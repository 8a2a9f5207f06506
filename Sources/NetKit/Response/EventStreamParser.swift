/// One event of an event stream (WHATWG HTML, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The last identifier that the server sent, with this event or an earlier one. Empty if it sent none.
    public var id: String
    /// The name: the value of the `event` field, "message" by default.
    public var name: String
    /// The data. If the event has several data lines, they are joined by LF.
    public var data: String
    /// The delay before reconnecting that this event sets; `nil` if it sets none.
    public var retry: Duration?
    private var coding = Coding()

    /// Creates an event.
    package init(id: String = "", name: String = "message", data: String, retry: Duration? = nil) {
        self.id = id
        self.name = name
        self.data = data
        self.retry = retry
    }

    init(id: String, name: String, data: String, retry: Duration?, json: JSONCodingStorage?) {
        self.init(id: id, name: name, data: data, retry: retry)
        coding.storage = json
    }

    /// Decodes the data as JSON, with the ``JSONCoding`` of the request or the agent.
    ///
    /// - Throws: ``NetError/Code/decoding`` if the data cannot be decoded.
    public func decode<Value: Decodable & Sendable>(_ type: Value.Type = Value.self) throws(NetError) -> Value {
        var response = Response(status: 200, bytes: Bytes(Array(data.utf8)))
        if let json = coding.storage {
            response.jsonCoding = json
        }
        do {
            return try response.jsonCoding.value.value(in: response)
        } catch {
            let cause = error as? NetError
            throw NetError(
                .decoding,
                "the data of the event '\(name)' cannot be decoded as \(Value.self): \(cause?.message ?? "\(error)")",
                offset: cause?.offset, response: response, jsonFaults: cause?.jsonFaults ?? [], underlying: error)
        }
    }

    /// The settings for decoding the data. They have no influence on equality.
    private struct Coding: Sendable, Hashable {
        var storage: JSONCodingStorage?

        static func == (left: Self, right: Self) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }
}

/// Parses an event stream (WHATWG HTML, 9.2.6) that arrives in chunks of any size. Pure.
struct EventStreamParser: Sendable {
    private let maxBytes: Int
    private var lines: LineSplitter
    private var isAtStart = true
    private var data: [UInt8] = []
    private var hasData = false
    private var kind = ""
    private var eventRetry: Duration?
    private var idBuffer: String
    /// The identifier of the last complete event. After a lost connection, it is sent as `Last-Event-ID`.
    private(set) var lastEventID: String
    /// The delay before reconnecting, if the stream has set one.
    private(set) var retry: Duration?
    /// The settings for decoding the data of events; `nil` for the defaults.
    var json: JSONCodingStorage?

    /// - Parameter maxBytes: the largest length of one line, and of the data of one event.
    init(maxBytes: Int, lastEventID: String = "", json: JSONCodingStorage? = nil) {
        self.maxBytes = maxBytes
        self.json = json
        self.lastEventID = lastEventID
        idBuffer = lastEventID
        lines = LineSplitter(maxBytes: maxBytes)
    }

    /// Prepares for the stream of a new connection. An incomplete event is dropped.
    mutating func restart() {
        lines = LineSplitter(maxBytes: maxBytes)
        isAtStart = true
        idBuffer = lastEventID
        clearEvent()
    }

    /// Returns the next event that ends in `chunk` at or after `offset`, and moves `offset` to the byte after it.
    /// Returns `nil` if the chunk has no further event.
    /// - Throws: ``NetError/Code/tooLarge`` if a line or the data of an event exceeds the limit.
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
            let hasByteOrderMark =
                wholeLine.count >= 3 && wholeLine[0] == 0xEF && wholeLine[1] == 0xBB && wholeLine[2] == 0xBF
            start = hasByteOrderMark ? 3 : 0
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

    /// Reads the value of a `retry` field: milliseconds in ASCII digits. Any other value is ignored.
    private mutating func readRetry(_ value: Span<UInt8>) {
        guard !value.isEmpty, value.indices.allSatisfy({ (0x30...0x39).contains(value[$0]) }) else { return }
        // A number that exceeds Int is replaced by a very long time.
        let milliseconds = Int(String(replacingInvalid: value)) ?? .max
        eventRetry = .milliseconds(min(milliseconds, 1 << 50))
        retry = eventRetry
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = idBuffer
        defer { clearEvent() }
        guard hasData else { return nil }
        return ServerSentEvent(
            id: lastEventID, name: kind.isEmpty ? "message" : kind, data: String(replacingInvalid: data.span),
            retry: eventRetry, json: json)
    }

    private mutating func clearEvent() {
        data.removeAll(keepingCapacity: true)
        hasData = false
        kind = ""
        eventRetry = nil
    }
}
