/// Signs each request, so that the server sees who made it and that nobody changed it: HMAC-SHA256 (RFC 2104).
///
///     configuration.interceptors = [Retry(), RequestSigning(keyID: "app", key: secret)]
///
/// What is signed are these lines, with a line feed between two: the method; the path and query as they are sent; each
/// signed field as `name:value`, the name in lower case, in the order of ``fields``, a missing one left empty; the
/// timestamp; the body's SHA-256 in hex. ``timestampField`` says the timestamp, ``signatureField`` says
/// `keyId=…,signature=…` in hex. Behind ``Retry`` each try is signed anew. A form of parts, and a body that is read while
/// it is sent, cannot be signed: ``NetError/Code/usage``.
public struct RequestSigning: OriginBoundInterceptor {
    /// The name of the key, for the server.
    public let keyID: String
    /// Fields that are signed (host and content-type).
    public var fields = ["host", "content-type"]
    /// The field for the seconds since 1970.
    public var timestampField = "X-Timestamp"
    /// The field for key and signature.
    public var signatureField = "X-Signature"
    /// The time.
    public var time: TimeSource
    private let key: Bytes

    /// - Parameters:
    ///   - keyID: tells the server which key it is.
    ///   - key: the secret; longer ones than 64 bytes are digested first.
    ///   - time: tells the time.
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

    /// What is signed for a request, so that a server's author can compare.
    /// A value that is not UTF-8 is signed as the bytes that it is, and shown here with U+FFFD.
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
    /// The key's name alone.
    public var description: String { "RequestSigning(keyID: \(keyID))" }

    /// Without the key, so that `dump` does not tell it.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "keyID": keyID, "fields": fields, "timestampField": timestampField, "signatureField": signatureField,
            ])
    }
}

extension Call {
    /// Gives the request the URL that is sent, which is what a signature is for: what the transport would change of it
    /// is changed before.
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
    /// The host with a port that is not the scheme's, and path and query: what the first lines of a request say.
    var placeOnServer: (host: String, target: String) {
        let host = hostField.map { String($0) } ?? ""
        guard let mark = firstRange(of: "://") else { return (host, self) }
        let target = self[mark.upperBound...].drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "#" }
        return (host, target.hasPrefix("/") ? String(target) : "/" + target)
    }
}
