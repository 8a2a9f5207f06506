extension Request {
    /// A shell command with which curl sends the same request. Secrets are hidden, so the command can be shown, but may
    /// not work. See ``curl(hiding:)``.
    public var curl: String { curl(hiding: Redaction()) }

    /// Returns a shell command with which curl sends the same request. The words are quoted for `sh`.
    ///
    /// A body that contains NUL, is not UTF-8, or exceeds 64 KiB cannot be an argument, so the command pipes it to
    /// curl. For a body that is read while it is sent, curl reads its standard input. The command does not include the
    /// additions of an agent.
    /// - Parameter redaction: hides secrets. The command can then be shown, but may not work. If `nil`, the command
    ///   contains the secrets.
    public func curl(hiding redaction: Redaction?) -> String {
        // If the parameters cannot be applied, they are omitted. The request could not be sent with them either.
        var content = content
        try? content.applyParameters()
        var command = CurlCommand(redaction)
        command.add(method: content.method, of: content.body)
        command.add(content)
        command.add(headers, of: content)
        let pipe = content.body.flatMap { command.add($0, headers) }
        command.add(url: content.url)
        return (pipe.map { "\($0) | " } ?? "") + command.words.map(CurlCommand.quoted).joined(separator: " ")
    }
}

extension Body {
    /// Whether curl sends the body with `-T`, whose default method is PUT.
    fileprivate var isUploadedByCurl: Bool {
        switch content {
        case .file, .bytes: false
        default: true
        }
    }
}

