/// The parts of an HTTP archive that NetKit writes (HAR 1.2).
struct HAR: Encodable {
    struct Log: Encodable {
        let version = "1.2"
        let creator: Creator
        let entries: [Entry]
    }

    struct Creator: Encodable {
        let name: String
        let version: String
    }

    /// One hop. Times are in milliseconds; -1 means that the phase did not occur.
    struct Entry: Encodable {
        var startedDateTime: String
        var time: Double
        var request: Request
        var response: Response
        var cache = Cache()
        var timings: Timings
        var serverIPAddress: String?
        var connection: String?
        var comment: String?
    }

    struct Cache: Encodable {}

    struct Pair: Encodable {
        let name: String
        let value: String
        /// The value's bytes, if they are not UTF-8.
        var comment: String?

        init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        init(_ field: Headers.Field) {
            self.init(name: field.name, value: field.value)
            comment = field.isUTF8 ? nil : "Base64 of the value's bytes: \(field.bytes.base64Text())"
        }
    }

    struct Request: Encodable {
        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var queryString: [Pair]
        var postData: PostData?
        var headersSize = -1
        var bodySize: Int
    }

    struct PostData: Encodable {
        let mimeType: String
        let text: String
    }

    struct Response: Encodable {
        var status: Int
        var statusText = ""
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var content: Content
        var redirectURL: String
        var headersSize: Int
        var bodySize: Int
    }

    struct Content: Encodable {
        var size: Int
        var compression: Int?
        var mimeType: String
        var text: String?
    }

    struct Timings: Encodable {
        var blocked = -1.0
        var dns = -1.0
        var connect = -1.0
        var send = 0.0
        var wait = 0.0
        var receive = 0.0
        var ssl = -1.0

        /// `ssl` is included in `connect`, so it is not added.
        var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }

    let log: Log
}

extension HAR.Timings {
    /// - Parameter begin: the time at which the hop was due to begin, on the scale of the hop's own times.
    init(_ hop: HopMetrics, from begin: Duration) {
        func milliseconds(_ from: Duration?, _ to: Duration?) -> Double? {
            guard let from, let to else { return nil }
            return max(0, (to - from) / .milliseconds(1))
        }
        blocked = milliseconds(begin, hop.started) ?? -1
        if !hop.isReused {
            dns = milliseconds(hop.started, hop.resolved) ?? -1
            connect = milliseconds(hop.resolved, hop.secured ?? hop.connected) ?? -1
            ssl = milliseconds(hop.connected, hop.secured) ?? -1
        }
        wait = milliseconds(hop.ready ?? hop.started ?? begin, hop.firstByte) ?? 0
        receive = milliseconds(hop.firstByte, hop.ended) ?? 0
    }
}
