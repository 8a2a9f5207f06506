extension Cookie {
    private static let httpOnlyPrefix = "#HttpOnly_"

    /// Reads a line of the Netscape format: domain, tail match, path, secure, expiry, name and value, separated by
    /// tabs. Returns `nil` for an empty line, a comment and an invalid cookie. As in curl, blanks at the start are
    /// ignored, several tabs are one, and the path and the value may be missing.
    public init?(netscapeLine line: some StringProtocol) {
        self.init(scalarLine: ByteText(String(line)).byteScalars)
    }

    /// Reads a line as ``init(netscapeLine:)``, whose name, value and path need not be UTF-8.
    public init?(netscapeLineBytes line: Bytes) {
        self.init(scalarLine: ByteText(bytes: Array(line)).byteScalars)
    }

    /// Reads a line with one scalar for each byte.
    private init?(scalarLine line: String) {
        var rest = line.drop { $0 == " " || $0 == "\t" }
        let isHTTPOnly = rest.hasPrefix(Self.httpOnlyPrefix)
        if isHTTPOnly {
            rest = rest.dropFirst(Self.httpOnlyPrefix.count)
        }
        var parts = rest.split(separator: "\t", maxSplits: 6)
        if parts.count > 2, ["TRUE", "FALSE"].contains(parts[2]) {
            // libcurl writes an empty path as nothing between two tabs.
            parts = rest.split(separator: "\t", maxSplits: 5)
            parts.insert("/", at: 2)
        }
        guard !rest.hasPrefix("#"), parts.count >= 6, let expires = Int(parts[4]) else { return nil }
        self.init(
            name: "", value: "", domain: ByteText(byteScalars: parts[0].drop { $0 == "." }).text,
            includesSubdomains: parts[1] == "TRUE", expires: expires == 0 ? nil : expires,
            isSecure: parts[3] == "TRUE", isHTTPOnly: isHTTPOnly)
        texts = (String(parts[5]), parts.count > 6 ? String(parts[6]) : "", String(parts[2]))
        guard (try? netscapeLine) != nil else { return nil }
    }

    /// Whether it satisfies the rules of its name's prefix.
    private var keepsPromise: Bool {
        let name = name.asciiLowercased
        if name.hasPrefix("__host-") {
            return isSecure && !includesSubdomains && ["", "/"].contains(path)
        }
        return isSecure || !name.hasPrefix("__secure-")
    }

    /// The cookie as such a line.
    ///
    /// - Throws: ``NetError/Code/usage`` for an invalid cookie. It is invalid if it has a control character or a
    ///   semicolon (which would start another cookie for servers), or no name or domain, or a domain that begins with a
    ///   blank. It is also invalid if its name's prefix requires attributes that it does not have (RFC 6265bis, 4.1.3).
    public var netscapeLine: String {
        get throws(NetError) { ByteText(byteScalars: try scalarLine).text }
    }

    /// The bytes of such a line, which need not be UTF-8. Throws the same errors as ``netscapeLine``.
    public var netscapeLineBytes: Bytes {
        get throws(NetError) { Bytes(ByteText(byteScalars: try scalarLine).bytes) }
    }

    private var scalarLine: String {
        get throws(NetError) {
            let (name, value, path) = texts
            let domain = ByteText(domain).byteScalars
            let isPlain = [name, value, domain, path].allSatisfy { text in
                text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
            }
            guard isPlain, !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")),
                let first = domain.utf8.first, first != UInt8(ascii: " ")
            else {
                throw NetError(.usage, "a cookie has no name, no domain, or a character that ends it")
            }
            guard keepsPromise else {
                throw NetError(.usage, "the cookie's name promises what does not hold: \(self.name)")
            }
            func flag(_ value: Bool) -> String { value ? "TRUE" : "FALSE" }
            // A cookie that ended before 1970 has ended; 0 would make it last as long as the jar.
            let end = expires.map { String(max(1, $0)) } ?? "0"
            let place = (isHTTPOnly ? Self.httpOnlyPrefix : "") + (includesSubdomains ? "." : "") + domain
            return [place, flag(includesSubdomains), path.isEmpty ? "/" : path, flag(isSecure), end, name, value]
                .joined(separator: "\t")
        }
    }
}
