import NetKit

/// A server as a case describes it, whatever carries the requests to it.
protocol Scene: AnyObject, Sendable {
    /// An agent over the transport that is tried; the scene shuts it down.
    func agent(_ configure: (inout Agent.Configuration) -> Void) -> Agent
    /// The absolute URL of a path here.
    func url(_ path: String) -> String
    /// The absolute URL of a path at another origin, where every path is answered with 200.
    func urlElsewhere(_ path: String) -> String
    /// Describes the replies to successive requests of a path; the last one answers all after it.
    func play(_ path: String, _ replies: [SceneReply]) throws
    /// Waits until this many replies are held up.
    func waitForHeld(_ count: Int) async throws
    /// Lets what is held up go on.
    func release()
    /// What came here so far, in order.
    var requests: [SceneRequest] { get }
    /// What came to the other origin so far, in order.
    var requestsElsewhere: [SceneRequest] { get }
    /// Shuts every agent down: returns only when nothing is under way any more.
    func end() async
}

/// What a server answers.
struct SceneReply: Sendable {
    enum Framing: Sendable {
        case length, chunked, close
    }

    enum Hold: Sendable {
        case beforeHead
        case inBody(after: Int)
    }

    /// What is on the wire alone, so that no stub can say it.
    enum Wire: Sendable {
        /// The whole reply, in place of everything else.
        case raw(String)
        /// Heads before the final one.
        case interim(String)
        /// A body that is already coded.
        case coded([UInt8], coding: String)
    }

    var status = 200
    var fields: [Headers.Field] = []
    var body: [UInt8] = []
    var framing = Framing.length
    var trailers: [Headers.Field] = []
    var hold: Hold?
    /// The body bytes after which the connection ends.
    var cutAfter: Int?
    /// When not 0, the bytes of each piece that is sent.
    var pieceBytes = 0
    /// Whether the reply comes without waiting for the request's body.
    var isEarly = false
    /// Whether HTTP has no body here, although one is described: after HEAD, and for 204 and 304.
    var hasNoBody = false
    var wire: Wire?

    static func text(_ text: String) -> SceneReply { SceneReply(body: Array(text.utf8)) }

    static func redirect(to location: String, status: Int = 302) -> SceneReply {
        SceneReply(status: status, fields: [.init(name: "Location", value: location)])
    }

    static func wire(_ wire: Wire) -> SceneReply { SceneReply(wire: wire) }
}

/// What a server got.
struct SceneRequest: Sendable {
    let method: String
    /// The path and the query.
    let target: String
    let fields: Headers
    /// The body, without chunk framing.
    let body: [UInt8]
}

/// A scene cannot say what a case asks of it.
struct NotExpressible: Error {}

extension Scene {
    /// An agent with the defaults.
    func agent() -> Agent { agent { _ in } }

    func play(_ path: String, _ replies: SceneReply...) throws {
        try play(path, replies)
    }
}
