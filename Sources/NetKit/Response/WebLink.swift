/// A link of a response's `Link` field (RFC 8288).
public struct WebLink: Sendable, Hashable {
    /// Its target: a URL, or a reference relative to the URL of the response.
    public var target: String
    /// Its relations in lower case: "next", "prev", "first", "last", "alternate".
    public var relations: [String]
    /// Its further parameters, with names in lower case: "title", "type", "hreflang".
    public var parameters: [String: String]
}

extension Response {
    /// The links of the response itself, in order. Malformed links are left out, and so are links of another context
    /// (`anchor`).
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
    private var rest: Substring.UTF8View

    /// Returns the links of a value. After a malformed link, reading continues behind the next comma.
    static func links(in value: String) -> [WebLink] {
        var field = LinkField(rest: value[...].utf8)
        var links: [WebLink] = []
        while true {
            field.skip { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
            if field.rest.isEmpty {
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
        let place = ByteText(byteScalars: target)
        // A String cannot hold the bytes of a URL that is not UTF-8: they are percent-encoded, as in a Location.
        var link = WebLink(
            target: place.isUTF8 ? place.text : place.urlReference, relations: [], parameters: [:])
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
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let quoted = rest.popFirst() {
                bytes.append(quoted)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A comma in quotes or in a target ends no link.
    private mutating func skipToComma() {
        var closing: UInt8?
        while let byte = rest.first, closing != nil || byte != UInt8(ascii: ",") {
            rest = rest.dropFirst()
            if closing == UInt8(ascii: "\""), byte == UInt8(ascii: "\\") {
                rest = rest.dropFirst()
            } else if byte == closing {
                closing = nil
            } else if closing == nil {
                closing = byte == UInt8(ascii: "\"") ? byte : byte == UInt8(ascii: "<") ? UInt8(ascii: ">") : nil
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        return String(decoding: taken, as: UTF8.self)
    }

    private mutating func skip(while belongs: (UInt8) -> Bool) {
        rest = rest.drop(while: belongs)
    }

    private mutating func skipBlanks() {
        skip { $0 == 0x20 || $0 == 0x09 }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\"")].contains(byte)
    }
}
