/// What a response holds besides its value.
struct ResponseContent: Sendable {
    var status: Int
    var headers: Headers
    var bytes: Bytes
    var httpVersion = HTTPVersion.unknown
    var metrics: Metrics
    var source: ResponseSource
    var trailers: Headers = [:]
    var isCloseDelimited = false
    var cameByChallenge = false
}

/// A content behind one reference: a response is handed from one interceptor to the next, and to copy all of a content
/// each time costs more than what they do.
final class KeptResponse: Sendable {
    let value: ResponseContent

    init(_ value: ResponseContent) {
        self.value = value
    }
}
