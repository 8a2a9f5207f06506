extension String {
    /// The decoded pairs of a URL's query ("%XX" and "+"); a name without "=" has an empty value.
    package var queryPairs: [(name: String, value: String)] {
        let address = cut(atFirst: "#")?.before ?? self
        guard let query = address.cut(atFirst: "?")?.after else { return [] }
        return query.unicodeScalars.split(separator: "&").map { scalars in
            let pair = String(scalars)
            guard let (name, _, value) = pair.cut(atFirst: "=") else { return (pair.percentDecoded, "") }
            return (name.percentDecoded, value.percentDecoded)
        }
    }

    /// The text with "%XX" and "+" decoded; malformed sequences stay.
    var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? 32 : byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if digits.count == 2 {
                bytes.append(UInt8(digits[0] * 16 + digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
