/// The challenges of WWW-Authenticate and Proxy-Authenticate fields (RFC 9110, 11.6.1): scheme and realm. Pure.
///
/// One field may contain several challenges, and commas separate both challenges and their parameters. A word followed
/// by a space or the end, without "=", starts a challenge.
struct AuthenticateField {
    struct Item: Equatable {
        var scheme: String
        var realm: String?
    }

    private var rest: Substring.UTF8View

    /// The challenges, in the server's order of preference.
    static func items(in values: [String]) -> [Item] {
        values.flatMap { value in
            var field = AuthenticateField(rest: value[...].utf8)
            return field.parse()
        }
    }

    private mutating func parse() -> [Item] {
        var items: [Item] = []
        while true {
            skip { $0 == 0x20 || $0 == 0x09 || $0 == 0x2C }
            let word = take { !Self.isSeparator($0) }
            if word.isEmpty {
                guard !rest.isEmpty else { return items }
                rest = rest.dropFirst()
                continue
            }
            skip { $0 == 0x20 || $0 == 0x09 }
            guard rest.first == UInt8(ascii: "="), !items.isEmpty else {
                items.append(Item(scheme: word, realm: nil))
                skipToken68()
                continue
            }
            rest = rest.dropFirst()
            skip { $0 == 0x20 || $0 == 0x09 }
            let value = takeValue()
            if word.isEqualIgnoringASCIICase(to: "realm"), items[items.count - 1].realm == nil {
                items[items.count - 1].realm = value
            }
        }
    }

    /// A challenge may have one value without a name, which may end with "=".
    private mutating func skipToken68() {
        let ahead = rest.prefix { !Self.isSeparator($0) }
        let behind = rest[ahead.endIndex...].drop { $0 == UInt8(ascii: "=") }
        let next = behind.drop { $0 == 0x20 || $0 == 0x09 }.first
        if !ahead.isEmpty, next == nil || next == 0x2C {
            rest = behind
        }
    }

    private mutating func takeValue() -> String {
        guard rest.first == UInt8(ascii: "\"") else { return take { !Self.isSeparator($0) } }
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.first {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "\"") {
                break
            }
            if byte == UInt8(ascii: "\\"), let quoted = rest.first {
                bytes.append(quoted)
                rest = rest.dropFirst()
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        return String(decoding: taken, as: UTF8.self)
    }

    private mutating func skip(while belongs: (UInt8) -> Bool) {
        rest = rest.drop(while: belongs)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "=")
            || byte == UInt8(ascii: "\"")
    }
}
