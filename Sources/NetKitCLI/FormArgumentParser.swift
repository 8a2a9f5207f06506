/// Parses the text after `name=` of -F, like curl. It works on Unicode scalars, so that a combining mark after a
/// delimiter does not hide the delimiter.
struct FormArgumentParser {
    private var remaining: Substring.UnicodeScalarView

    init(_ text: String) {
        remaining = text.unicodeScalars[...]
    }

    var next: Unicode.Scalar? { remaining.first }

    mutating func take() -> Unicode.Scalar? {
        remaining.popFirst()
    }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        let isNext = remaining.first == mark
        if isNext {
            remaining.removeFirst()
        }
        return isNext
    }

    mutating func take(prefix: String) -> Bool {
        let isNext = String(remaining.prefix(prefix.count)).lowercased() == prefix
        if isNext {
            remaining.removeFirst(prefix.count)
        }
        return isNext
    }

    mutating func skipBlanks() {
        remaining = remaining.drop { $0 == " " || $0 == "\t" }
    }

    /// Removes and returns the text up to the next semicolon (or comma), without surrounding white space. The text may
    /// be quoted; then a backslash escapes a quote or a backslash.
    mutating func word(endsAtComma: Bool) -> String {
        skipBlanks()
        let whole = remaining
        if take("\"") {
            var word = String.UnicodeScalarView()
            while let letter = remaining.popFirst() {
                if letter == "\"" {
                    _ = unquotedWord(endsAtComma: endsAtComma)
                    return String(word)
                }
                let escapes = letter == "\\" && (remaining.first == "\"" || remaining.first == "\\")
                word.append(escapes ? remaining.removeFirst() : letter)
            }
            remaining = whole  // A quote that does not end is an ordinary character.
        }
        return unquotedWord(endsAtComma: endsAtComma)
    }

    /// Removes and returns a media type with its parameters, up to the next attribute (or comma).
    mutating func type(endsAtComma: Bool) -> String {
        var type = word(endsAtComma: endsAtComma)
        while remaining.first == ";", !isAttribute {
            remaining.removeFirst()
            type += ";" + unquotedWord(endsAtComma: endsAtComma)
        }
        return type
    }

    /// Whether an attribute of -F follows the next character.
    private var isAttribute: Bool {
        let text = String(remaining.dropFirst().drop { $0 == " " || $0 == "\t" }).lowercased()
        return ["filename=", "headers=", "encoder=", "type="].contains { text.hasPrefix($0) }
    }

    private mutating func unquotedWord(endsAtComma: Bool) -> String {
        var word = remaining.prefix { $0 != ";" && !(endsAtComma && $0 == ",") }
        remaining = remaining[word.endIndex...]
        while let last = word.last, last == " " || last == "\t" {
            word.removeLast()
        }
        return String(word)
    }
}
