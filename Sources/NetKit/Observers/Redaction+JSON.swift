extension Redaction {
    /// Hides the values of secret names. A string before a colon is a name.
    func hiding(json: [UInt8], keepsTypes: Bool) -> [UInt8] {
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
            if colon < json.count, json[colon] == UInt8(ascii: ":"),
                isSecret(json[at..<end], isText: Self.isText(json, behind: colon))
            {
                let value = Self.skippingBlanks(json, from: colon + 1)
                at = Self.endOfValue(json, from: value)
                shown.append(UInt8(ascii: ":"))
                if keepsTypes, value < at {
                    shown += HiddenJSON(json[value..<at]).text
                } else {
                    shown += Array("\"\(Self.mark)\"".utf8)
                }
            } else {
                at = end
            }
        }
        return shown
    }

    /// Whether a name denotes a secret, after its escapes are decoded. An OAuth `code` is a string; other members of
    /// that name are numbers and objects as well.
    private func isSecret(_ quoted: ArraySlice<UInt8>, isText: Bool) -> Bool {
        let name = JSONText.string(Bytes(Array(quoted))) ?? String(decoding: quoted, as: UTF8.self)
        return bodyFields.contains(name, as: .member) || (isText && bodyFields.contains(name, as: .parameter))
    }

    private static func isText(_ json: [UInt8], behind colon: Int) -> Bool {
        let start = skippingBlanks(json, from: colon + 1)
        return start < json.count && json[start] == UInt8(ascii: "\"")
    }

    static func skippingBlanks(_ json: [UInt8], from start: Int) -> Int {
        json[start...].firstIndex { ![9, 10, 13, 32].contains($0) } ?? json.count
    }

    /// Returns the index after the string's closing quote.
    static func endOfString(_ json: [UInt8], from start: Int) -> Int {
        var at = start + 1
        while at < json.count, json[at] != UInt8(ascii: "\"") {
            at += json[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(json.count, at + 1)
    }

    /// Returns the index after a value: a string, a number or word, or everything up to the closing bracket.
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
