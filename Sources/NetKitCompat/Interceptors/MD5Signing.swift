public import NetKit

/// Signs each request with an MD5 digest of its parameters and a shared key, like CTNetworking's services.
///
///     configuration.signing = [MD5Signing(publicKey: "app", privateKey: secret)]
///
/// The digested text consists of the sent parameters and the private key. Each parameter is `name=value` without
/// percent-encoding; they are sorted and joined by "&". Empty values are left out, and booleans are 1 and 0.
///
/// If the request has a body, the text contains one more element:
/// - with ``Style/parameters``, ``publicKey`` as a further parameter with the name `api_key`
/// - with ``Style/rest(version:)``, the JSON body, between the parameters and the private key
///
/// With ``Style/rest(version:)``, the text begins with `version/method`. The method is the path after the version.
///
/// The signature is added to the URL as the parameter ``name``.
///
/// MD5 is not collision-resistant, and the key can be extracted from the app. Use this type only for servers that
/// require it; otherwise use ``RequestSigning``.
public struct MD5Signing: OriginBoundInterceptor {
    /// The elements of the digested text.
    public enum Style: Sendable, Hashable {
        /// The parameters and the private key.
        case parameters
        /// The API version and the method, then the parameters and the private key. If the version is empty, it is left
        /// out together with its "/".
        case rest(version: String)
    }

    /// The public key, which identifies the app to the server.
    public let publicKey: String
    /// The elements of the digested text.
    public var style: Style
    /// The name of the signature's parameter in the URL.
    public var name = "sig"
    private let privateKey: String

    /// Creates a signer with these keys.
    public init(publicKey: String, privateKey: String, style: Style = .parameters) {
        self.publicKey = publicKey
        self.privateKey = privateKey
        self.style = style
    }

    /// Adds the signature to the URL.
    ///
    /// - Throws: `NetError.Code.badParameter` for nested parameters. With ``Style/rest(version:)``,
    ///   `NetError.Code.usage` for a body that is created or read while it is sent.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        var call = call
        try call.finalizeURL()
        let signature = try Digest.of(Bytes(Array(try signedText(of: call).utf8)), .md5).hexText
        call.request.url = try QueryEncoding().url(call.request.url, with: [name: .string(signature)])
        return try await next(call)
    }

    /// Returns the digested text of a call, for comparison with a server.
    public func signedText(of call: Call) throws(NetError) -> String {
        let hasBody = call.request.body != nil
        var parameters = call.sentParameters ?? [:]
        switch style {
        case .parameters:
            if hasBody {
                parameters["api_key"] = .string(publicKey)
            }
            return try Self.lines(of: parameters) + privateKey
        case .rest(let version):
            let prefix = Self.prefix(of: WrittenURL(call.request.url).path, version: version)
            guard let body = call.request.body else { return try prefix + Self.lines(of: parameters) + privateKey }
            guard let bytes = body.wholeBytes else {
                throw NetError(.usage, "a body that is not in memory (multipart, file or stream) cannot be signed")
            }
            // Parameters that are in the body are not digested a second time.
            let inURL = call.hasParametersInBody ? [:] : parameters
            return try prefix + Self.lines(of: inURL) + String(decoding: Array(bytes), as: UTF8.self) + privateKey
        }
    }

    /// Returns "version/method". The version must match whole components of the path.
    private static func prefix(of path: String, version: String) -> String {
        let components = path.split(separator: "/")
        guard !version.isEmpty else { return components.joined(separator: "/") }
        let versionComponents = version.split(separator: "/")
        let start = components.indices.first { components[$0...].starts(with: versionComponents) }
        let method = start.map { components[($0 + versionComponents.count)...] } ?? components[...]
        return ([Substring(version)] + method).joined(separator: "/")
    }

    private static func lines(of parameters: Parameters) throws(NetError) -> String {
        guard case .object(let fields) = parameters else {
            throw NetError(.badParameter, "MD5 signing requires parameters with names (an object)")
        }
        var lines: [String] = []
        for field in fields {
            let value = try text(of: field)
            if !value.isEmpty {
                lines.append("\(field.name)=\(value)")
            }
        }
        return lines.sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) }.joined(separator: "&")
    }

    private static func text(of field: Parameters.Field) throws(NetError) -> String {
        switch field.value {
        case .null: return ""
        case .string(let text): return text
        case .boolean(let value): return value ? "1" : "0"
        case .integer(let value): return String(value)
        case .number(let digits): return digits
        case .double, .date:
            // The query encoding formats numbers and dates as they are sent. It percent-encodes no character of a
            // number, and only the colons of a date.
            return String(try QueryEncoding().query(["": field.value]).drop { $0 == "=" }.replacing("%3A", with: ":"))
        case .unencodable(let reason): throw NetError(.encoding, "'\(field.name)': \(reason)")
        case .object, .array, .set, .bytes:
            throw NetError(
                .badParameter, "'\(field.name)' is an object, array, set or bytes: MD5 signing does not support it")
        }
    }
}

extension MD5Signing: CustomStringConvertible, CustomReflectable {
    /// The public key, the style and the name of the parameter.
    public var description: String { "MD5Signing(publicKey: \(publicKey), style: \(style), name: \(name))" }

    /// A mirror without the private key, so that `dump` does not print it.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey, "style": style, "name": name]) }
}
