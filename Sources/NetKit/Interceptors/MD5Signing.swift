/// Signs each request as CTNetworking's services do: an MD5 over its parameters and a key that both sides know.
///
///     configuration.signing = [MD5Signing(publicKey: "app", privateKey: secret)]
///
/// What is digested are the parameters that are sent, as `name=value` with nothing escaped and sorted, with "&" between
/// two, and behind them the private key. Empty values are left out; booleans are 1 and 0. With ``Style/rest(version:)``
/// `version/method` stands in front, the method being the path behind the version. A request whose parameters do not go
/// into the URL counts ``publicKey`` as one more parameter, `api_key`; in the REST style its JSON body follows the
/// parameters instead. The signature is the parameter ``name`` of the URL.
///
/// MD5 keeps nobody from finding another text with the same signature, and whoever takes the app apart has the key: it
/// is for servers that want it. ``RequestSigning`` is better in every respect.
public struct MD5Signing: OriginBoundInterceptor {
    /// What is digested.
    public enum Style: Sendable, Hashable {
        /// Parameters and key.
        case parameters
        /// Version and method in front of them; an empty version is left out with its "/".
        case rest(version: String)
    }

    /// Who asks, for the server.
    public let publicKey: String
    /// What is digested.
    public var style: Style
    /// The name that the signature has in the query.
    public var name = "sig"
    private let privateKey: String

    /// A signer with these keys.
    public init(publicKey: String, privateKey: String, style: Style = .parameters) {
        self.publicKey = publicKey
        self.privateKey = privateKey
        self.style = style
    }

    /// Adds the signature to the URL.
    ///
    /// Throws ``NetError/Code/badParameter`` for parameters within parameters, and ``NetError/Code/usage`` for a body
    /// that is put together or read while it is sent, in the REST style.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        var call = call
        try call.settleURL()
        let signature = try Digest.of(Bytes(Array(try signedText(of: call).utf8)), .md5).hexText
        call.request.url = try QueryEncoding().url(call.request.url, with: [name: .string(signature)])
        return try await next(call)
    }

    /// What is digested for a call, so that a server's author can compare.
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
            // What became the body is not digested a second time.
            let inURL = call.origin?.content.value.makesBodyOfParameters ?? true ? [:] : parameters
            return try place + Self.lines(of: inURL) + String(decoding: Array(bytes), as: UTF8.self) + privateKey
        }
    }

    /// "version/method"; the path is looked through for the version as a whole folder.
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
            // As it is sent: no character of a number is escaped.
            return String(try QueryEncoding().query(["": field.value]).drop { $0 == "=" })
        case .object, .array, .set, .bytes:
            throw NetError(.badParameter, "'\(field.name)' holds what cannot be signed with MD5")
        }
    }
}

extension MD5Signing: CustomStringConvertible, CustomReflectable {
    /// Who asks, and how.
    public var description: String { "MD5Signing(publicKey: \(publicKey), style: \(style), name: \(name))" }

    /// Without the private key, so that `dump` does not tell it.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey, "style": style, "name": name]) }
}
