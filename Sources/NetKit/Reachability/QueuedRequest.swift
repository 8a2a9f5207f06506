#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request in an ``OfflineQueue`` or an ``UploadQueue``, as stored in its file.
public struct QueuedRequest: Sendable, Hashable, Codable, Identifiable {
    /// A field.
    public struct Field: Sendable, Hashable, Codable {
        /// The name.
        public let name: String
        /// The value as text.
        public let value: String
        /// The value's bytes, if they are not UTF-8.
        public let bytes: Data?

        init(_ field: Headers.Field) {
            name = field.name
            value = field.value
            bytes = field.isUTF8 ? nil : field.bytes.data
        }

        fileprivate var header: Headers.Field {
            bytes.map { Headers.Field(name: name, bytes: Bytes($0)) } ?? Headers.Field(name: name, value: value)
        }
    }

    /// The number in the queue's order, from 1; unique in the directory.
    public let id: Int
    /// The method.
    public let method: String
    /// The URL. It is absolute, or for an upload relative to the base of the sending agent.
    public let url: String
    /// The fields, without those that contain secrets.
    public let fields: [Field]
    /// The body, if it is in memory.
    public let body: Data?
    /// The path of the file that is the body.
    public internal(set) var bodyFile: String?
    /// The content type of the body.
    public let contentType: String?
    /// The content encoding of the body.
    public let contentEncoding: String?
    /// The time at which it was stored, in seconds since 1970.
    public let keptAt: Double
    /// The time at which it expires, in seconds since 1970.
    public let expiresAt: Double
    /// The earliest time of the next attempt, in seconds since 1970, if a server requested one (Retry-After).
    public internal(set) var notBefore: Double?
    /// Whether it may use a cellular path; `nil` is the default.
    var allowsCellular: Bool?
    /// Whether its URL is sent with its dot segments; `nil` is the default.
    var keepsDotSegments: Bool?
    /// Whether malformed field names are refused; `nil` is the default.
    var refusesMalformedFields: Bool?
    /// Whether Content-Length is omitted for its empty body; `nil` is the default.
    var omitsZeroLength: Bool?
    /// The redirect policy; `nil` is the agent's.
    var redirects: String?
    /// The use of cookies; `nil` is the default.
    var cookieUse: String?

    /// The request to send. It accepts every status.
    public var request: Request<Bytes> {
        var sent: Body?
        if let body {
            sent = Body(Bytes(body), contentType: contentType)
        } else if let bodyFile {
            sent = .file(bodyFile, contentType: contentType)
        }
        sent?.contentEncoding = contentEncoding
        var request = Request<Bytes>(
            url, method: Method(rawValue: method),
            headers: Headers(fields.map(\.header)), body: sent)
        if allowsCellular == false {
            request.allowsCellular = false
        }
        request.keepsDotSegments = keepsDotSegments ?? false
        request.refusesMalformedFields = refusesMalformedFields ?? false
        request.omitsZeroLength = omitsZeroLength ?? false
        request.redirects = redirects.flatMap { Self.redirectNames[$0] }
        request.cookieUse = cookieUse.flatMap { Self.cookieNames[$0] } ?? .sendAndStore
        return request
    }
}

extension QueuedRequest {
    /// The names in the file.
    fileprivate static let redirectNames: [String: RedirectPolicy] = [
        "follow": .follow, "followDowngrades": .followDowngrades, "return": .return,
    ]
    /// The names in the file.
    fileprivate static let cookieNames: [String: CookieUse] = [
        "sendOnly": .sendOnly, "storeOnly": .storeOnly, "ignore": .ignore,
    ]
}

/// The rules for storing requests.
struct QueueRules: Sendable {
    var maxBodyBytes: Int
    var redaction: Redaction
    var isWanted: @Sendable (Request<Bytes>) -> Bool

    /// Returns why a request cannot be stored, or `nil` if it can.
    func refusal(of call: Call) -> String? {
        let request = call.request
        if call.kind != .send {
            return "what comes back would go to nobody: it is streamed or saved"
        }
        if !request.method.isIdempotent, request.headers["Idempotency-Key"] == nil {
            return "to send it twice may do harm: it has no Idempotency-Key"
        }
        if !isWanted(request) {
            return "it is not wanted"
        }
        if let own = Self.unkept(of: request) {
            return "it has \(own) of its own, which is not written down"
        }
        // A secret in a field can be omitted and added again; in a URL it cannot.
        if redaction.hiding(url: request.url) != request.url {
            return "there is a secret in its URL"
        }
        return request.body.flatMap { refusal(of: $0, in: request) }
    }

