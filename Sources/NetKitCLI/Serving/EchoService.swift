import NetKit

/// Sends the body of each request back, and each message of a WebSocket.
final class EchoService: RequestHandler {
    private let log: @Sendable (String) -> Void
    /// The current request of each connection.
    private let requests = Lock<[Int: ServedRequest]>([:])

    /// - Parameter log: called with a line for each request.
    init(log: @escaping @Sendable (String) -> Void) {
        self.log = log
    }

    func reply(to request: ServedRequest?, connection: Int) -> ServedReply {
        guard let request else { return .page(431, "the request header is too large") }
        requests.withLock { $0[connection] = request }
        var reply = ServedReply()
        if request.opensSocket {
            reply.socketSteps = [SocketStep(action: .echo)]
        } else {
            reply.isEcho = true
        }
        return reply
    }

    func received(_ bytes: [UInt8], of length: Int, connection: Int) {
        guard let request = requests.withLock({ $0.removeValue(forKey: connection) }) else { return }
        log("\(request.opensSocket ? 101 : 200) \(request.method) \(request.target) \(length)")
    }

    func replied(connection: Int) {}
}
