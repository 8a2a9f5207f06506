import NetKit

extension Arguments.DataArgument {
    /// Returns the bytes to send. If the argument names a file, it is read. As in curl, line ends are removed from a
    /// file of -d.
    func bytes() throws(Failure) -> [UInt8] {
        switch kind {
        case .encoded:
            return try encodedBytes()
        case .plain:
            guard let file else { return Array(text.utf8) }
            return try contents(of: file).filter { $0 != 13 && $0 != 10 && $0 != 0 }
        case .raw, .whole, .json:
            guard let file else { return Array(text.utf8) }
            return try contents(of: file)
        }
    }

    /// Returns the bytes for --data-urlencode, which curl defines as CONTENT, =CONTENT, NAME=CONTENT, @FILE or
    /// NAME@FILE. "=" takes precedence over "@". Only the content is encoded, not the name.
    private func encodedBytes() throws(Failure) -> [UInt8] {
        guard let (name, mark, value) = text.cut(atFirst: "=") ?? text.cut(atFirst: "@") else {
            return Percent.form(text.utf8)
        }
        let content = mark == "@" ? try contents(of: value) : Array(value.utf8)
        return Array(name.utf8) + (name.isEmpty ? [] : [UInt8(ascii: "=")]) + Percent.form(content)
    }

    private func contents(of file: String) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            return try InputFile.contents(of: file, maxBytes: InputFile.maxDataBytes)
        } catch {
            throw Failure(reading: error, from: file)
        }
    }
}

extension Percent {
    /// Encodes a form value like curl. A space becomes "+", and all characters except letters, digits and "-._~" are
    /// percent-encoded.
    fileprivate static func form(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.append(byte)
            case UInt8(ascii: " "):
                escaped.append(UInt8(ascii: "+"))
            default:
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return escaped
    }
}
