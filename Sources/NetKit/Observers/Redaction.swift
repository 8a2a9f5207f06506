/// Hides secrets in logs and other records of requests, by the names of fields, parameters and JSON members.
///
/// The library uses the usual names in logs, curl lines, descriptions, archives, recordings and queues, and to
/// distinguish users in caches. An app can add its own names:
///
///     var redaction = Redaction()
///     redaction.headers.parts = ["customer-number"]
///     configuration.interceptors = [Caching(store, secrets: redaction.headers)]
public struct Redaction: Sendable {
    /// The text that replaces a secret.
    public static let mark = "[hidden]"

    /// The depth to which URLs in parameters of URLs are examined. Deeper values are hidden completely. Each level is
    /// examined both raw and decoded, so that each further level doubles the work.
    private static let maxNesting = 4

    /// Names of header fields.
    public var headers: Names
    /// Names in queries and fragments.
    public var queryKeys: Names
    /// Names in form and JSON bodies, at any depth.
    public var bodyFields: Names

    /// Creates a redaction, by default with the usual names of secrets.
    public init(headers: Names = .usual, queryKeys: Names = .usual, bodyFields: Names = .usual) {
        self.headers = headers
        self.queryKeys = queryKeys
        self.bodyFields = bodyFields
    }

    /// Returns the fields with the values of secrets hidden.
    public func hiding(_ fields: Headers) -> Headers {
        Headers(fields.map { Headers.Field(name: $0.name, content: content(of: $0)) })
    }

    /// Returns the value of a field. The value of a secret name is hidden. In a URL, only the secrets are hidden.
    private func content(of field: Headers.Field) -> ByteText {
        if headers.contains(field.name) {
            return ByteText(Self.mark)
        }
        switch field.name.lowercased() {
        case "location", "content-location", "referer", "refresh": return hiding(field.content) { hiding(url: $0) }
        case "link": return hiding(field.content) { hiding(links: $0) }
        // Any other field may contain a URL, such as the target of a proxy or the URL for a page's reports.
        default: return field.value.isURLWithQuery ? hiding(field.content) { hiding(url: $0) } : field.content
        }
    }

    /// Applies a closure to the value of a field. If the value is not UTF-8, each byte becomes one scalar, so that the
    /// visible bytes are not changed.
    private func hiding(_ content: ByteText, _ hide: (String) -> String) -> ByteText {
        content.isUTF8 ? ByteText(hide(content.text)) : ByteText(byteScalars: hide(content.byteScalars))
    }

    /// Hides secrets in the value of a Link field: in the URLs between "<" and ">" and in the parameters after them
    /// (RFC 8288, 3).
    private func hiding(links: String) -> String {
        var visible = ""
        var rest = links.unicodeScalars[...]
        while let begin = rest.firstIndex(of: "<"), let end = rest[begin...].firstIndex(of: ">") {
            let url = rest[rest.index(after: begin)..<end]
            visible += "\(String(rest[..<begin]))<\(hiding(url: String(url)))>"
            rest = rest[rest.index(after: end)...]
        }
        return visible + hiding(url: String(rest))
    }

    /// Returns the URL without userinfo, and with the values of secret keys in its query and its fragment hidden.
    public func hiding(url: String) -> String { hiding(url: url, upTo: Self.maxNesting) }

    private func hiding(url: String, upTo nesting: Int) -> String {
        let url = Self.withoutUserinfo(url)
        // A fragment may contain "?", but a query cannot contain "#".
        if let (target, _, fragment) = url.cut(atFirst: "#") {
            return hiding(queryOf: target, upTo: nesting) + "#" + hiding(pairs: fragment, queryKeys, upTo: nesting)
        }
        return hiding(queryOf: url, upTo: nesting)
    }

    private func hiding(queryOf target: String, upTo nesting: Int) -> String {
        guard let (path, _, query) = target.cut(atFirst: "?") else { return hiding(path: target, upTo: nesting) }
        return hiding(path: path, upTo: nesting) + "?" + hiding(pairs: query, queryKeys, upTo: nesting)
    }

