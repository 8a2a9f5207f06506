#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension WebSocket {
    /// A message.
    public enum Message: Sendable, Hashable {
        /// A text. It is sent as UTF-8; a received text is checked.
        case text(String)
        /// Any bytes.
        case binary(Bytes)

        /// The content as bytes: those of a binary message, or the UTF-8 of a text.
        package var bytes: Bytes {
            switch self {
            case .text(let text): Bytes(Array(text.utf8))
            case .binary(let bytes): bytes
            }
        }

        /// The text of ``text(_:)``; `nil` for bytes.
        public var text: String? {
            if case .text(let text) = self { text } else { nil }
        }

        /// The bytes of ``binary(_:)``; `nil` for a text.
        public var data: Data? {
            if case .binary(let bytes) = self { bytes.data } else { nil }
        }

        /// Hashes the content.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(text)
            bytes.withSpan { span in
                for index in span.indices {
                    hasher.combine(span[index])
                }
            }
        }
    }

    /// Returns the messages as values, decoded from JSON with the ``JSONCoding`` of the request or the agent.
    ///
    ///     for try await event in socket.messages(as: Event.self) { … }
    ///
    /// Texts and binary messages are decoded alike. A message that cannot be decoded ends the sequence with
    /// ``NetError/Code/decoding``; its bytes are in ``NetError/response``. The socket stays open, and another
    /// sequence continues with the next message.
    public func messages<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self
    ) -> some AsyncSequence<Value, NetError> & Sendable {
        SocketMessages(socket: self) { [response] (message: Message) throws(NetError) in
            try message.decoded(as: Value.self, of: response)
        }
    }
}

/// The messages of a socket as values; see ``WebSocket/messages`` and ``WebSocket/messages(as:)``.
struct SocketMessages<Value: Sendable>: AsyncSequence, Sendable {
    let socket: WebSocket
    let value: @Sendable (WebSocket.Message) throws(NetError) -> Value

    /// Returns the values one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let messages: SocketMessages

        /// Returns the next value, or `nil` after the end of the socket.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Value? {
            guard let message = try await messages.socket.next() else { return nil }
            return try messages.value(message)
        }
    }

    /// Returns an iterator.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(messages: self)
    }
}

extension WebSocket.Message {
    /// Decodes the message as a body with the head of the handshake's response, so that errors name the URL.
    fileprivate func decoded<Value: Decodable & Sendable>(
        as type: Value.Type, of handshake: Response<Bytes>
    ) throws(NetError) -> Value {
        var response = handshake
        response.bytes = bytes
        response.value = response.bytes
        do {
            return try response.jsonCoding.value.value(in: response)
        } catch {
            throw NetError(decoding: error, to: Value.self, from: response)
        }
    }
}

extension WebSocket {
    /// The code of a close frame (RFC 6455, 7.4). Applications use 4000 to 4999: `close(code: 4001)`.
    public struct CloseCode: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible
    {
        /// The number.
        public let rawValue: UInt16

        /// Creates a code from its number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Creates a code from its number.
        public init(integerLiteral value: UInt16) {
            rawValue = value
        }

        /// The number as text.
        public var description: String { "\(rawValue)" }
    }

    /// A close frame.
    public struct CloseFrame: Sendable, Hashable {
        /// The code; ``CloseCode/none`` if the frame has none.
        public var code: CloseCode
        /// The reason; empty if the frame has none.
        public var reason: String

        /// Creates a frame.
        package init(_ code: CloseCode, reason: String = "") {
            self.code = code
            self.reason = reason
        }
    }
}

extension WebSocket.CloseCode {
    /// The purpose of the socket is fulfilled (1000).
    public static let normal: Self = 1000
    /// The server is shutting down, or the client leaves (1001).
    public static let goingAway: Self = 1001
    /// The close frame has no code (1005). It cannot be sent.
    public static let none: Self = 1005
    /// The content of a message does not fit its kind, such as a text that is not UTF-8 (1007).
    public static let invalidData: Self = 1007
    /// A message violates a policy (1008).
    public static let policyViolation: Self = 1008
    /// A message is too large (1009).
    public static let messageTooLarge: Self = 1009

    /// Whether a server ends a socket in order with this code: 1000, 1001 or no code.
    var isOrderly: Bool { [.normal, .goingAway, .none].contains(self) }

    /// Whether a new connection may succeed after this code: 1001, 1005, and 1011 to 1014.
    public var isTemporary: Bool { self == .goingAway || self == .none || (1011...1014).contains(rawValue) }
}

extension NetError {
    /// Creates the error for a close frame of the server; `nil` if it ends the socket in order.
    package init?(endedBy frame: WebSocket.CloseFrame, response: Response<Bytes>?) {
        if frame.code.isOrderly {
            return nil
        }
        let reason = frame.reason.isEmpty ? "" : ": \(frame.reason)"
        self.init(
            .closedByServer, "the server closed the WebSocket with code \(frame.code)\(reason)",
            nativeCode: Int(frame.code.rawValue), response: response)
    }
}
