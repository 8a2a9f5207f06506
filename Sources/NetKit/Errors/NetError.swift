/// The only error type of NetKit: what failed, on what, and whether a retry may help.
///
/// A thread-safe value. Its description is one line for a terminal and contains no secret.
public struct NetError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. The numbers below 200 are those of the C core; those from 200 on are NetKit's own.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number: usage 1–19, resources 20–39, format 40–79, trust 80–99, network 100–149, control 150–199.
        public let rawValue: Int32

        /// Creates a code from its number.
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
        let jsonFaults: [JSONFault]
        let underlying: (any Error)?
        let trust: TrustVerdict?

        init(
            code: Code, message: String, nativeCode: Int, offset: Int?, response: Response<Bytes>?,
            metrics: Metrics, jsonFaults: [JSONFault], underlying: (any Error)?, trust: TrustVerdict?
        ) {
            self.code = code
            self.message = message
            self.nativeCode = nativeCode
            self.offset = offset
            self.response = response
            self.metrics = metrics
            self.jsonFaults = jsonFaults
            self.underlying = underlying
            self.trust = trust
        }
    }

    // One word, so that results with an error stay small.
    private let storage: Storage

    /// Creates an error, for a transport, an interceptor or a test.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: one line. Line ends, control characters and those that change the direction of text become spaces;
    ///     after 4,000 bytes it is cut.
    ///   - nativeCode: the number of the underlying library, an errno, or a status.
    ///   - offset: the position in malformed input, in bytes.
    ///   - response: the received response.
    ///   - metrics: the metrics; `nil` takes the response's.
    ///   - jsonFaults: the faults of a JSON body.
    ///   - underlying: the error that caused this one.
    ///   - trust: the evaluation result of the server's certificate.
    public init(
        _ code: Code, _ message: String, nativeCode: Int = 0, offset: Int? = nil, response: Response<Bytes>? = nil,
        metrics: Metrics? = nil, jsonFaults: [JSONFault] = [], underlying: (any Error)? = nil,
        trust: TrustVerdict? = nil
    ) {
        storage = Storage(
            code: code, message: message.asMessage, nativeCode: nativeCode, offset: offset, response: response,
            metrics: metrics ?? response?.metrics ?? Metrics(), jsonFaults: jsonFaults, underlying: underlying,
            trust: trust)
    }

    /// Returns the same error with the response that it is about.
    func telling(_ response: Response<Bytes>) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response, jsonFaults: jsonFaults,
            underlying: underlying, trust: trust)
    }

    /// Returns the same error with the metrics of these hops.
    func costing(_ hops: [HopMetrics]) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response,
            metrics: Metrics(hops), jsonFaults: jsonFaults, underlying: underlying, trust: trust)
    }

    /// The kind of failure.
    public var code: Code { storage.code }

    /// One line: lower-case start, no trailing period.
    public var message: String { storage.message }

    /// The underlying number: a CURLcode, an errno, an X509_V_ERR_ code or a status. With ``Code/ignored`` and
    /// ``Code/queued``, the number of the other call or of the stored request. 0 if there is none.
    public var nativeCode: Int { storage.nativeCode }

    /// The position of the invalid byte in the input, if there is one.
    public var offset: Int? { storage.offset }

    /// The part of the response that had arrived: head and body, as far as received.
    public var response: Response<Bytes>? { storage.response }

    /// The metrics of each hop, even if no head arrived; empty if nothing was sent.
    public var metrics: Metrics { storage.metrics }

    /// The faults of a text that is not the expected JSON, in the order of the text. Set with ``Code/badJSON`` and
    /// ``Code/shapeMismatch``, and with ``Code/undecodable`` if they are its cause.
    public var jsonFaults: [JSONFault] { storage.jsonFaults }

    /// The error that caused this one: of a decoder, a body's source, a hook or a challenge handler. With
    /// ``Code/unacceptableStatus``, the error of the content type, if that is not accepted either. For a batch, a chain
    /// or a graph, its ``failedPart``.
    public var underlying: (any Error)? { storage.underlying }

    /// The evaluation result that refused a certificate, with the pins of chain and policy; `nil` if none did.
    public var trust: TrustVerdict? { storage.trust }

    /// Whether the same request may succeed when it is sent again; whether that is *safe* depends on its method.
    public var isRetryable: Bool {
        // Credentials that a proxy refused for a tunnel will be refused again.
        code.isRetryable && !(code == .proxy && response?.status == 407)
    }

    /// The code's name and the message.
    public var description: String { "\(code): \(message)" }
}

extension String {
    private static let maxMessageBytes = 4_000

    /// The text as a message. Messages quote decoders and servers, whose texts may be as long as a body.
    var asMessage: String {
        // A quoted text may try to manipulate a terminal or a log.
        if utf8.count <= Self.maxMessageBytes {
            return printable(" ")
        }
        let end = utf8.index(startIndex, offsetBy: Self.maxMessageBytes)
        return String(unicodeScalars[..<end]).printable(" ") + "…"
    }
}
