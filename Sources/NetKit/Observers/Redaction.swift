/// Hides secrets in what is written down about requests: by the names of fields, parameters and members.
///
/// One list of names is for logs, curl lines, descriptions, archives, recordings and queues, and for the identity of
/// cached responses. An app adds its own:
///
///     var redaction = Redaction()
///     redaction.headers.parts = ["customer-number"]
///     configuration.interceptors = [Caching(store, secrets: redaction.headers)]
public struct Redaction: Sendable {
    /// What stands in a secret's place.
    public static let mark = "[hidden]"

    /// URLs within values within URLs are looked into this deep; what lies deeper is hidden whole. Each one is read as it
    /// stands and decoded, so that the work doubles with each.
    private static let maxNesting = 4

    /// Names of header fields.
    public var headers: Names
    /// Names in queries and fragments.
    public var queryKeys: Names
    /// Names in form and JSON bodies, however deep.
    public var bodyFields: Names

    /// Usual names of secrets, unless said otherwise.
    public init(headers: Names = .usual, queryKeys: Names = .usual, bodyFields: Names = .usual) {
        self.headers = headers
        self.queryKeys = queryKeys
        self.bodyFields = bodyFields
    }

    /// The fields, with the secrets' values hidden.
    public func hiding(_ fields: Headers) -> Headers {
        Headers(fields.map { Headers.Field(name: $0.name, content: content(of: $0)) })
    }

    /// The value of a field, hidden if need be; of those with a URL its secrets alone.
    private func content(of field: Headers.Field) -> ByteText {
        if headers.contains(field.name) {
            return ByteText(Self.mark)
        }
        switch field.name.lowercased() {
        case "location", "content-location", "referer", "refresh": return hiding(field.content) { hiding(url: $0) }
        case "link": return hiding(field.content) { hiding(links: $0) }
        // What a proxy was asked for, and what a page reports to.
        default: return field.value.isURLWithQuery ? hiding(field.content) { hiding(url: $0) } : field.content
        }
    }

    /// What is not UTF-8 is read byte by byte, so that what is not hidden stays as it is.
    private func hiding(_ content: ByteText, _ hide: (String) -> String) -> ByteText {
        content.isUTF8 ? ByteText(hide(content.text)) : ByteText(byteScalars: hide(content.byteScalars))
    }

    /// URLs between "<" and ">", each with parameters behind it (RFC 8288, 3).
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

    /// The URL without userinfo, and with the values of secret keys hidden in its query and its fragment.
    public func hiding(url: String) -> String { hiding(url: url, upTo: Self.maxNesting) }

    private func hiding(url: String, upTo nesting: Int) -> String {
        let url = Self.withoutUserinfo(url)
        // A fragment may hold a "?", and a query no "#".
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

    /// Pairs with ";" between them. Behind a secret one all of them are hidden: a secret may hold a ";".
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
        // Some servers read ";" as "&".
        if value.utf8.contains(UInt8(ascii: ";")), let (first, _, rest) = value.cut(atFirst: ";") {
            return hiding(pair: "\(name)=\(first)", names, upTo: nesting) + ";"
                + hiding(parameters: rest, names, upTo: nesting)
        }
        // A value may be a URL with secrets of its own; as a rule it is written with percents, and would be hard to mend.
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

    /// The value without its percents, or without those of the URL that it is, which may have been written with percents
    /// more than once; nil for one written so too often.
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

    /// Also of a reference that takes the scheme over (RFC 3986, 4.2).
    private static func withoutUserinfo(_ url: String) -> String {
        url.utf8.starts(with: "//".utf8) ? String(("a:" + url).withoutUserinfo.dropFirst(2)) : url.withoutUserinfo
    }

    /// A form or a JSON text with the secrets' values hidden; nil for any other body, of which nothing is safe to show.
    public func hiding(body: Bytes, contentType: String?) -> String? {
        hiding(body: body, contentType: contentType, keepsTypes: false)
    }

    /// The same.
    ///
    /// - Parameter keepsTypes: whether what is hidden in JSON is still of its type, so that the text decodes as before:
    ///   numbers are 0, booleans are false, null is null, and arrays and objects hold such values.
    package func hiding(body: Bytes, contentType: String?, keepsTypes: Bool) -> String? {
        let type = String((contentType ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        if type == "application/x-www-form-urlencoded" {
            return hiding(pairs: String(decoding: Array(body), as: UTF8.self), bodyFields, upTo: Self.maxNesting)
        }
        guard MediaTypes.accept(contentType, MediaTypes.json), body.isJSON else { return nil }
        return String(decoding: hiding(json: Array(body), keepsTypes: keepsTypes), as: UTF8.self)
    }

    /// A body of a type of JSON that is none, such as one that was cut or begins with a mark, gone through as if it were:
    /// what stands behind a secret's name is hidden, and all else is as it was. Nil for a body of another type.
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