/// The words of a curl command line.
package struct CurlCommand {
    // Linux accepts at most 128 KiB in one argument.
    private static let maxWordBytes = 64 << 10
    // For a larger body, or a body of unknown length, curl adds "Expect: 100-continue".
    private static let maxSilentBytes = 1 << 20

    private(set) var words = ["curl"]
    private let redaction: Redaction?

    init(_ redaction: Redaction?) {
        self.redaction = redaction
    }

    private func secret(_ text: String) -> String { redaction == nil ? text : Redaction.mark }

    mutating func add(method: Method, of body: Body?) {
        let defaultMethod: Method = body.map { $0.isUploadedByCurl ? .put : .post } ?? .get
        if method == .head, body == nil {
            words.append("--head")
        } else if method != defaultMethod {
            words += ["-X", method.rawValue]
        }
    }

    mutating func add(_ content: RequestContent) {
        if content.redirects != .return {
            words += ["-L", "--max-redirs", String(content.limits.maxRedirects)]
        }
        if content.acceptsCodings {
            words.append("--compressed")
        }
        if content.acceptsTransferCodings {
            words.append("--tr-encoding")
        }
        if content.keepsDotSegments {
            words.append("--path-as-is")
        }
        switch content.httpVersionPolicy {
        case .http1_0: words.append("--http1.0")
        case .http1: words.append("--http1.1")
        case .http2PriorKnowledge: words.append("--http2-prior-knowledge")
        case .http3IfPossible: words.append("--http3")
        case .http3Only: words.append("--http3-only")
        case .automatic: break
        }
        if let optionalStorage = content.optionalStorage?.value {
            add(optionalStorage)
        }
    }

    private mutating func add(_ optionalStorage: OptionalSettings) {
        if let path = optionalStorage.unixSocket {
            words += ["--unix-socket", path]
        }
        for addressOverride in optionalStorage.addressOverrides {
            let (port, toPort) = (
                addressOverride.port.map(String.init) ?? "", addressOverride.toPort.map(String.init) ?? ""
            )
            words += [
                "--connect-to",
                "\(Self.host(addressOverride.host)):\(port):\(Self.host(addressOverride.toHost)):\(toPort)",
            ]
        }
        add(optionalStorage.trust)
        if let credentials = optionalStorage.credentials, credentials != .none {
            add(credentials)
        }
        add(optionalStorage.proxy)
    }

    /// An IPv6 address is enclosed in brackets.
    private static func host(_ host: String?) -> String {
        guard let host else { return "" }
        return host.contains(":") ? "[\(host)]" : host
    }

    private mutating func add(_ trust: TrustPolicy?) {
        guard let trust else { return }
        if trust.acceptsAnything {
            words.append("-k")
        }
        if case .file(let path) = trust.roots {
            words += ["--cacert", path]
        }
    }

    private mutating func add(_ credentials: Credentials) {
        if credentials.schemes == .bearer {
            words += ["-H", "Authorization: " + secret("Bearer \(credentials.token)")]
            return
        }
        if credentials.schemes != .basic {
            let names: [(Credentials.Schemes, String)] = [
                (.digest, "--digest"), (.ntlm, "--ntlm"), (.negotiate, "--negotiate"),
            ]
            words.append(names.first { $0.0 == credentials.schemes }?.1 ?? "--anyauth")
        }
        words += ["-u", "\(credentials.user):" + secret(credentials.password)]
    }

    private mutating func add(_ proxy: Proxy?) {
        guard let proxy else { return }
        switch proxy.choice {
        case .direct: words += ["--noproxy", "*"]
        case .environment, .inherited: break
        case .url(let url):
            words += ["-x", url.withoutUserinfo]
            if !proxy.bypass.isEmpty {
                words += ["--noproxy", proxy.bypassList]
            }
        }
        if let credentials = proxy.credentials {
            words += ["-U", "\(credentials.user):" + secret(credentials.password)]
        }
        for field in redaction?.hiding(proxy.headers) ?? proxy.headers {
            words += ["--proxy-header", Self.line(field)]
        }
        if proxy.usesTunnel {
            words.append("-p")
        }
    }

    /// Adds the header fields, and suppresses the fields that only curl adds by default.
    mutating func add(_ headers: Headers, of content: RequestContent) {
        for field in redaction?.hiding(headers) ?? headers {
            words += ["-H", Self.line(field)]
        }
        for name in ["Accept", "User-Agent"] where headers[name] == nil {
            words += ["-H", "\(name):"]
        }
        if content.expectsContinue, content.body?.hasContent == true, headers["Expect"] == nil {
            words += ["-H", "Expect: 100-continue"]
        }
        guard let body = content.body else { return }
        if !content.expectsContinue, headers["Expect"] == nil, body.wholeBytes?.count ?? .max > Self.maxSilentBytes {
            words += ["-H", "Expect:"]
        }
        if headers["Content-Type"] == nil {
            words += ["-H", body.contentType.map { "Content-Type: \($0)" } ?? "Content-Type:"]
        }
        if let coding = body.contentEncoding, headers["Content-Encoding"] == nil {
            words += ["-H", "Content-Encoding: \(coding)"]
        }
    }

    private static func line(_ field: Headers.Field) -> String {
        field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
    }

    /// Adds the body. If the body has to be piped to curl, returns the command that prints it.
    mutating func add(_ body: Body, _ headers: Headers) -> String? {
        switch body.content {
        case .file(let path) where body.fileOffset > 0:
            words += ["--data-binary", "@-"]
            return "tail -c +\(body.fileOffset + 1) \(Self.quoted(path))"
        case .file(let path):
            words += ["--data-binary", "@\(path)"]
            return nil
        case .bytes(let bytes):
            return add(bytes, type: headers["Content-Type"] ?? body.contentType)
        default:
            words += ["-T", "-"]
            return nil
        }
    }

    private mutating func add(_ bytes: Bytes, type: String?) -> String? {
        if let redaction, !bytes.isEmpty {
            words += ["--data-raw", redaction.hiding(body: bytes, contentType: type) ?? Redaction.mark]
            return nil
        }
        if bytes.count <= Self.maxWordBytes, !bytes.contains(0),
            let text = String(validating: Array(bytes), as: UTF8.self)
        {
            words += ["--data-raw", text]
            return nil
        }
        words += ["--data-binary", "@-"]
        return "printf \(Self.quoted(Self.format(bytes)))"
    }

    mutating func add(url: String) {
        let visible = redaction?.hiding(url: url) ?? url
        if visible.contains(where: { "[]{}".contains($0) }) {
            words.append("--globoff")
        }
        words.append(visible)
    }

    // MARK: Shell words

    /// Quotes a word for `sh`, in which every character within single quotes is literal.
    package static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "_@%+=:,./-".utf8.contains(byte)
        }
        if plain, !word.isEmpty {
            return word
        }
        // Compared by Unicode scalars, because a quote followed by a combining mark is another Character.
        var quoted = "'"
        for scalar in word.unicodeScalars {
            quoted.unicodeScalars.append(
                contentsOf: scalar == "'" ? "'\\''".unicodeScalars : String(scalar).unicodeScalars)
        }
        return quoted + "'"
    }

    /// Returns the format argument with which printf prints these bytes.
    private static func format(_ bytes: Bytes) -> String {
        var format: [UInt8] = []
        for byte in bytes {
            let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            if isPlain {
                format.append(byte)
            } else {
                let digits = String(byte, radix: 8)
                format += Array("\\\(String(repeating: "0", count: 3 - digits.count))\(digits)".utf8)
            }
        }
        return String(decoding: format, as: UTF8.self)
    }
}
