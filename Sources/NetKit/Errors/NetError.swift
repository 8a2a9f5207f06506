/// The only error type of NetKit: the failed operation, its URL or file, and whether a retry may help.
///
/// A thread-safe value. Its description is one line for a terminal and contains no secret.
public struct NetError: Error, Sendable, CustomStringConvertible {
    private final class Storage: Sendable {
        let code: Code
        let message: String
        let nativeCode: Int
        let offset: Int?
        let response: Response<Bytes>?
        let metrics: Metrics
        let jsonFaults: [JSONFault]
        let underlying: (any Error)?
        let trust: TrustResult?
        let resumeToken: ResumeToken?

        init(
            code: Code, message: String, nativeCode: Int, offset: Int?, response: Response<Bytes>?,
            metrics: Metrics, jsonFaults: [JSONFault], underlying: (any Error)?, trust: TrustResult?,
            resumeToken: ResumeToken?
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
            self.resumeToken = resumeToken
        }
    }

    // A single reference keeps `Result` values with an error small.
    private let storage: Storage

    /// Creates an error, for a transport, an interceptor or a test.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: one line. Line ends, control characters and characters that change the direction of text become
    ///     spaces. A message of more than 4,000 bytes is truncated.
    ///   - nativeCode: the error number of the underlying library, an errno, or a status.
    ///   - offset: the position in malformed input, in bytes.
    ///   - response: the received response.
    ///   - metrics: the metrics. If `nil`, the metrics of the response.
    ///   - jsonFaults: the faults of a JSON body.
    ///   - underlying: the error that caused this one.
    ///   - trust: the evaluation result of the server's certificate.
    ///   - resumeToken: the token that continues the download.
    public init(
        _ code: Code, _ message: String, nativeCode: Int = 0, offset: Int? = nil, response: Response<Bytes>? = nil,
        metrics: Metrics? = nil, jsonFaults: [JSONFault] = [], underlying: (any Error)? = nil,
        trust: TrustResult? = nil, resumeToken: ResumeToken? = nil
    ) {
        storage = Storage(
            code: code, message: message.asMessage, nativeCode: nativeCode, offset: offset, response: response,
            metrics: metrics ?? response?.metrics ?? Metrics(), jsonFaults: jsonFaults, underlying: underlying,
            trust: trust, resumeToken: resumeToken)
    }

