/// Hides secrets in what is written down about requests: by the names of fields, query keys and body fields.
public struct Redaction: Sendable {
    /// Names that stand for secrets. Case, "-" and "_" do not count.
    public struct Names: Sendable {
        /// Parts of names, in lower-case letters and digits.
        public var parts: Set<String>
        /// Ends of names, and of each name in brackets: "user[pin]" is how a form writes the PIN of a user.
        public var ends: Set<String>

        /// Names with these parts, or these ends.
        public init(parts: Set<String> = [], ends: Set<String> = []) {
            self.parts = parts
            self.ends = ends
        }

        /// Usual names of secrets.
        public static let usual = Names(
            parts: [
                "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential",
                "session", "signature",
            ], ends: ["key", "auth", "pwd", "pin", "otp", "jwt", "sig"])

        /// Whether it stands for a secret.
        public func contains(_ name: String) -> Bool {
            let bare = name.lowercased().filter { $0 != "-" && $0 != "_" }
            if parts.contains(where: { bare.contains($0) }) {
                return true
            }
            // By scalars: a bracket is one, whatever accent follows it.
            let names = bare.unicodeScalars.split { $0 == "[" || $0 == "]" }
            return names.contains { name in ends.contains { String(name).hasSuffix($0) } }
        }
    }

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
        Headers(fields.map { Headers.Field(name: $0.name, value: value(of: $0)) })
    }

    /// The value of a field, hidden if need be; of those with a URL its secrets alone.
    private func value(of field: Headers.Field) -> String {
        if headers.contains(field.name) {
            return Self.mark
        }
        switch field.name.lowercased() {
        case "location", "content-location", "referer", "refresh": return hiding(url: field.value)
        case "link": return hiding(links: field.value)
        default: return field.value
        }
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
        guard let (path, _, query) = place.cut(atFirst: "?") else { return place }
        return path + "?" + hiding(pairs: query, queryKeys, upTo: nesting)
    }

    private func hiding(pairs: String, _ names: Names, upTo nesting: Int) -> String {
        pairs.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false)
            .map { hiding(pair: String($0), names, upTo: nesting) }.joined(separator: "&")
    }

    private func hiding(pair: String, _ names: Names, upTo nesting: Int) -> String {
        guard let (name, _, value) = pair.cut(atFirst: "=") else { return pair }
        if names.contains(name.percentDecoded) {
            return "\(name)=\(Self.mark)"
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
        let type = String((contentType ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        if type == "application/x-www-form-urlencoded" {
            return hiding(pairs: String(decoding: Array(body), as: UTF8.self), bodyFields, upTo: Self.maxNesting)
        }
        guard MediaTypes.accept(contentType, MediaTypes.json), body.isJSON else { return nil }
        return String(decoding: hiding(json: Array(body)), as: UTF8.self)
    }

    /// A body of a type of JSON that is none, such as one that was cut or begins with a mark, gone through as if it were:
    /// what stands behind a secret's name is hidden, and all else is as it was. Nil for a body of another type.
    package func hiding(brokenJSON body: Bytes, contentType: String?) -> Bytes? {
        MediaTypes.accept(contentType, MediaTypes.json) ? Bytes(hiding(json: Array(body))) : nil
    }
}

extension Redaction {
    /// A string before a colon is a name.
    private func hiding(json: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        var at = 0
        while at < json.count {
            guard json[at] == UInt8(ascii: "\"") else {
                shown.append(json[at])
                at += 1
                continue
            }
            let end = Self.endOfString(json, from: at)
            let colon = Self.skippingBlanks(json, from: end)
            shown += json[at..<end]
            if colon < json.count, json[colon] == UInt8(ascii: ":"), isSecret(json[at..<end]) {
                shown += Array(":\"\(Self.mark)\"".utf8)
                at = Self.endOfValue(json, from: Self.skippingBlanks(json, from: colon + 1))
            } else {
                at = end
            }
        }
        return shown
    }

    /// Whether a name stands for a secret, its escapes undone.
    private func isSecret(_ quoted: ArraySlice<UInt8>) -> Bool {
        let name = JSONText.string(Bytes(Array(quoted))) ?? String(decoding: quoted, as: UTF8.self)
        return bodyFields.contains(name)
    }

    private static func skippingBlanks(_ json: [UInt8], from start: Int) -> Int {
        json[start...].firstIndex { ![9, 10, 13, 32].contains($0) } ?? json.count
    }

    /// Behind the string's closing quote.
    private static func endOfString(_ json: [UInt8], from start: Int) -> Int {
        var at = start + 1
        while at < json.count, json[at] != UInt8(ascii: "\"") {
            at += json[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(json.count, at + 1)
    }

    /// Behind a value: a string, a number or word, or everything up to the bracket that closes it.
    private static func endOfValue(_ json: [UInt8], from start: Int) -> Int {
        var at = start
        var depth = 0
        while at < json.count {
            switch json[at] {
            case UInt8(ascii: "\""):
                at = endOfString(json, from: at)
                if depth == 0 {
                    return at
                }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 {
                    return depth < 0 ? at : at + 1
                }
            case UInt8(ascii: ","), 9, 10, 13, 32:
                if depth == 0 {
                    return at
                }
            default:
                break
            }
            at += 1
        }
        return at
    }
}
