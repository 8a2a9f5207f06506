/// The content of a response except its value.
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

/// A content behind one reference. Interceptors pass a response on several times; copying the whole content each time
/// would cost more than their work.
final class KeptResponse: Sendable {
    let value: ResponseContent

    init(_ value: ResponseContent) {
        self.value = value
    }
}
