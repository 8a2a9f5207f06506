/// Hides secrets in logs and other records of requests, by the names of fields, parameters and JSON members.
///
/// One list of names applies to logs, curl lines, descriptions, archives, recordings and queues, and to the identity of
/// cached responses. An application adds its own names:
///
///     var redaction = Redaction()
///     redaction.headers.parts = ["customer-number"]
///     configuration.interceptors = [Caching(store, secrets: redaction.headers)]
public struct Redaction: Sendable {
    /// The text that replaces a secret.
    public static let mark = "[hidden]"

    /// The depth to which URLs nested in values of URLs are examined; deeper values are hidden completely. Each level
    /// is examined both raw and decoded, so the work doubles with each.
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

    /// Returns the value of a field, hidden if necessary. In a URL only its secrets are hidden.
    private func content(of field: Headers.Field) -> ByteText {
        if headers.contains(field.name) {
            return ByteText(Self.mark)
        }
        switch field.name.lowercased() {
        case "location", "content-location", "referer", "refresh": return hiding(field.content) { hiding(url: $0) }
        case "link": return hiding(field.content) { hiding(links: $0) }
        // The target of a proxy request, and the URL that a page reports to.
        default: return field.value.isURLWithQuery ? hiding(field.content) { hiding(url: $0) } : field.content
        }
    }

    /// Bytes that are not UTF-8 are read one by one, so that the visible part is unchanged.
    private func hiding(_ content: ByteText, _ hide: (String) -> String) -> ByteText {
        content.isUTF8 ? ByteText(hide(content.text)) : ByteText(byteScalars: hide(content.byteScalars))
    }

    /// Hides secrets in URLs between "<" and ">", each followed by parameters (RFC 8288, 3).
    private func hiding(links: String) -> String {
        var shown = ""
        var rest = links.unicodeScalars[...]
        while let begin = rest.firstIndex(of: "<"), let end = rest[begin...].firstIndex(of: ">") {
            let url = rest[rest.index(after: begin)..<end]
            shown += "\(String(rest[..<begin]))<\(hiding(url: String(url)))>"
            rest = rest[rest.index(after: end)...]
        }
        return shown + hiding(url: String(rest))
    }

    /// Returns the URL without userinfo, and with the values of secret keys in its query and its fragment hidden.
    public func hiding(url: String) -> String { hiding(url: url, upTo: Self.maxNesting) }

    private func hiding(url: String, upTo nesting: Int) -> String {
        let url = Self.withoutUserinfo(url)
        // A fragment may contain "?", but a query cannot contain "#".
        if let (place, _, fragment) = url.cut(atFirst: "#") {
            return hiding(queryOf: place, upTo: nesting) + "#" + hiding(pairs: fragment, queryKeys, upTo: nesting)
        }
        return hiding(queryOf: url, upTo: nesting)
    }

    private func hiding(queryOf place: String, upTo nesting: Int) -> String {
        guard let (path, _, query) = place.cut(atFirst: "?") else { return hiding(path: place, upTo: nesting) }
        return hiding(path: path, upTo: nesting) + "?" + hiding(pairs: query, queryKeys, upTo: nesting)
    }

    /// Segments may have parameters (RFC 3986, 3.3): "/app;jsessionid=1".
    private func hiding(path: String, upTo nesting: Int) -> String {
        guard path.utf8.contains(UInt8(ascii: ";")) else { return path }
        return path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
            .map { segment in
                guard let (name, _, parameters) = String(segment).cut(atFirst: ";") else { return String(segment) }
                return name + ";" + hiding(parameters: parameters, queryKeys, upTo: nesting)
            }.joined(separator: "/")
    }

    /// Pairs separated by ";". All pairs after a secret one are hidden, because a secret may contain ";".
    private func hiding(parameters: String, _ names: Names, upTo nesting: Int) -> String {
        var shown: [String] = []
        for piece in parameters.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false) {
            let pair = String(piece)
            if let name = pair.cut(atFirst: "=")?.0, names.contains(name.percentDecoded, as: .parameter) {
                return (shown + ["\(name)=\(Self.mark)"]).joined(separator: ";")
            }
            shown.append(hiding(pair: pair, names, upTo: nesting))
        }
        return shown.joined(separator: ";")
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
        // A value may be a URL with secrets in it. An encoded one cannot be redacted in place, so it is hidden
        // completely.
        let meant = Self.meaning(of: value)
        let bare = Self.withoutUserinfo(value)
        let within = bare.cut(atFirst: "?")
        if nesting == 0 {
            return "\(name)=\(meant == value && within == nil ? bare : Self.mark)"
        }
        guard let meant, meant == value || hiding(url: meant, upTo: nesting - 1) == meant else {
            return "\(name)=\(Self.mark)"
        }
        guard let (before, _, query) = within else { return "\(name)=\(bare)" }
        return "\(name)=\(before)?" + hiding(pair: query, names, upTo: nesting - 1)
    }

    /// Returns the percent-decoded value. A value that is a URL may be encoded more than once; `nil` if it is encoded
    /// too often.
    private static func meaning(of value: String) -> String? {
        var meant = value
        for _ in 0..<maxNesting {
            let decoded = meant.percentDecoded
            if decoded == meant || meant != value && meant.unicodeScalars.contains(where: { $0 == "?" || $0 == "#" }) {
                return meant
            }
            meant = decoded
        }
        return meant.percentDecoded == meant ? meant : nil
    }

    /// Includes network-path references without a scheme (RFC 3986, 4.2).
    private static func withoutUserinfo(_ url: String) -> String {
        url.utf8.starts(with: "//".utf8) ? String(("a:" + url).withoutUserinfo.dropFirst(2)) : url.withoutUserinfo
    }

    /// Returns a form or JSON text with the values of secrets hidden, or `nil` for another body: none of it is safe to
    /// show.
    public func hiding(body: Bytes, contentType: String?) -> String? {
        hiding(body: body, contentType: contentType, keepsTypes: false)
    }

    /// As ``hiding(body:contentType:)``, and can preserve types.
    ///
    /// - Parameter keepsTypes: whether hidden JSON values keep their types, so that the text decodes as before. Numbers
    ///   become 0 and booleans false, null is unchanged, and arrays and objects contain such values.
    package func hiding(body: Bytes, contentType: String?, keepsTypes: Bool) -> String? {
        let type = String((contentType ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        if type == "application/x-www-form-urlencoded" {
            return hiding(pairs: String(decoding: Array(body), as: UTF8.self), bodyFields, upTo: Self.maxNesting)
        }
        guard MediaTypes.accept(contentType, MediaTypes.json), body.isJSON else { return nil }
        return String(decoding: hiding(json: Array(body), keepsTypes: keepsTypes), as: UTF8.self)
    }

    /// Returns a malformed body of a JSON type with the values of secret names hidden. Examples are a truncated body
    /// and one with a byte order mark. The remainder is unchanged. `nil` for a body of another type.
    package func hiding(brokenJSON body: Bytes, contentType: String?, keepsTypes: Bool) -> Bytes? {
        MediaTypes.accept(contentType, MediaTypes.json)
            ? Bytes(hiding(json: Array(body), keepsTypes: keepsTypes)) : nil
    }
}

extension String {
    /// Whether it is an absolute URL or a path, with a query.
    fileprivate var isURLWithQuery: Bool {
        utf8.contains(UInt8(ascii: "?")) && (utf8.first == UInt8(ascii: "/") || firstRange(of: "://") != nil)
    }
}