    /// Properties that determine the recipient: without them the request would go elsewhere.
    private static func unkept(of request: Request<Bytes>) -> String? {
        let own: [(String, Bool)] = [
            ("a trust policy", request.trust != nil), ("a proxy", request.proxy != nil),
            ("a socket", request.unixSocket != nil), ("an address", !request.addressOverrides.isEmpty),
        ]
        return own.first { $0.1 }?.0
    }

    private func refusal(of body: Body, in request: Request<Bytes>) -> String? {
        if case .file = body.content {
            return nil
        }
        guard let bytes = body.wholeBytes else { return "its body is read while it is sent" }
        if bytes.count > maxBodyBytes {
            return "its body is larger than \(maxBodyBytes) bytes"
        }
        return secret(in: body, of: request)
    }

    /// Returns why a body of acceptable size cannot be stored: a form or a JSON text with a secret. Files, and bodies
    /// that are read while they are sent, are not searched.
    func secret(in body: Body, of request: Request<Bytes>) -> String? {
        let type = request.headers["Content-Type"] ?? body.contentType
        let holdsSecret =
            if let bytes = body.wholeBytes {
                redaction.hiding(body: bytes, contentType: type).map { !$0.utf8.elementsEqual(Array(bytes)) } ?? false
            } else {
                body.multipartForm?.holdsField { redaction.bodyFields.contains($0, as: .parameter) } ?? false
            }
        return holdsSecret ? "there is a secret in its body" : nil
    }

    /// Whether a request with this error stays in the queue. The error may be temporary, or concern this process and
    /// not the request.
    static func mayPass(_ error: NetError) -> Bool {
        let ofThisProcess: [NetError.Code] = [
            .closed, .circuitOpen, .cancelled, .cellularRefused, .noMemory, .descriptors, .thread, .ignored,
        ]
        switch error.code {
        // Credentials that were unavailable for a temporary reason.
        case .authentication: return (error.underlying as? NetError).map(mayPass) ?? false
        case .unacceptableStatus: return passingStatuses.contains(error.nativeCode)
        default: return error.isRetryable || ofThisProcess.contains(error.code)
        }
    }

    /// Statuses that may be temporary.
    static let passingStatuses: Set<Int> = [408, 429, 502, 503, 504]

    /// The backoff before the next attempt: one second, doubled each time, at most five minutes.
    static func rest(after failures: Int) -> Duration {
        min(.seconds(300), .seconds(1) * (1 << min(max(0, failures - 1), 9)))
    }

    /// Returns the record to write, with the fields that contain no secrets.
    func record(_ request: Request<Bytes>, id: Int, keptAt: Double, lifetime: Duration) -> QueuedRequest {
        let fields = request.headers.filter { field in
            field.name.isEqualIgnoringASCIICase(to: "Idempotency-Key") || !redaction.headers.contains(field.name)
        }
        var file: String?
        if case .file(let path) = request.body?.content {
            file = path.absolutePath
        }
        var record = QueuedRequest(
            id: id, method: request.method.rawValue, url: request.url,
            fields: fields.map { .init($0) },
            body: file == nil ? request.body?.wholeBytes?.data : nil, bodyFile: file,
            contentType: request.body?.contentType, contentEncoding: request.body?.contentEncoding, keptAt: keptAt,
            expiresAt: keptAt + lifetime / .seconds(1))
        record.allowsCellular = request.allowsCellular ? nil : false
        record.keepsDotSegments = request.keepsDotSegments ? true : nil
        record.refusesMalformedFields = request.refusesMalformedFields ? true : nil
        record.omitsZeroLength = request.omitsZeroLength ? true : nil
        record.redirects = QueuedRequest.redirectNames.first { $0.value == request.redirects }?.key
        record.cookieUse = QueuedRequest.cookieNames.first { $0.value == request.cookieUse }?.key
        return record
    }
}
