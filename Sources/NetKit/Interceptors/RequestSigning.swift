/// Signs each request with HMAC-SHA256 (RFC 2104). The signature proves to the server who sent the request, and that it
/// was not changed.
///
///     configuration.interceptors = [Retry(), RequestSigning(keyID: "app", key: secret)]
///
/// The signed text consists of these lines, separated by line feeds:
/// 1. the method
/// 2. path and query, as sent
/// 3. each signed field as `name:value`, with the name in lower case, in the order of ``fields``. The value of a
///    missing field is empty.
/// 4. the timestamp
/// 5. the SHA-256 digest of the body in hex
///
/// The field ``timestampField`` contains the timestamp. The field ``signatureField`` contains
/// `keyId=…,signature=…`, with the signature in hex. If the interceptor comes after ``Retry``, each attempt is signed
/// again. A multipart form, and a body that is read while it is sent, cannot be signed and cause
/// ``NetError/Code/usage``.
public struct RequestSigning: OriginBoundInterceptor, PromptInterceptor {
    /// The name by which the server knows the key.
    package let keyID: String
    /// The names of the signed fields (host and content-type).
    public var fields = ["host", "content-type"]
    /// The name of the field for the timestamp, in seconds since 1970.
    public var timestampField = "X-Timestamp"
    /// The name of the field for the key's name and the signature.
    public var signatureField = "X-Signature"
    /// The clock.
    package var time: TimeSource
    private let key: Bytes

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - keyID: the name by which the server knows the key.
    ///   - key: the secret key. A key of more than 64 bytes is hashed first.
    ///   - time: the clock.
    public init(keyID: String, key: Bytes, time: TimeSource = .system) {
        self.keyID = keyID
        self.key = key
        self.time = time
    }

    /// Adds the timestamp and the signature to the request.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        var call = call
        try call.finalizeURL()
        let timestamp = String(Int64(moment: time.epochSeconds()))
        let text = try signedContent(of: call.request, at: timestamp)
        let signature = try Digest.hmacSHA256(key: key, Bytes(text.bytes)).hexText
        call.request.headers[timestampField] = timestamp
        call.request.headers[signatureField] = "keyId=\(keyID),signature=\(signature)"
        return try await next(call)
    }

    /// Returns the signed text of a request, for comparison with a server. Bytes that are not UTF-8 are signed as they
    /// are, but this text contains U+FFFD instead.
    public func signedText(of request: Request<Bytes>, at timestamp: String) throws(NetError) -> String {
        try signedContent(of: request, at: timestamp).text
    }

    private func signedContent(of request: Request<Bytes>, at timestamp: String) throws(NetError) -> ByteText {
        let body = request.body ?? Body([])
        guard let bytes = body.wholeBytes else {
            throw NetError(.usage, "a body that is not in memory (multipart, file or stream) cannot be signed")
        }
        let url = URLParts(request.url)
        var lines = [request.method.rawValue, url.target].map { Array($0.utf8) }
        for name in fields.map({ $0.lowercased() }) {
            var value = request.headers.byteScalars(name)
            if value == nil, name == "host" {
                value = ByteText(url.hostField ?? "").byteScalars
            }
            if value == nil, name == "content-type" {
                value = request.body?.contentType.map { ByteText($0).byteScalars }
            }
            lines.append(Array("\(name):".utf8) + ByteText(byteScalars: (value ?? "").trimmingBlanks).bytes)
        }
        lines.append(Array(timestamp.utf8))
        lines.append(Array(try Digest.of(bytes, .sha256).hexText.utf8))
        return ByteText(bytes: Array(lines.joined(separator: "\n".utf8)))
    }
}

extension RequestSigning: SecretHolding {
    /// The type's name and the name of the key.
    public var description: String { "RequestSigning(keyID: \(keyID))" }
}

extension Call {
    /// Applies the transport's changes to the URL now, so that an interceptor that signs it sees the URL that is sent.
    public mutating func finalizeURL() throws(NetError) {
        let url = request.url
        guard !request.keepsDotSegments, url.utf8.contains(where: { $0 >= 0x80 }) || url.firstRange(of: "/.") != nil
        else { return }
        let hasAppliedParameters = request.hasAppliedParameters
        request.url = try joinURL(url, to: url, keepsBasePath: false)
        if hasAppliedParameters {
            request.markParametersApplied()
        }
    }
}
