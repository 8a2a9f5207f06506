public import NetKit

/// A request as a ``StubTransport`` got it: one for each hop, so that a redirect gives another one.
public struct StubRequest: Sendable {
    /// The request as the agent completed it, or as a redirect changed it.
    public let request: Request<Bytes>
    /// Tells the hops of one request from those of others.
    let exchange: Int
    var received: [UInt8] = []
    /// Whether the body has come whole; true without one, false when the reply did not wait for it.
    public internal(set) var isWhole = false

    init(_ request: Request<Bytes>, of exchange: Int) {
        self.request = request
        self.exchange = exchange
    }

    /// The method.
    public var method: Method { request.method }

    /// The absolute URL, as it was asked.
    public var url: String { request.url }

    /// The URL's path, without query and fragment; "/" when there is none.
    public var path: String {
        let place = self.place
        guard let mark = place.firstRange(of: "://") else { return place }
        let slash = place[mark.upperBound...].firstIndex(of: "/")
        return slash.map { String(place[$0...]) } ?? "/"
    }

    /// What follows the first "?" of the URL; nil when there is none.
    public var query: String? {
        let address = url.prefix { $0 != "#" }
        return address.firstIndex(of: "?").map { String(address[address.index(after: $0)...]) }
    }

    /// The fields in order, with the body's Content-Type and Content-Encoding where no other is named. What the agent's
    /// credentials would add is not among them: see ``request``.
    public var headers: Headers { request.sentFields }

    /// The body, as far as it has come.
    public var body: Bytes { Bytes(received) }

    /// The URL without userinfo, query and fragment.
    var place: String {
        String(url.withoutUserinfo.prefix { $0 != "?" && $0 != "#" })
    }
}
