/// Indents and colours JSON text while it arrives. Only whitespace between tokens changes, so that text which is not JSON
/// stays readable.
struct JSONPrinter {
    private enum Colour: String {
        case name = "34"
        case string = "32"
        case word = "36"
    }

    private let hasColours: Bool
    /// The brackets that are open. A name is expected at the beginning of a member of an object.
    private var open: [UInt8] = []
    private var expectsName = false
    /// Whether the last token is an opening bracket, after which the line break waits: an empty container stays in one
    /// line.
    private var isAfterOpening = false
    private var isInString = false
    private var isEscaped = false
    private var isInWord = false
    private var output: [UInt8] = []

    init(hasColours: Bool) {
        self.hasColours = hasColours
    }

    /// Returns the text to print for the next piece of the body.
    mutating func print(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        output = []
        for byte in bytes {
            add(byte)
        }
        return output
    }

    /// Returns the end of the last token's colour.
    mutating func end() -> [UInt8] {
        output = []
        if isInString || isInWord {
            endColour()
        }
        (isInString, isInWord) = (false, false)
        return output
    }

    private mutating func add(_ byte: UInt8) {
        if isInString {
            return addInString(byte)
        }
        let isSpace = [0x20, 0x09, 0x0a, 0x0d].contains(byte)
        if isInWord, isSpace || ",:]}".utf8.contains(byte) {
            isInWord = false
            endColour()
        }
        if isSpace {
            return
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            beginToken()
            output.append(byte)
            open.append(byte)
            isAfterOpening = true
            expectsName = byte == UInt8(ascii: "{")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = open.popLast()
            if !isAfterOpening {
                breakLine()
            }
            isAfterOpening = false
            output.append(byte)
            endIfTop()
        case UInt8(ascii: ","):
            output.append(byte)
            breakLine()
            expectsName = open.last == UInt8(ascii: "{")
        case UInt8(ascii: ":"):
            output += [byte, UInt8(ascii: " ")]
            expectsName = false
        case UInt8(ascii: "\""):
            beginToken()
            begin(expectsName ? .name : .string)
            output.append(byte)
            isInString = true
        default:
            if !isInWord {
                beginToken()
                begin(.word)
                isInWord = true
            }
            addVisible(byte)
        }
    }

    private mutating func addInString(_ byte: UInt8) {
        addVisible(byte)
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            endColour()
            endIfTop()
        }
    }

    /// Adds a byte of a token. A control character would act on the terminal, so its escape sequence is printed.
    private mutating func addVisible(_ byte: UInt8) {
        if byte < 0x20 || byte == 0x7f {
            let digits = String(byte, radix: 16)
            output += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
        } else {
            output.append(byte)
        }
    }

    private mutating func beginToken() {
        if isAfterOpening {
            breakLine()
        }
        isAfterOpening = false
    }

    /// Ends the line after a complete text, so that several texts (NDJSON) are separate.
    private mutating func endIfTop() {
        if open.isEmpty {
            output.append(0x0a)
        }
    }

    private mutating func breakLine() {
        output.append(0x0a)
        output += Array(repeating: 0x20, count: 2 * min(open.count, 64))
    }

    private mutating func begin(_ colour: Colour) {
        if hasColours {
            output += Array("\u{1b}[\(colour.rawValue)m".utf8)
        }
    }

    private mutating func endColour() {
        if hasColours {
            output += Array("\u{1b}[0m".utf8)
        }
    }
}
