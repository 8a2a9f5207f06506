/// Signs each request like CTNetworking's services: with an MD5 of its parameters and a shared key.
///
///     configuration.signing = [MD5Signing(publicKey: "app", privateKey: secret)]
///
/// The digested text is the sent parameters, as unescaped `name=value`, sorted and joined by "&", followed by the
/// private key. Empty values are left out; booleans are 1 and 0.
///
/// - With ``Style/rest(version:)``, `version/method` comes first. The method is the path after the version.
/// - If the parameters do not go into the URL, ``publicKey`` counts as one more parameter, `api_key`. In the REST style
///   the request's JSON body follows the parameters instead.
///
/// The signature is added to the URL as the parameter ``name``.
///
/// MD5 is not collision-resistant, and the key can be extracted from the app: use this only for servers that require
/// it. ``RequestSigning`` is better in every respect.
public struct MD5Signing: OriginBoundInterceptor, PromptInterceptor {
    /// The digested text.
    public enum Style: Sendable, Hashable {
        /// Parameters and key.
        case parameters
        /// Version and method, then parameters and key. An empty version is left out with its "/".
        case rest(version: String)
    }

    /// The public key, which identifies the app to the server.
    public let publicKey: String
    /// The digested text.
    public var style: Style
    /// The name of the signature in the query.
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
    /// - Throws: ``NetError/Code/badParameter`` for nested parameters. In the REST style, ``NetError/Code/usage`` for a
    ///   body that is put together or read while it is sent.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        var call = call
        try call.settleURL()
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
            let path = call.request.url.placeOnServer.target.prefix { $0 != "?" }
            let place = Self.place(of: String(path), version: version)
            guard let body = call.request.body else { return try place + Self.lines(of: parameters) + privateKey }
            guard let bytes = body.wholeBytes else {
                throw NetError(.usage, "a body that is put together or read while it is sent cannot be signed")
            }
            // Parameters that became the body are not digested twice.
            let inURL = call.origin?.content.value.makesBodyOfParameters ?? true ? [:] : parameters
            return try place + Self.lines(of: inURL) + String(decoding: Array(bytes), as: UTF8.self) + privateKey
        }
    }

    /// Returns "version/method"; the version must be a whole component of the path.
    private static func place(of path: String, version: String) -> String {
        let folders = path.split(separator: "/")
        guard !version.isEmpty else { return folders.joined(separator: "/") }
        let wanted = version.split(separator: "/")
        let start = folders.indices.first { folders[$0...].starts(with: wanted) }
        let method = start.map { folders[($0 + wanted.count)...] } ?? folders[...]
        return ([Substring(version)] + method).joined(separator: "/")
    }

    private static func lines(of parameters: Parameters) throws(NetError) -> String {
        guard case .object(let fields) = parameters else {
            throw NetError(.badParameter, "what is signed with MD5 are named values")
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
        case .double:
            // As sent: no character of a number is escaped.
            return String(try QueryEncoding().query(["": field.value]).drop { $0 == "=" })
        case .object, .array, .set, .bytes:
            throw NetError(.badParameter, "'\(field.name)' holds what cannot be signed with MD5")
        }
    }
}

extension MD5Signing: CustomStringConvertible, CustomReflectable {
    /// Public key, style and name.
    public var description: String { "MD5Signing(publicKey: \(publicKey), style: \(style), name: \(name))" }

    /// A mirror without the private key, so that `dump` does not print it.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey, "style": style, "name": name]) }
}
