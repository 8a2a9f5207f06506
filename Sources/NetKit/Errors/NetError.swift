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

    // One word, so that results that carry an error stay small.
    private let storage: Storage

    /// An error of a transport, an interceptor or a test.
    ///
    /// - Parameters:
    ///   - code: what kind of failure it is.
    ///   - message: line ends, control characters and those that turn text around become spaces; behind 4,000 bytes it is
    ///     cut.
    ///   - nativeCode: the number of the library underneath, an errno, or a status.
    ///   - offset: the place in what was malformed, in bytes.
    ///   - response: what came back nevertheless.
    ///   - metrics: nil takes the response's.
    ///   - jsonFaults: what is wrong with the JSON of the body.
    ///   - underlying: the error that caused this one.
    ///   - trust: the judgement of the server's certificate.
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

    /// The same error with the response that it is about.
    func telling(_ response: Response<Bytes>) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response, jsonFaults: jsonFaults,
            underlying: underlying, trust: trust)
    }

    /// The same at the cost of these hops.
    func costing(_ hops: [HopMetrics]) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response,
            metrics: Metrics(hops), jsonFaults: jsonFaults, underlying: underlying, trust: trust)
    }

    /// What kind of failure it is.
    public var code: Code { storage.code }

    /// One line: lower-case start, no trailing period.
    public var message: String { storage.message }

    /// The number underneath: a CURLcode, an errno, an X509_V_ERR_ code or a status; under ``Code/ignored`` and
    /// ``Code/queued`` that of the other call or of what is kept. 0 when there is none.
    public var nativeCode: Int { storage.nativeCode }

    /// The byte of the input that is at fault, where one is.
    public var offset: Int? { storage.offset }

    /// What had arrived of the response: head and body, as far as they came.
    public var response: Response<Bytes>? { storage.response }

    /// What each hop cost, also when no head arrived; empty when nothing was sent.
    public var metrics: Metrics { storage.metrics }

    /// Where a text is not the JSON that was wanted, in the order of the text; with ``Code/badJSON`` and
    /// ``Code/shapeMismatch``, and under ``Code/undecodable`` where that is why.
    public var jsonFaults: [JSONFault] { storage.jsonFaults }

    /// The error that a decoder, a body's source, a hook or a challenge handler threw; under
    /// ``Code/unacceptableStatus`` that of the content type, where it would not have done either; of a batch, a chain
    /// or a graph its ``failedPart``.
    public var underlying: (any Error)? { storage.underlying }

    /// The judgement that refused a certificate, with the chain's pins and the policy's; nil when none did.
    public var trust: TrustVerdict? { storage.trust }

    /// Whether the same request may succeed when it is sent again; whether that is *safe* depends on its method.
    public var isRetryable: Bool {
        // Credentials that a proxy refuses for a tunnel are not better the next time.
        code.isRetryable && !(code == .proxy && response?.status == 407)
    }

    /// The message, with the code's name in front.
    public var description: String { "\(code): \(message)" }
}

extension String {
    private static let maxMessageBytes = 4_000

    /// Messages quote what decoders and servers say, which may be as long as a body.
    var asMessage: String {
        // What is quoted may be meant to confuse a terminal or a log.
        if utf8.count <= Self.maxMessageBytes {
            return printable(" ")
        }
        let end = utf8.index(startIndex, offsetBy: Self.maxMessageBytes)
        return String(unicodeScalars[..<end]).printable(" ") + "…"
    }
}
