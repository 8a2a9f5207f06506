public import NetKit

/// A request that a ``StubTransport`` received. Each hop has its own, so a redirect adds another one.
public struct StubRequest: Sendable {
    /// The request with everything that the agent added, or as a redirect changed it.
    public let request: Request<Bytes>
    /// The number of the transfer, to which all its hops belong.
    let exchange: Int
    var received: [UInt8] = []
    /// Whether the body was received completely. True if there is no body. False if the reply did not wait for the
    /// body.
    public internal(set) var isWhole = false

    init(_ request: Request<Bytes>, of exchange: Int) {
        self.request = request
        self.exchange = exchange
    }

    /// The method.
    public var method: Method { request.method }

    /// The absolute URL, before redirects.
    public var url: String { request.url }

    /// The URL's path, without query and fragment; "/" if it is empty.
    public var path: String {
        let parts = URLParts(url)
        guard parts.host != nil else { return urlWithoutQuery }
        return parts.path.isEmpty ? "/" : parts.path
    }

    /// The query of the URL, which is the text after the first "?". `nil` if there is none.
    public var query: String? { URLParts(url).query }

    /// The header fields in order. They include the Content-Type and Content-Encoding of the body, unless the request
    /// sets these fields. They do not include credentials, which are in ``request``.
    public var headers: Headers { request.sentFields }

    /// The bytes of the body that were received so far.
    public var body: Bytes { Bytes(received) }

    /// The URL without userinfo, query and fragment.
    var urlWithoutQuery: String {
        String(url.withoutUserinfo.prefix { $0 != "?" && $0 != "#" })
    }
}
