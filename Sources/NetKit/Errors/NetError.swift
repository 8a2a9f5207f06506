/// The one error that NetKit throws: what happened, to what, and whether trying again may help.
///
/// A thread-safe value. Its description is one line for a terminal and holds no secret.
public struct NetError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; the numbers are those of the C core, from 200 on NetKit's own.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number: usage 1–19, resources 20–39, format 40–79, trust 80–99, network 100–149, control 150–199.
        public let rawValue: Int32

        /// A code of this number.
        public init(rawValue: Int32) {
            self.rawValue = rawValue
        }
    }

    private final class Storage: Sendable {
        let code: Code
        let message: String
        let nativeCode: Int
        let offset: Int?
        let response: Response<Bytes>?
        let metrics: Metrics
        let underlying: (any Error)?

        init(
            code: Code, message: String, nativeCode: Int, offset: Int?, response: Response<Bytes>?,
            metrics: Metrics, underlying: (any Error)?
        ) {
            self.code = code
            self.message = message
            self.nativeCode = nativeCode
            self.offset = offset
            self.response = response
            self.metrics = metrics
            self.underlying = underlying
        }
    }

    // One word, so that results that carry an error stay small.
    private let storage: Storage

    /// An error of a transport, an interceptor or a test.
    ///
    /// - Parameters:
    ///   - message: line ends and control characters in it become spaces.
    ///   - metrics: nil takes the response's.
    public init(
        _ code: Code, _ message: String, nativeCode: Int = 0, offset: Int? = nil, response: Response<Bytes>? = nil,
        metrics: Metrics? = nil, underlying: (any Error)? = nil
    ) {
        storage = Storage(
            code: code, message: message.onOneLine, nativeCode: nativeCode, offset: offset, response: response,
            metrics: metrics ?? response?.metrics ?? Metrics(), underlying: underlying)
    }

    /// What kind of failure it is.
    public var code: Code { storage.code }

    /// One line: lower-case start, no trailing period.
    public var message: String { storage.message }

    /// The number underneath: a CURLcode, an errno or an X509_V_ERR_ code; 0 when there is none.
    public var nativeCode: Int { storage.nativeCode }

    /// The byte of the input that is at fault, where one is.
    public var offset: Int? { storage.offset }

    /// What had arrived of the response: head and body, as far as they came.
    public var response: Response<Bytes>? { storage.response }

    /// What each hop cost, also when no head arrived; empty when nothing was sent.
    public var metrics: Metrics { storage.metrics }

    /// The error that a decoder, a body's source or a challenge handler threw.
    public var underlying: (any Error)? { storage.underlying }

    /// Whether the same request may succeed when it is sent again; whether that is *safe* depends on its method.
    public var isRetryable: Bool { code.isRetryable }

    /// The message, with the code's name in front.
    public var description: String { "\(code): \(message)" }
}

extension String {
    /// Messages quote what decoders and servers say, which may be meant to confuse a terminal or a log.
    fileprivate var onOneLine: String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            return self
        }
        return String(
            map { character in
                let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
                return character.isNewline || isControl ? " " : character
            })
    }
}