    /// Returns the same error with the token that continues the download.
    func attaching(_ token: ResumeToken) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response, metrics: metrics,
            jsonFaults: jsonFaults, underlying: underlying, trust: trust, resumeToken: token)
    }

    /// Returns the same error with this response.
    func attaching(_ response: Response<Bytes>) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response, jsonFaults: jsonFaults,
            underlying: underlying, trust: trust, resumeToken: resumeToken)
    }

    /// Returns the same error with the metrics of these hops.
    func replacingMetrics(_ hops: [HopMetrics]) -> NetError {
        NetError(
            code, message, nativeCode: nativeCode, offset: offset, response: response,
            metrics: Metrics(hops), jsonFaults: jsonFaults, underlying: underlying, trust: trust,
            resumeToken: resumeToken)
    }

    /// The kind of failure.
    public var code: Code { storage.code }

    /// The message: one line that begins in lower case and has no period at its end.
    public var message: String { storage.message }

    /// The error number of the underlying library: a CURLcode, an errno, an X509_V_ERR_ code or an HTTP status. 0 if
    /// there is none.
    ///
    /// With ``Code/ignored`` it is the number of the call in flight, with ``Code/queued`` that of the stored request.
    public var nativeCode: Int { storage.nativeCode }

    /// The position of the invalid byte in the input, if there is one.
    public var offset: Int? { storage.offset }

    /// The received part of the response: its head, and the body bytes that arrived before the error.
    public var response: Response<Bytes>? { storage.response }

    /// The status of the received response; `nil` if no response head was received.
    public var status: Int? { response.flatMap { $0.status == 0 ? nil : $0.status } }

    /// The metrics of each hop, even if no head arrived; empty if nothing was sent.
    public var metrics: Metrics { storage.metrics }

    /// The faults of a body that is not the expected JSON, in the order of the text.
    ///
    /// Set with ``Code/badJSON`` and ``Code/shapeMismatch``, and with ``Code/decoding`` if faults caused it.
    public var jsonFaults: [JSONFault] { storage.jsonFaults }

    /// The error that caused this one. It comes from a decoder, the source of a body, a hook or a challenge hook.
    ///
    /// With ``Code/status``, it is the error of the content type, if that is not accepted either. For a
    /// batch, a chain or a graph, it is the ``failedMember``.
    public var underlying: (any Error)? { storage.underlying }

    /// The evaluation result that refused a certificate, with the pins of its chain and of the policy. `nil` if no
    /// certificate was refused.
    public var trust: TrustResult? { storage.trust }

    /// The token that continues a failed or cancelled download; `nil` if no received bytes can be used later. See
    /// ``Agent/download(_:resuming:options:destination:)``.
    public var resumeToken: ResumeToken? { storage.resumeToken }

    /// Whether the same request may succeed when it is sent again. Whether sending it again is *safe* depends on its
    /// method.
    public var isRetryable: Bool {
        // Credentials that a proxy refused for a tunnel will be refused again.
        code.isRetryable && !(code == .proxy && response?.status == 407)
    }

    /// Whether a time limit ended the call: ``Code/timeout``, or the code of another limit, such as
    /// ``Code/connectTimeout``.
    public var isTimeout: Bool { (120...125).contains(code.rawValue) }

    /// Whether the call or its task was cancelled: ``Code/cancelled``.
    public var isCancelled: Bool { code == .cancelled }

    /// The code's name and the message.
    public var description: String { "\(code): \(message)" }
}

extension String {
    private static let maxMessageBytes = 4_000

    /// The text as one line of limited length. Messages quote decoders and servers, whose texts may be very long.
    var asMessage: String {
        // Text of a server may contain control characters that manipulate a terminal or a log.
        if utf8.count <= Self.maxMessageBytes {
            return printable(" ")
        }
        let end = utf8.index(startIndex, offsetBy: Self.maxMessageBytes)
        return String(unicodeScalars[..<end]).printable(" ") + "…"
    }
}

extension NetError {
    /// The number of the duplicate that was already in flight (``RequestTask/id``). `nil` unless the code is
    /// ``Code/ignored``.
    public var runningID: UInt64? { code == .ignored ? UInt64(exactly: nativeCode) : nil }
}

/// The part of a batch, a chain or a graph that failed, and its error.
///
/// A part can be a batch, a chain or a graph itself. Then ``NetError/failedMember`` of ``error`` is the part inside it
/// that failed.
public struct FailedMember: Error, Sendable, CustomStringConvertible {
    /// The index of the part among all parts, from 0.
    public let index: Int
    /// The name of the step. `nil` for a step without a name and for a member of a batch.
    public let name: String?
    /// The tag of the part; 0 if it has none.
    public let tag: Int
    /// The error of the part.
    public let error: NetError

    /// `2 "cities" (tag 7): …`
    public var description: String { position + ": \(error)" }

    fileprivate var position: String {
        "\(index)" + (name.map { " \"\($0.asMessage)\"" } ?? "") + (tag == 0 ? "" : " (tag \(tag))")
    }
}

extension NetError {
    /// The part that failed, if a batch, a chain or a graph of steps threw this error; otherwise `nil`. The other
    /// properties of this error are copied from the part's error.
    public var failedMember: FailedMember? { underlying as? FailedMember }

    /// Creates the error of a batch, a chain or a graph from the error of its failed part.
    ///
    /// - Parameter kind: the word for a part in the message: "member" or "step".
    init(_ kind: String, _ part: FailedMember) {
        let error = part.error
        self.init(
            error.code, "\(kind) \(part.position): \(error.message)", nativeCode: error.nativeCode,
            offset: error.offset,
            response: error.response, metrics: error.metrics, jsonFaults: error.jsonFaults, underlying: part,
            trust: error.trust)
    }
}
