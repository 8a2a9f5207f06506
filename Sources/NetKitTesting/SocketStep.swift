public import NetKit

/// A step of a server's side of a WebSocket, for ``StubReply/webSocket(_:headers:)``.
///
///     stub.register("/feed", with: .webSocket([.text("one"), .receive, .close(.normal)]))
///
/// The server answers pings and close frames in every step except ``stopReading`` and ``wait(_:)``. After the last step
/// it drops every message until the client closes the socket.
public enum SocketStep: Sendable {
    /// Sends a text.
    case text(String)
    /// Sends a binary message.
    case binary(Bytes)
    /// Waits for a message of the client.
    case receive
    /// Sends every message back, until the client closes the socket.
    case echo
    /// Waits until the gate is open. A ``MockServer`` does not support it.
    case wait(StubGate)
    /// Reads nothing more.
    case stopReading
    /// Closes the socket with a code, and waits for the client.
    case close(WebSocket.CloseCode, reason: String = "")
    /// Ends the connection without a close frame.
    case drop
}

extension StubReply {
    /// Returns a reply that opens a WebSocket and runs these steps.
    ///
    /// - Parameters:
    ///   - steps: the steps of the server.
    ///   - headers: fields of the response, such as the chosen `Sec-WebSocket-Protocol`.
    public static func webSocket(_ steps: [SocketStep] = [.echo], headers: Headers = [:]) -> StubReply {
        var reply = StubReply(status: 101, headers: headers)
        reply.socketSteps = steps
        return reply
    }
}

/// A ``SocketStep`` in the form that the C server requires.
struct MockSocketStep: Sendable {
    /// The actions of the C server.
    enum Action: Sendable {
        case text, binary, receive, echo, close, end, stall
    }

    var action: Action
    var code: UInt16 = 0
    var bytes: [UInt8] = []

    /// Converts steps. Throws ``NetKit/NetError/Code/usage`` for a step that waits for a gate.
    static func steps(_ steps: [SocketStep]) throws(NetError) -> [MockSocketStep] {
        var converted: [MockSocketStep] = []
        for step in steps {
            switch step {
            case .text(let text): converted.append(.init(action: .text, bytes: Array(text.utf8)))
            case .binary(let bytes): converted.append(.init(action: .binary, bytes: Array(bytes)))
            case .receive: converted.append(.init(action: .receive))
            case .echo: converted.append(.init(action: .echo))
            case .wait: throw NetError(.usage, "a mock server's replies cannot wait for a gate; a StubTransport's can")
            case .stopReading: converted.append(.init(action: .stall))
            case .close(let code, let reason):
                let number = code == .none ? 0 : code.rawValue
                converted.append(.init(action: .close, code: number, bytes: Array(reason.utf8)))
            case .drop: converted.append(.init(action: .end))
            }
        }
        return converted
    }
}
