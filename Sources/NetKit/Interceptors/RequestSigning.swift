/// Signs each request with HMAC-SHA256 (RFC 2104), which proves its sender and its integrity to the server.
///
///     configuration.interceptors = [Retry(), RequestSigning(keyID: "app", key: secret)]
///
/// The signed text consists of these lines, separated by line feeds:
/// 1. the method
/// 2. path and query, as sent
/// 3. each signed field as `name:value`, with the name in lower case, in the order of ``fields``; a missing one is
///    empty
/// 4. the timestamp
/// 5. the body's SHA-256 in hex
///
/// ``timestampField`` contains the timestamp, and ``signatureField`` contains `keyId=…,signature=…` in hex. Behind
/// ``Retry`` each attempt is signed again. A multipart form, and a body that is read while it is sent, cannot be
/// signed: ``NetError/Code/usage``.
public struct RequestSigning: OriginBoundInterceptor, PromptInterceptor {
    /// The name of the key for the server.
    public let keyID: String
    /// The signed fields (host and content-type).
    public var fields = ["host", "content-type"]
    /// The field with the seconds since 1970.
    public var timestampField = "X-Timestamp"
    /// The field with key name and signature.
    public var signatureField = "X-Signature"
    /// The clock.
    public var time: TimeSource
    private let key: Bytes

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - keyID: the name of the key for the server.
    ///   - key: the secret; one of more than 64 bytes is hashed first.
    ///   - time: the clock.
    public init(keyID: String, key: Bytes, time: TimeSource = .system) {
        self.keyID = keyID
        self.key = key
        self.time = time
    }

    /// Adds the two fields.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        var call = call
        try call.settleURL()
        let timestamp = String(Int64(moment: time.epochSeconds()))
        let text = try signedContent(of: call.request, at: timestamp)
        let signature = try Digest.hmacSHA256(key: key, Bytes(text.bytes)).hexText
        call.request.headers[timestampField] = timestamp
        call.request.headers[signatureField] = "keyId=\(keyID),signature=\(signature)"
        return try await next(call)
    }

    /// Returns the signed text of a request, for comparison with a server. A value that is not UTF-8 is signed by its
    /// bytes, and shown here with U+FFFD.
    public func signedText(of request: Request<Bytes>, at timestamp: String) throws(NetError) -> String {
        try signedContent(of: request, at: timestamp).text
    }

    private func signedContent(of request: Request<Bytes>, at timestamp: String) throws(NetError) -> ByteText {
        let body = request.body ?? Body([])
        guard let bytes = body.wholeBytes else {
            throw NetError(.usage, "a body that is put together or read while it is sent cannot be signed")
        }
        let place = request.url.placeOnServer
        var lines = [request.method.rawValue, place.target].map { Array($0.utf8) }
        for name in fields.map({ $0.lowercased() }) {
            var value = request.headers.byteScalars(name)
            if value == nil, name == "host" {
                value = ByteText(place.host).byteScalars
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

extension RequestSigning: CustomStringConvertible, CustomReflectable {
    /// The name of the key.
    public var description: String { "RequestSigning(keyID: \(keyID))" }

    /// A mirror without the key, so that `dump` does not print it.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "keyID": keyID, "fields": fields, "timestampField": timestampField, "signatureField": signatureField,
            ])
    }
}

extension Call {
    /// Replaces the URL by the one that is sent, which is the one to sign: applies the transport's changes in advance.
    mutating func settleURL() throws(NetError) {
        let url = request.url
        guard !request.keepsDotSegments, url.utf8.contains(where: { $0 >= 0x80 }) || url.firstRange(of: "/.") != nil
        else { return }
        let isPlaced = request.isPlaced
        request.url = try joinURL(url, to: url, keepsBasePath: false)
        if isPlaced {
            request.markPlaced()
        }
    }
}

extension String {
    /// The host with a non-default port, and path and query: the values of a request's first lines.
    var placeOnServer: (host: String, target: String) {
        let host = hostField.map { String($0) } ?? ""
        guard let mark = firstRange(of: "://") else { return (host, self) }
        let target = self[mark.upperBound...].drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "#" }
        return (host, target.hasPrefix("/") ? String(target) : "/" + target)
    }
}
