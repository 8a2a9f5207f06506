#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
public import NetKit

/// A request in an ``OfflineQueue`` or an ``UploadQueue``, as stored in its file.
public struct QueuedRequest: Sendable, Hashable, Codable, Identifiable {
    /// A header field.
    package struct Field: Sendable, Hashable, Codable {
        /// The name.
        package let name: String
        /// The value as text.
        package let value: String
        /// The value's bytes, if they are not UTF-8.
        package let bytes: Data?

        init(_ field: Headers.Field) {
            name = field.name
            value = field.value
            bytes = field.isUTF8 ? nil : field.bytes.data
        }

        fileprivate var header: Headers.Field {
            bytes.map { Headers.Field(name: name, bytes: Bytes($0)) } ?? Headers.Field(name: name, value: value)
        }
    }

    /// The number of the request, from 1. It is unique in the directory; requests are sent in the order of their
    /// numbers.
    public let id: Int
    /// The method.
    package let method: String
    /// The URL. It is absolute; for an upload, it may be relative to the base URL of the agent that sends it.
    public let url: String
    /// The fields, without those that contain secrets.
    package let fields: [Field]
    /// The body, if it is in memory.
    package let body: Data?
    /// The path of the file with the body, if the body is not in memory.
    package internal(set) var bodyFile: String?
    /// The content type of the body.
    package let contentType: String?
    /// The content encoding of the body.
    package let contentEncoding: String?
    /// The time at which the request was stored, in seconds since 1970.
    public let keptAt: Double
    /// The time at which the request expires, in seconds since 1970.
    public let expiresAt: Double
    /// The earliest time of the next attempt, in seconds since 1970, if the server sent a Retry-After field.
    public internal(set) var notBefore: Double?
    /// Whether the request may use a cellular path. In this and the next properties, `nil` means the default.
    var allowsCellular: Bool?
    /// The value of `Request.keepsDotSegments`.
    var keepsDotSegments: Bool?
    /// The value of `Request.refusesMalformedFields`.
    var refusesMalformedFields: Bool?
    /// The value of `Request.omitsZeroLength`.
    var omitsZeroLength: Bool?
    /// The name of the redirect policy. If `nil`, the agent's applies.
    var redirects: String?
    /// The name of the cookie policy.
    var cookiePolicy: String?
    /// The value of `Request.acceptedStatuses`: for each range the first status, and the status after the last. Empty
    /// for `.automatic`.
    var acceptedStatuses: [Int]?
    /// The value of `Request.acceptedTypes`.
    var acceptedTypes: [String]?
    /// The value of `Request.tag`.
    var tag: Int?

    /// The accepted statuses; `nil` if they are missing or malformed.
    private var statuses: StatusSet? {
        guard let acceptedStatuses, acceptedStatuses.count.isMultiple(of: 2) else { return nil }
        if acceptedStatuses.isEmpty { return .automatic }
        let bounds = stride(from: 0, to: acceptedStatuses.count, by: 2).map { acceptedStatuses[$0...].prefix(2) }
        guard bounds.allSatisfy({ $0[$0.startIndex] <= $0[$0.startIndex + 1] }) else { return nil }
        return StatusSet(bounds.flatMap { Array(max(0, $0[$0.startIndex])..<min(1000, $0[$0.startIndex + 1])) })
    }

    /// The request to send.
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
        request.redirects = redirects.flatMap { Self.redirectNames[$0] } ?? .inherited
        request.cookiePolicy = cookiePolicy.flatMap { Self.cookieNames[$0] } ?? .sendAndStore
        request.acceptedStatuses = statuses ?? request.acceptedStatuses
        if let acceptedTypes {
            request.acceptedTypes = acceptedTypes
        }
        if let tag, tag != 0 {
            request.tag = tag
        }
        return request
    }
}

extension QueuedRequest {
    /// The names of redirect policies in the file.
    fileprivate static let redirectNames: [String: RedirectPolicy] = [
        "follow": .follow, "followDowngrades": .followDowngrades, "return": .return,
    ]
    /// The names of cookie policies in the file.
    fileprivate static let cookieNames: [String: CookiePolicy] = [
        "sendOnly": .sendOnly, "storeOnly": .storeOnly, "ignore": .ignore,
    ]
}

/// The rules for storing requests, and for keeping them after an error.
struct QueueRules: Sendable {
    var maxBodyBytes: Int
    var redaction: Redaction
    var isWanted: @Sendable (Request<Bytes>) -> Bool

