extension Request {
    /// A line for sh that has curl send the same request, quoted so that curl gets every word as it is.
    ///
    /// A body that no word can hold (a NUL, other bytes than UTF-8, more than 64 KiB) goes through a pipe; one that is
    /// read while it is sent comes from curl's standard input. What an agent would add is not in it.
    /// - Parameter redaction: hides secrets, so that the line can be shown but may not work; nil writes them out.
    public func curlLine(hiding redaction: Redaction? = Redaction()) -> String {
        // Parameters that cannot be placed are left out, as the request could not be sent with them.
        var content = content
        try? content.placeParameters()
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
    /// Whether curl gets it by `-T`, and would PUT it.
    fileprivate var isUploadedByCurl: Bool {
        switch content {
        case .file, .bytes: false
        default: true
        }
    }
}

/// The words of a call of curl.
package struct CurlCommand {
    // The kernel takes 128 KiB in one word.
    private static let maxWordBytes = 64 << 10
    // Before a larger body, and one whose length it does not know, curl asks by itself whether to go on.
    private static let maxSilentBytes = 1 << 20

    private(set) var words = ["curl"]
    private let redaction: Redaction?

    init(_ redaction: Redaction?) {
        self.redaction = redaction
    }

    private func secret(_ text: String) -> String { redaction == nil ? text : Redaction.mark }

    mutating func add(method: Method, of body: Body?) {
        let chosen: Method = body.map { $0.isUploadedByCurl ? .put : .post } ?? .get
        if method == .head, body == nil {
            words.append("--head")
        } else if method != chosen {
            words += ["-X", method.rawValue]
        }
    }

    mutating func add(_ content: RequestContent) {
        if content.redirects != .return {
            words += ["-L", "--max-redirs", String((content.limits ?? Limits()).maxRedirects)]
        }
        if content.acceptsCodings {
            words.append("--compressed")
        }
        if content.keepsDotSegments {
            words.append("--path-as-is")
        }
        switch content.protocolChoice {
        case .http1_0: words.append("--http1.0")
        case .http1: words.append("--http1.1")
        case .http2PriorKnowledge: words.append("--http2-prior-knowledge")
        case .http3: words.append("--http3")
        case .automatic: break
        }
        if let rare = content.rare?.value {
            add(rare)
        }
    }

    private mutating func add(_ rare: RareContent) {
        if let path = rare.unixSocket {
            words += ["--unix-socket", path]
        }
        for place in rare.addressOverrides {
            let (port, toPort) = (place.port.map(String.init) ?? "", place.toPort.map(String.init) ?? "")
            words += ["--connect-to", "\(Self.host(place.host)):\(port):\(Self.host(place.toHost)):\(toPort)"]
        }
        add(rare.trust)
        add(rare.credentials)
        add(rare.proxy)
    }

    /// An IPv6 address stands in brackets.
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

    private mutating func add(_ credentials: Credentials?) {
        guard let credentials else { return }
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
        case .environment: break
        case .url(let url):
            words += ["-x", url.withoutUserinfo]
            if !proxy.except.isEmpty {
                words += ["--noproxy", proxy.except.joined(separator: ",")]
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

    /// What curl would send of its own and NetKit does not is left out.
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

    /// Returns what the line begins with, where the body has to come through a pipe.
    mutating func add(_ body: Body, _ headers: Headers) -> String? {
        switch body.content {
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
        let shown = redaction?.hiding(url: url) ?? url
        if shown.contains(where: { "[]{}".contains($0) }) {
            words.append("--globoff")
        }
        words.append(shown)
    }

    // MARK: Words for sh

    /// A word as sh reads it: nothing in single quotes means anything but itself.
    package static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "_@%+=:,./-".utf8.contains(byte)
        }
        if plain, !word.isEmpty {
            return word
        }
        // By scalars: a quote may stand in one character with what follows it.
        var quoted = "'"
        for scalar in word.unicodeScalars {
            quoted.unicodeScalars.append(
                contentsOf: scalar == "'" ? "'\\''".unicodeScalars : String(scalar).unicodeScalars)
        }
        return quoted + "'"
    }

    /// What printf makes these bytes of.
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
