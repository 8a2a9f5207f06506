extension Redaction {
    /// Hides the values of members with secret names. Every string that is followed by a colon counts as a name, so
    /// that this also works for malformed JSON.
    func hiding(json: [UInt8], keepsTypes: Bool) -> [UInt8] {
        var visible: [UInt8] = []
        var index = 0
        while index < json.count {
            guard json[index] == UInt8(ascii: "\"") else {
                visible.append(json[index])
                index += 1
                continue
            }
            let end = Self.endOfString(json, from: index)
            let colon = Self.skippingBlanks(json, from: end)
            visible += json[index..<end]
            if colon < json.count, json[colon] == UInt8(ascii: ":"),
                isSecret(json[index..<end], isText: Self.isText(json, behind: colon))
            {
                let value = Self.skippingBlanks(json, from: colon + 1)
                index = Self.endOfValue(json, from: value)
                visible.append(UInt8(ascii: ":"))
                if keepsTypes, value < index {
                    visible += HiddenJSON(json[value..<index]).text
                } else {
                    visible += Array("\"\(Self.mark)\"".utf8)
                }
            } else {
                index = end
            }
        }
        return visible
    }

    /// Returns true if a name denotes a secret, after its escapes were decoded.
    ///
    /// Some names denote secrets only as parameters, such as OAuth's `code`. In JSON they count only if the value is a
    /// string, because numbers and objects with such a name have other meanings.
    private func isSecret(_ quoted: ArraySlice<UInt8>, isText: Bool) -> Bool {
        let name = JSONText.string(Bytes(Array(quoted))) ?? String(decoding: quoted, as: UTF8.self)
        return bodyFields.contains(name, as: .member) || (isText && bodyFields.contains(name, as: .parameter))
    }

    private static func isText(_ json: [UInt8], behind colon: Int) -> Bool {
        let start = skippingBlanks(json, from: colon + 1)
        return start < json.count && json[start] == UInt8(ascii: "\"")
    }

    fileprivate static func skippingBlanks(_ json: [UInt8], from start: Int) -> Int {
        json[start...].firstIndex { ![9, 10, 13, 32].contains($0) } ?? json.count
    }

    /// Returns the index after the string's closing quote.
    fileprivate static func endOfString(_ json: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < json.count, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(json.count, index + 1)
    }

    /// Returns the index after a value. For an array or an object this is the index after its closing bracket.
    private static func endOfValue(_ json: [UInt8], from start: Int) -> Int {
        var index = start
        var depth = 0
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\""):
                index = endOfString(json, from: index)
                if depth == 0 {
                    return index
                }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 {
                    return depth < 0 ? index : index + 1
                }
            case UInt8(ascii: ","), 9, 10, 13, 32:
                if depth == 0 {
                    return index
                }
            default:
                break
            }
            index += 1
        }
        return index
    }
}

/// Replaces each scalar of a secret JSON value by another scalar of the same type.
///
/// It recognizes only brackets, quotes and separators, so that it also hides values in malformed JSON.
private struct HiddenJSON {
    private let json: [UInt8]
    private(set) var text: [UInt8] = []
    private var hiddenNames = 0

    init(_ value: ArraySlice<UInt8>) {
        json = Array(value)
        var index = 0
        while index < json.count {
            index = hide(index)
        }
    }

    /// Hides the value at `start` and returns the index after it.
    private mutating func hide(_ start: Int) -> Int {
        switch json[start] {
        case UInt8(ascii: "\""):
            let end = Redaction.endOfString(json, from: start)
            let after = Redaction.skippingBlanks(json, from: end)
            let isName = after < json.count && json[after] == UInt8(ascii: ":")
            text += isName ? visibleName(json[start..<end]) : Array("\"\(Redaction.mark)\"".utf8)
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

    /// Returns a member name. A name that does not look like an identifier is hidden, because the keys of a dictionary
    /// may be secrets too.
    private mutating func visibleName(_ quoted: ArraySlice<UInt8>) -> [UInt8] {
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
