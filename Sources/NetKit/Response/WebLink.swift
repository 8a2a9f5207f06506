/// A link of a response's `Link` field (RFC 8288).
public struct WebLink: Sendable, Hashable {
    /// The target: a URL, or a reference relative to the URL of the response.
    public var target: String
    /// The relation types in lower case, such as "next", "prev", "first" or "last".
    public var relations: [String]
    /// The other parameters, such as "title" or "type", with names in lower case.
    public var parameters: [String: String]
}

extension Response {
    /// The links of the response, in order. Malformed links are left out, and so are links whose `anchor` parameter
    /// assigns them to another resource.
    public var links: [WebLink] {
        headers.byteScalars(named: "Link").flatMap { LinkField.links(in: $0) }.filter { $0.parameters["anchor"] == nil }
    }

    /// Returns the target of the first link with this relation as an absolute URL, or `nil` if there is none.
    ///
    /// - Throws: ``NetError/Code/badURL`` for an invalid target.
    public func link(_ relation: String) throws(NetError) -> String? {
        let relation = relation.lowercased()
        guard let target = links.first(where: { $0.relations.contains(relation) })?.target else { return nil }
        return url.isEmpty ? target : try resolveReference(target, at: url)
    }
}

/// The grammar of `Link` (RFC 8288, 3 and appendix B.2), read with one scalar for each byte. Pure.
private struct LinkField {
    private var remaining: Substring.UTF8View

    /// Returns the links of a field value. After a malformed link, parsing continues after the next comma.
    static func links(in value: String) -> [WebLink] {
        var field = LinkField(remaining: value[...].utf8)
        var links: [WebLink] = []
        while true {
            field.skip { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
            if field.remaining.isEmpty {
                return links
            }
            if let link = field.link() {
                links.append(link)
            }
            field.skipToComma()
        }
    }

    private mutating func link() -> WebLink? {
        guard take(UInt8(ascii: "<")) else { return nil }
        let target = take { $0 != UInt8(ascii: ">") && $0 > 0x20 && $0 != UInt8(ascii: "<") }
        guard take(UInt8(ascii: ">")) else { return nil }
        let targetText = ByteText(byteScalars: target)
        // A String cannot hold a URL that is not UTF-8, so such bytes are percent-encoded, as in a `Location` field.
        var link = WebLink(
            target: targetText.isUTF8 ? targetText.text : targetText.urlReference, relations: [], parameters: [:])
        skipBlanks()
        while take(UInt8(ascii: ";")) {
            skipBlanks()
            let name = take { !Self.isDelimiter($0) }.asciiLowercased
            skipBlanks()
            var value = ""
            if take(UInt8(ascii: "=")) {
                skipBlanks()
                value = takeValue()
            }
            // The first of several parameters with one name applies (RFC 8288, 3.3 and 3.4.1).
            if !name.isEmpty, link.parameters[name] == nil {
                link.parameters[name] = ByteText(byteScalars: value).text
            }
            skipBlanks()
        }
        let words = link.parameters.removeValue(forKey: "rel")?.split { $0 == " " || $0 == "\t" } ?? []
        link.relations = words.map { $0.lowercased() }
        return link
    }

    private mutating func takeValue() -> String {
        // An unquoted value may contain characters that a token may not: "rel=a:b/c=d e" (RFC 8288, B.3).
        guard take(UInt8(ascii: "\"")) else {
            return take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }.trimmingBlanks
        }
        var bytes: [UInt8] = []
        while let byte = remaining.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let quoted = remaining.popFirst() {
                bytes.append(quoted)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Skips to the next comma that ends a link. A comma in a quoted string or in a target does not.
    private mutating func skipToComma() {
        var closing: UInt8?
        while let byte = remaining.first, closing != nil || byte != UInt8(ascii: ",") {
            remaining = remaining.dropFirst()
            if closing == UInt8(ascii: "\""), byte == UInt8(ascii: "\\") {
                remaining = remaining.dropFirst()
            } else if byte == closing {
                closing = nil
            } else if closing == nil {
                closing = byte == UInt8(ascii: "\"") ? byte : byte == UInt8(ascii: "<") ? UInt8(ascii: ">") : nil
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard remaining.first == byte else { return false }
        remaining = remaining.dropFirst()
        return true
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> String {
        let taken = remaining.prefix(while: belongs)
        remaining = remaining[taken.endIndex...]
        return String(decoding: taken, as: UTF8.self)
    }

    private mutating func skip(while belongs: (UInt8) -> Bool) {
        remaining = remaining.drop(while: belongs)
    }

    private mutating func skipBlanks() {
        skip { $0 == 0x20 || $0 == 0x09 }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\"")].contains(byte)
    }
}
