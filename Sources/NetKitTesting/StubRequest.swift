public import NetKit

/// A request that a ``StubTransport`` received. There is one for each hop, so a redirect adds another one.
public struct StubRequest: Sendable {
    /// The request as completed by the agent, or as changed by a redirect.
    public let request: Request<Bytes>
    /// The number of the transfer, to which all its hops belong.
    let exchange: Int
    var received: [UInt8] = []
    /// Whether the body was received completely. True without a body, false if the reply did not wait for it.
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
        let place = self.place
        guard let mark = place.firstRange(of: "://") else { return place }
        let slash = place[mark.upperBound...].firstIndex(of: "/")
        return slash.map { String(place[$0...]) } ?? "/"
    }

    /// The text after the first "?" of the URL, or `nil` without one.
    public var query: String? {
        let address = url.prefix { $0 != "#" }
        return address.firstIndex(of: "?").map { String(address[address.index(after: $0)...]) }
    }

    /// The fields in order, with the Content-Type and Content-Encoding of the body unless the request has its own. The
    /// agent's credentials are not included: see ``request``.
    public var headers: Headers { request.sentFields }

    /// The bytes of the body received so far.
    public var body: Bytes { Bytes(received) }

    /// The URL without userinfo, query and fragment.
    var place: String {
        String(url.withoutUserinfo.prefix { $0 != "?" && $0 != "#" })
    }
}