    /// Returns the reason why a request cannot be stored, or `nil` if it can.
    func refusal(of call: Call) -> String? {
        let request = call.request
        if call.kind != .send {
            return "its response is streamed or saved to a file, and a queued request has no receiver"
        }
        if !request.method.isIdempotent, request.headers["Idempotency-Key"] == nil {
            return "it is not idempotent and has no Idempotency-Key"
        }
        if !isWanted(request) {
            return "the queue's filter excluded it"
        }
        if let setting = Self.unstoredSetting(of: request) {
            return "it has \(setting) of its own, which the queue does not store"
        }
        // A field with a secret can be omitted and added again later, but a secret in a URL cannot.
        if redaction.hiding(url: request.url) != request.url {
            return "its URL contains a secret"
        }
        return request.body.flatMap { refusal(of: $0, in: request) }
    }

    /// Returns the name of a setting that is not stored, although the request without it would have a different
    /// recipient or content.
    private static func unstoredSetting(of request: Request<Bytes>) -> String? {
        let settings: [(String, Bool)] = [
            ("a trust policy", request.trust != nil), ("a proxy", request.ownProxy != nil),
            ("a socket", request.unixSocket != nil), ("an address", !request.addressOverrides.isEmpty),
            ("trailers", request.trailers != nil),
        ]
        return settings.first { $0.1 }?.0
    }

    private func refusal(of body: Body, in request: Request<Bytes>) -> String? {
        if body.filePath != nil {
            return body.fileOffset == 0 ? nil : "its body is only a part of a file"
        }
        guard let bytes = body.wholeBytes else { return "its body is a stream" }
        if bytes.count > maxBodyBytes {
            return "its body is larger than \(maxBodyBytes) bytes (maxBodyBytes)"
        }
        return secret(in: body, of: request)
    }

    /// Returns the reason why a body must not be stored if it is a form or JSON text with a secret, or `nil`. Files,
    /// and bodies that are read while they are sent, are not searched.
    func secret(in body: Body, of request: Request<Bytes>) -> String? {
        let type = request.headers["Content-Type"] ?? body.contentType
        let containsSecret =
            if let bytes = body.wholeBytes {
                redaction.hiding(body: bytes, contentType: type).map { !$0.utf8.elementsEqual(Array(bytes)) } ?? false
            } else {
                body.multipartForm?.holdsField { redaction.bodyFields.contains($0, as: .parameter) } ?? false
            }
        return containsSecret ? "its body contains a secret" : nil
    }

    /// Returns true if a request that failed with this error stays in the queue, because the error may be temporary or
    /// concerns only this process.
    static func isTemporary(_ error: NetError) -> Bool {
        let codesOfThisProcess: [NetError.Code] = [
            .closed, .circuitOpen, .cancelled, .cellularRefused, .noMemory, .descriptors, .thread, .ignored,
        ]
        switch error.code {
        // The credentials may have been unavailable for a temporary reason.
        case .authentication: return (error.underlying as? NetError).map(isTemporary) ?? false
        case .status: return temporaryStatuses.contains(error.nativeCode)
        default: return error.isRetryable || codesOfThisProcess.contains(error.code)
        }
    }

    /// The statuses of responses that may be temporary failures.
    static let temporaryStatuses: Set<Int> = [408, 429, 502, 503, 504]

    /// The backoff before the next attempt: one second, doubled each time, at most five minutes.
    static func backoff(after failures: Int) -> Duration {
        min(.seconds(300), .seconds(1) * (1 << min(max(0, failures - 1), 9)))
    }

    /// Returns the record of a request to be stored, without the fields that contain secrets.
    func record(_ request: Request<Bytes>, id: Int, keptAt: Double, lifetime: Duration) -> QueuedRequest {
        let fields = request.headers.filter { field in
            field.name.isEqualIgnoringASCIICase(to: "Idempotency-Key") || !redaction.headers.contains(field.name)
        }
        let file = request.body?.filePath?.absolutePath
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
        record.cookiePolicy = QueuedRequest.cookieNames.first { $0.value == request.cookiePolicy }?.key
        let statuses = request.acceptedStatuses
        record.acceptedStatuses =
            statuses == .automatic ? [] : statuses.ranges?.flatMap { [$0.lowerBound, $0.upperBound] }
        record.acceptedTypes = request.acceptedTypes
        record.tag = request.tag == 0 ? nil : request.tag
        return record
    }
}
