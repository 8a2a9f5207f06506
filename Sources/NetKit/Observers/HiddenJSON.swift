/// Replaces each scalar of a secret JSON value by another one of the same type.
///
/// It recognizes only brackets and quotes, so it also hides malformed JSON.
struct HiddenJSON {
    private let json: [UInt8]
    private(set) var text: [UInt8] = []
    private var hiddenNames = 0

    init(_ value: ArraySlice<UInt8>) {
        json = Array(value)
        var at = 0
        while at < json.count {
            at = hide(at)
        }
    }

    /// Hides the value at `start` and returns the index after it.
    private mutating func hide(_ start: Int) -> Int {
        switch json[start] {
        case UInt8(ascii: "\""):
            let end = Redaction.endOfString(json, from: start)
            let behind = Redaction.skippingBlanks(json, from: end)
            let isName = behind < json.count && json[behind] == UInt8(ascii: ":")
            text += isName ? shownName(json[start..<end]) : Array("\"\(Redaction.mark)\"".utf8)
            return end
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
            UInt8(ascii: ":"), 9, 10, 13, 32:
            text.append(json[start])
            return start + 1
        default:
            let end = json[start...].firstIndex { "{}[],:\" \t\r\n".utf8.contains($0) } ?? json.count
            switch String(decoding: json[start..<end], as: UTF8.self) {
            case "null": text += Array("null".utf8)
            case "true", "false": text += Array("false".utf8)
            default: text.append(UInt8(ascii: "0"))
            }
            return end
        }
    }

    /// Returns a name that looks like an identifier unchanged. Other names are hidden, because the keys of a dictionary
    /// may be secrets too.
    private mutating func shownName(_ quoted: ArraySlice<UInt8>) -> [UInt8] {
        let name = quoted.dropFirst().dropLast()
        let isPlain = name.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "_-.$".utf8.contains(byte)
        }
        if isPlain, name.count <= 32, name.count(where: { (48...57).contains($0) }) <= 2 {
            return Array(quoted)
        }
        hiddenNames += 1
        return Array("\"\(Redaction.mark)\(hiddenNames == 1 ? "" : " \(hiddenNames)")\"".utf8)
    }
}
