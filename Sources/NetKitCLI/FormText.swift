/// Parses the text after `name=` of -F, as curl does. It works on Unicode scalars, so a combining mark does not hide a
/// delimiter.
struct FormText {
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        rest = text.unicodeScalars[...]
    }

    var next: Unicode.Scalar? { rest.first }

    mutating func take() -> Unicode.Scalar? {
        rest.popFirst()
    }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        let isThere = rest.first == mark
        if isThere {
            rest.removeFirst()
        }
        return isThere
    }

    mutating func take(prefix: String) -> Bool {
        let isThere = String(rest.prefix(prefix.count)).lowercased() == prefix
        if isThere {
            rest.removeFirst(prefix.count)
        }
        return isThere
    }

    mutating func skipBlanks() {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }

    /// Takes the text up to the next semicolon (or comma), without surrounding blanks. In quotes, a backslash escapes a
    /// quote and another backslash.
    mutating func word(endsAtComma: Bool) -> String {
        skipBlanks()
        let whole = rest
        if take("\"") {
            var word = String.UnicodeScalarView()
            while let letter = rest.popFirst() {
                if letter == "\"" {
                    _ = plain(endsAtComma: endsAtComma)
                    return String(word)
                }
                let escapes = letter == "\\" && (rest.first == "\"" || rest.first == "\\")
                word.append(escapes ? rest.removeFirst() : letter)
            }
            rest = whole  // A quote without an end is literal.
        }
        return plain(endsAtComma: endsAtComma)
    }

    /// Takes a media type with its parameters, up to the next attribute (or comma).
    mutating func type(endsAtComma: Bool) -> String {
        var type = word(endsAtComma: endsAtComma)
        while rest.first == ";", !isAttribute {
            rest.removeFirst()
            type += ";" + plain(endsAtComma: endsAtComma)
        }
        return type
    }

    private var isAttribute: Bool {
        let behind = String(rest.dropFirst().drop { $0 == " " || $0 == "\t" }).lowercased()
        return ["filename=", "headers=", "encoder=", "type="].contains { behind.hasPrefix($0) }
    }

    private mutating func plain(endsAtComma: Bool) -> String {
        var word = rest.prefix { $0 != ";" && !(endsAtComma && $0 == ",") }
        rest = rest[word.endIndex...]
        while let last = word.last, last == " " || last == "\t" {
            word.removeLast()
        }
        return String(word)
    }
}
