import NetKit

/// A server that a case configures, independent of the transport that carries the requests.
protocol Fixture: AnyObject, Sendable {
    /// Creates an agent over the tested transport. The fixture shuts it down.
    func agent(_ configure: (inout Agent.Configuration) -> Void) -> Agent
    /// Returns the absolute URL of a path on the server.
    func url(_ path: String) -> String
    /// Returns the absolute URL of a path at another origin, which responds to every path with 200.
    func urlOfOtherOrigin(_ path: String) -> String
    /// Sets the responses to successive requests of a path. The last one is repeated.
    func play(_ path: String, _ replies: [ServerReply]) throws
    /// Waits until the server holds this many responses.
    func waitForHeld(_ count: Int) async throws
    /// Releases the held responses.
    func release()
    /// The requests to the server so far, in order.
    var requests: [ServerRequest] { get }
    /// The requests to the other origin so far, in order.
    var requestsElsewhere: [ServerRequest] { get }
    /// Shuts every agent down, and returns when nothing is in flight.
    func end() async
}

/// A response of the server.
struct ServerReply: Sendable {
    enum Framing: Sendable {
        case length, chunked, close
    }

    enum Hold: Sendable {
        case beforeHead
        case inBody(after: Int)
    }

    /// Bytes on the wire that a stub cannot express.
    enum Wire: Sendable {
        /// The whole response. Everything else is ignored.
        case raw(String)
        /// Interim response heads.
        case interim(String)
        /// A body that is already encoded.
        case coded([UInt8], coding: String)
    }

    var status = 200
    var fields: [Headers.Field] = []
    var body: [UInt8] = []
    var framing = Framing.length
    var trailers: [Headers.Field] = []
    var hold: Hold?
    /// The number of body bytes after which the connection closes.
    var cutAfter: Int?
    /// The number of bytes of each piece that is sent, or 0 to send everything together.
    var pieceBytes = 0
    /// Whether the response does not wait for the request's body.
    var isEarly = false
    /// Whether HTTP allows no body here, although one is set: after HEAD, and for 204 and 304.
    var hasNoBody = false
    var wire: Wire?

    static func text(_ text: String) -> ServerReply { ServerReply(body: Array(text.utf8)) }

    static func redirect(to location: String, status: Int = 302) -> ServerReply {
        ServerReply(status: status, fields: [.init(name: "Location", value: location)])
    }

    static func wire(_ wire: Wire) -> ServerReply { ServerReply(wire: wire) }
}

/// A request that the server received.
struct ServerRequest: Sendable {
    let method: String
    /// The path and the query.
    let target: String
    let fields: Headers
    /// The body, without chunk framing.
    let body: [UInt8]
}

/// Thrown if a fixture cannot express a part of the case.
struct UnsupportedByFixture: Error {}

extension Fixture {
    /// Creates an agent with the default configuration.
    func agent() -> Agent { agent { _ in } }

    func play(_ path: String, _ replies: ServerReply...) throws {
        try play(path, replies)
    }
}
