#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request that an ``OfflineQueue`` or an ``UploadQueue`` keeps: what of it stands in its file.
public struct QueuedRequest: Sendable, Hashable, Codable, Identifiable {
    /// A field.
    public struct Field: Sendable, Hashable, Codable {
        /// Its name.
        public let name: String
        /// Its value as text.
        public let value: String
        /// Its value's bytes, where they are not UTF-8.
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

    /// Its place in the order, from 1; no other one that the folder holds has it.
    public let id: Int
    /// The method.
    public let method: String
    /// The URL: absolute, or of an upload relative to the base of the agent that sends it.
    public let url: String
    /// The fields, without those that hold secrets.
    public let fields: [Field]
    /// The body, where it is in memory.
    public let body: Data?
    /// The path of the file that is the body.
    public internal(set) var bodyFile: String?
    /// What the body says of itself.
    public let contentType: String?
    /// What the body says of itself.
    public let contentEncoding: String?
    /// When it was kept, in seconds since 1970.
    public let keptAt: Double
    /// When it is given up, in seconds since 1970.
    public let expiresAt: Double
    /// Not sent before, in seconds since 1970, since a server has said so (Retry-After); nil at any time.
    public internal(set) var notBefore: Double?
    /// Whether it may go over a modem; nil says nothing.
    var allowsCellular: Bool?
    /// Whether its URL is sent with its dot segments; nil says nothing.
    var keepsDotSegments: Bool?
    /// Whether malformed field names are refused; nil says nothing.
    var refusesMalformedFields: Bool?
    /// Whether its empty body is not announced; nil says nothing.
    var omitsZeroLength: Bool?
    /// What becomes of redirects; nil is what the agent says.
    var redirects: String?
    /// Which way cookies go; nil says nothing.
    var cookieUse: String?

    /// The request to send, whatever the status of its answer.
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
    /// As they are written down.
    fileprivate static let redirectNames: [String: RedirectPolicy] = [
        "follow": .follow, "followDowngrades": .followDowngrades, "return": .return,
    ]
    /// As they are written down.
    fileprivate static let cookieNames: [String: CookieUse] = [
        "sendOnly": .sendOnly, "storeOnly": .storeOnly, "ignore": .ignore,
    ]
}

/// What may be written down of requests.
struct QueueRules: Sendable {
    var maxBodyBytes: Int
    var redaction: Redaction
    var isWanted: @Sendable (Request<Bytes>) -> Bool

    /// Why a request cannot be kept; nil when it can.
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
        // What is secret in fields can be left out and added again; here it cannot.
        if redaction.hiding(url: request.url) != request.url {
            return "there is a secret in its URL"
        }
        return request.body.flatMap { refusal(of: $0, in: request) }
    }

    /// What decides who gets the request: without it another one would.
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

    /// Why a body cannot be kept although there is room for it: a form or a JSON text with a secret. Files, and what is
    /// read while it is sent, are not looked into.
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

    /// Whether an error leaves a request where it is: it may succeed later, or it says nothing of the request, which was
    /// not sent for a reason of this process.
    static func mayPass(_ error: NetError) -> Bool {
        let ofThisProcess: [NetError.Code] = [
            .closed, .circuitOpen, .cancelled, .cellularRefused, .noMemory, .descriptors, .thread, .ignored,
        ]
        switch error.code {
        // Credentials that could not be had for a reason that passes.
        case .authentication: return (error.underlying as? NetError).map(mayPass) ?? false
        case .unacceptableStatus: return passingStatuses.contains(error.nativeCode)
        default: return error.isRetryable || ofThisProcess.contains(error.code)
        }
    }

    /// Statuses that may be others later.
    static let passingStatuses: Set<Int> = [408, 429, 502, 503, 504]

    /// The wait before the same one is tried again: a second, then twice as long each time, five minutes at most.
    static func rest(after failures: Int) -> Duration {
        min(.seconds(300), .seconds(1) * (1 << min(max(0, failures - 1), 9)))
    }

    /// What is written down; the fields without secrets.
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