    /// Hides secrets in the parameters of path segments, such as "/app;jsessionid=1" (RFC 3986, 3.3).
    private func hiding(path: String, upTo nesting: Int) -> String {
        guard path.utf8.contains(UInt8(ascii: ";")) else { return path }
        return path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
            .map { segment in
                guard let (name, _, parameters) = String(segment).cut(atFirst: ";") else { return String(segment) }
                return name + ";" + hiding(parameters: parameters, queryKeys, upTo: nesting)
            }.joined(separator: "/")
    }

    /// Hides secrets in pairs that are separated by ";". After the first secret everything is hidden, because the
    /// secret may contain ";".
    private func hiding(parameters: String, _ names: Names, upTo nesting: Int) -> String {
        var visible: [String] = []
        for piece in parameters.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false) {
            let pair = String(piece)
            if let name = pair.cut(atFirst: "=")?.0, names.contains(name.percentDecoded, as: .parameter) {
                return (visible + ["\(name)=\(Self.mark)"]).joined(separator: ";")
            }
            visible.append(hiding(pair: pair, names, upTo: nesting))
        }
        return visible.joined(separator: ";")
    }

    private func hiding(pairs: String, _ names: Names, upTo nesting: Int) -> String {
        pairs.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false)
            .map { hiding(pair: String($0), names, upTo: nesting) }.joined(separator: "&")
    }

    private func hiding(pair: String, _ names: Names, upTo nesting: Int) -> String {
        guard let (name, _, value) = pair.cut(atFirst: "=") else { return pair }
        if names.contains(name.percentDecoded, as: .parameter) {
            return "\(name)=\(Self.mark)"
        }
        // Some servers treat ";" as "&".
        if value.utf8.contains(UInt8(ascii: ";")), let (first, _, rest) = value.cut(atFirst: ";") {
            return hiding(pair: "\(name)=\(first)", names, upTo: nesting) + ";"
                + hiding(parameters: rest, names, upTo: nesting)
        }
        // The value may be a URL that contains secrets. If it is percent-encoded, it cannot be redacted in place and is
        // hidden completely.
        let decodedValue = Self.decoded(of: value)
        let withoutUserinfo = Self.withoutUserinfo(value)
        let split = withoutUserinfo.cut(atFirst: "?")
        if nesting == 0 {
            return "\(name)=\(decodedValue == value && split == nil ? withoutUserinfo : Self.mark)"
        }
        guard let decodedValue, decodedValue == value || hiding(url: decodedValue, upTo: nesting - 1) == decodedValue
        else {
            return "\(name)=\(Self.mark)"
        }
        guard let (before, _, query) = split else { return "\(name)=\(withoutUserinfo)" }
        return "\(name)=\(before)?" + hiding(pair: query, names, upTo: nesting - 1)
    }

    /// Returns the percent-decoded value. A value that is a URL may be encoded several times. Returns `nil` if it is
    /// encoded too many times.
    private static func decoded(of value: String) -> String? {
        var decodedValue = value
        for _ in 0..<maxNesting {
            let next = decodedValue.percentDecoded
            if next == decodedValue
                || decodedValue != value && decodedValue.unicodeScalars.contains(where: { $0 == "?" || $0 == "#" })
            {
                return decodedValue
            }
            decodedValue = next
        }
        return decodedValue.percentDecoded == decodedValue ? decodedValue : nil
    }

    /// Returns the URL without userinfo. The URL may have no scheme, as in "//host/path" (RFC 3986, 4.2).
    private static func withoutUserinfo(_ url: String) -> String {
        url.utf8.starts(with: "//".utf8) ? String(("a:" + url).withoutUserinfo.dropFirst(2)) : url.withoutUserinfo
    }

    /// Returns a form or JSON body with the values of secrets hidden. Returns `nil` for another body, in which secrets
    /// cannot be recognized.
    public func hiding(body: Bytes, contentType: String?) -> String? {
        hiding(body: body, contentType: contentType, keepsTypes: false)
    }

    /// Returns a form or JSON body with the values of secrets hidden, as ``hiding(body:contentType:)``.
    ///
    /// - Parameter keepsTypes: whether hidden JSON values keep their types, so that the text still decodes. Numbers
    ///   become 0 and booleans become false. Null stays null. In arrays and objects, the scalars are replaced.
    package func hiding(body: Bytes, contentType: String?, keepsTypes: Bool) -> String? {
        let type = String((contentType ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        if type == "application/x-www-form-urlencoded" {
            return hiding(pairs: String(decoding: Array(body), as: UTF8.self), bodyFields, upTo: Self.maxNesting)
        }
        guard MediaTypes.accept(contentType, MediaTypes.json), body.isJSON else { return nil }
        return String(decoding: hiding(json: Array(body), keepsTypes: keepsTypes), as: UTF8.self)
    }

    /// Returns a malformed JSON body, such as a truncated one or one with a byte order mark, with the values of secret
    /// names hidden. Other bytes are unchanged. Returns `nil` if the content type is not JSON.
    package func hiding(brokenJSON body: Bytes, contentType: String?, keepsTypes: Bool) -> Bytes? {
        MediaTypes.accept(contentType, MediaTypes.json)
            ? Bytes(hiding(json: Array(body), keepsTypes: keepsTypes)) : nil
    }
}

extension String {
    /// Whether the string is an absolute URL or a path, and has a query.
    fileprivate var isURLWithQuery: Bool {
        utf8.contains(UInt8(ascii: "?")) && (utf8.first == UInt8(ascii: "/") || firstRange(of: "://") != nil)
    }
}

extension Redaction {
    /// A list of names that denote secrets. Case, "-" and "_" are ignored.
    public struct Names: Sendable {
        /// Substrings of names, in lower-case letters and digits.
        public var parts: Set<String>
        /// Suffixes of names. They also match each name in brackets: "pin" matches "user[pin]", as forms write it.
        public var ends: Set<String>
        /// Complete names that do not denote secrets, even if another rule matches.
        public var exceptions: Set<String> {
            didSet { bareExceptions = Set(exceptions.map(Self.bare)) }
        }
        /// Whether the library's own list also applies.
        let includesUsual: Bool
        private var bareExceptions: Set<String>

        /// Creates a list of names.
        ///
        /// - Parameters:
        ///   - parts: substrings of names.
        ///   - ends: suffixes of names.
        ///   - exceptions: complete names that are not secrets.
        ///   - includesUsual: whether the library's own list also applies.
        public init(
            parts: Set<String> = [], ends: Set<String> = [], exceptions: Set<String> = [], includesUsual: Bool = false
        ) {
            self.parts = parts
            self.ends = ends
            self.exceptions = exceptions
            self.includesUsual = includesUsual
            bareExceptions = Set(exceptions.map(Self.bare))
        }

        /// The library's list: names that contain words such as token, secret, password, session, key, code, signature.
        ///
        /// Words are separated by "-", "_", "." and changes of case. For example, `Idempotency-Key` and `tokenizer` do
        /// not match.
        public static let usual = Names(includesUsual: true)

        /// Returns true if a name denotes a secret.
        ///
        /// - Parameters:
        ///   - name: the name, with its escapes decoded.
        ///   - location: the kind of element that has this name.
        package func contains(_ name: String, as location: SecretLocation = .field) -> Bool {
            if bareExceptions.isEmpty, parts.isEmpty, ends.isEmpty {
                return includesUsual && name.isUsualSecret(in: location)
            }
            let bare = Self.bare(name)
            if bareExceptions.contains(bare) {
                return false
            }
            return (includesUsual && name.isUsualSecret(in: location)) || hasOwn(bare)
        }

        private func hasOwn(_ bare: String) -> Bool {
            if parts.contains(where: { bare.contains(Self.bare($0)) }) {
                return true
            }
            // Split at Unicode scalars, because a bracket followed by a combining mark is another Character.
            let names = bare.unicodeScalars.split { $0 == "[" || $0 == "]" }
            return names.contains { name in ends.contains { String(name).hasSuffix(Self.bare($0)) } }
        }

        private static func bare(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
    }
}
