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

    /// One hop. Times are in milliseconds. The time of a phase that did not occur is -1.
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
        /// The bytes of the value in Base64, if they are not UTF-8.
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

        /// The sum of all phases. `ssl` is not added, because `connect` includes it.
        var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }

    let log: Log
}

extension HAR.Timings {
    /// Creates the timings of a hop.
    ///
    /// - Parameter begin: the end of the previous hop, or 0 for the first hop, on the scale of the hop's own times.
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

/// The recorded data of a transfer. It does not keep bodies in memory that the archive will not contain.
enum HARRecord {
    struct Request: Sendable {
        let method: Method
        let url: String
        let headers: Headers
        let contentType: String?
        /// Empty if the body exceeds the limit or is not in memory.
        let bytes: Bytes
        /// -1 if the body is read while it is sent.
        let bodySize: Int

        init(_ request: NetKit.Request<Bytes>, maxBodyBytes: Int) {
            method = request.method
            url = request.url
            headers = request.headers
            contentType = request.body?.contentType
            bytes = request.body?.bytes.detached(upTo: maxBodyBytes) ?? []
            bodySize = request.body.map { $0.wholeBytes?.count ?? -1 } ?? 0
        }
    }

    struct Response: Sendable {
        let status: Int
        let headers: Headers
        /// Empty if the body exceeds the limit.
        let bytes: Bytes

        init(_ response: NetKit.Response<Bytes>, maxBodyBytes: Int) {
            status = response.status
            // Copied, because the fields of a received response share their storage with its body.
            headers = Headers(response.headers.map { $0 })
            bytes = response.bytes.detached(upTo: maxBodyBytes)
        }
    }

    struct Outcome: Sendable {
        var response: Response?
        var hops: [HopMetrics]
        /// The description of the error, or `nil` if there was a response.
        var failure: String?

        init(_ outcome: Event.Outcome, maxBodyBytes: Int) {
            switch outcome {
            case .answered(let received):
                response = Response(received, maxBodyBytes: maxBodyBytes)
                hops = Array(received.metrics)
            case .failed(let error):
                response = error.response.map { Response($0, maxBodyBytes: maxBodyBytes) }
                hops = Array(error.metrics)
                failure = error.description
            }
        }

        /// Whether the response head has arrived, but the end of the body was not reported.
        var isUnended: Bool { failure == nil && hops.last?.ended == nil }

        /// Returns the final outcome at the end of a stream. Data that `end` does not have is taken from this outcome.
        func completed(by end: Outcome) -> Outcome {
            let hasAllHops = end.hops.count >= hops.count
            if end.failure != nil {
                var failed = end
                failed.response = end.response ?? response
                failed.hops = hasAllHops ? end.hops : hops
                return failed
            }
            return end.response != nil && hasAllHops ? end : self
        }
    }
}

extension Bytes {
    /// Returns a copy, so that no larger buffer stays in memory. Returns no bytes if there are more than `count`.
    fileprivate func detached(upTo count: Int) -> Bytes {
        isEmpty || self.count > count ? [] : Bytes(Array(self))
    }
}
