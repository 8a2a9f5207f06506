public import NetKit

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
/// `keyId=…,signature=…`, with the signature in hex. If the interceptor comes after `Retry`, each attempt is signed
/// again. A multipart form, and a body that is read while it is sent, cannot be signed and cause
/// `NetError.Code.usage`.
public struct RequestSigning: OriginBoundInterceptor {
    /// The names of the signed fields (host and content-type).
    public var fields = ["host", "content-type"]
    /// The name of the field for the timestamp, in seconds since 1970.
    public var timestampField = "X-Timestamp"
    /// The name of the field for the key's name and the signature.
    public var signatureField = "X-Signature"
    private let keyID: String
    private let key: Bytes
    private let time: TimeSource

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
        let timestamp = String(Int64(exactly: time.epochSeconds().rounded(.down)) ?? 0)
        let text = Bytes(try signedBytes(of: call.request, at: timestamp))
        let signature = try Digest.hmacSHA256(key: key, text).hexText
        call.request.headers[timestampField] = timestamp
        call.request.headers[signatureField] = "keyId=\(keyID),signature=\(signature)"
        return try await next(call)
    }

    /// Returns the signed text of a request, for comparison with a server. Bytes that are not UTF-8 are signed as they
    /// are, but this text contains U+FFFD instead.
    public func signedText(of request: Request<Bytes>, at timestamp: String) throws(NetError) -> String {
        String(decoding: try signedBytes(of: request, at: timestamp), as: UTF8.self)
    }

    private func signedBytes(of request: Request<Bytes>, at timestamp: String) throws(NetError) -> [UInt8] {
        guard let bytes = request.body == nil ? Bytes() : request.body?.wholeBytes else {
            throw NetError(.usage, "a body that is not in memory (multipart, file or stream) cannot be signed")
        }
        let url = WrittenURL(request.url)
        var lines = [Array(request.method.rawValue.utf8), Array(url.target.utf8)]
        for name in fields.map({ $0.lowercased() }) {
            var value = request.headers.bytes(name).map { Array($0) }
            if value == nil, name == "host" {
                value = Array(url.hostField.utf8)
            }
            if value == nil, name == "content-type" {
                value = (request.body?.contentType).map { Array($0.utf8) }
            }
            lines.append(Array("\(name):".utf8) + (value ?? []).trimmingBlanks)
        }
        lines.append(Array(timestamp.utf8))
        lines.append(Array(try Digest.of(bytes, .sha256).hexText.utf8))
        return Array(lines.joined(separator: "\n".utf8))
    }
}

extension RequestSigning: CustomStringConvertible, CustomReflectable {
    /// The type's name and the name of the key.
    public var description: String { "RequestSigning(keyID: \(keyID))" }

    /// A mirror without the key, so that `dump` does not print it.
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

extension [UInt8] {
    /// The bytes without spaces and tabs at both ends.
    fileprivate var trimmingBlanks: [UInt8] {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return Array(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
