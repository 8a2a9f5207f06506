/// A JSON value as a tree. Numbers keep all their digits, and members keep their order.
///
///     let value = try await agent.send(Request<JSONValue>("cities")).value
///     let name = value[0]?["name"]?.string
///     let exact = value[0]?["id"]?.number?.text
///
/// If a name occurs twice in an object, the object has two members with that name. A lookup returns the last one, as
/// browsers do. A parsed tree has at most 512 levels. Thread-safe.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array of values.
    case array([JSONValue])
    /// An object: named values in order.
    case object([Member])

    /// A named value.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

// Strings are compared byte by byte (RFC 8259, 8.3). Swift's == treats the two Unicode forms of "é" as equal.
extension JSONValue.Member {
    /// Returns true if names and values are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
    }
}

extension JSONValue {
    /// Returns true if the values are equal. Members must have the same order, and numbers the same text.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let ones), .array(let others)): ones == others
        case (.object(let ones), .object(let others)): ones == others
        default: false
        }
    }
}

extension JSONValue {
    /// Whether the value is null.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value without members and elements that are null, at any depth. Arrays and objects that become empty are
    /// kept, and so is a top-level null. Of several members with the same name, only the last one is kept.
    package var removingNulls: JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.lazy.filter { !$0.isNull }.map(\.removingNulls))
        case .object(let members):
            .object(
                members.lastOfEachName.filter { !$0.value.isNull }.map {
                    Member(name: $0.name, value: $0.value.removingNulls)
                })
        default: self
        }
    }

    /// The value in which of several members with the same name only the last one is kept, at any depth.
    var withLastMembers: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withLastMembers))
        case .object(let members):
            .object(members.lastOfEachName.map { Member(name: $0.name, value: $0.value.withLastMembers) })
        default: self
        }
    }
}

extension [JSONValue.Member] {
    /// The last member of each name, in order.
    fileprivate var lastOfEachName: [JSONValue.Member] {
        var names = Set<[UInt8]>()
        let last = reversed().filter { names.insert([UInt8]($0.name.utf8)).inserted }
        return last.count == count ? self : last.reversed()
    }
}

// There is no conformance for nil literals, because in an optional context nil could mean either `nil` or null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    /// Creates an integer.
    public init(integerLiteral value: Int) {
        self = .number(JSONNumber(value))
    }

    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = .number(JSONNumber(floatLiteral: value))
    }

    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Creates an object with members in the literal's order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON, without white space.
    public var description: String {
        String(decoding: utf8, as: UTF8.self)
    }

    /// The value as JSON in UTF-8, without white space.
    public var bytes: Bytes { Bytes(utf8) }

    var utf8: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }

    private func write(to out: inout [UInt8]) {
        switch self {
        case .null: out += "null".utf8
        case .boolean(let value): out += (value ? "true" : "false").utf8
        case .number(let number): out += number.text.utf8
        case .string(let text): Self.write(text, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 {
                    out.append(UInt8(ascii: ","))
                }
                element.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 {
                    out.append(UInt8(ascii: ","))
                }
                Self.write(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string. Only the characters that must be escaped are escaped (RFC 8259, 7).
    private static func write(_ text: String, to out: inout [UInt8]) {
        let hex = Array("0123456789abcdef".utf8)
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
            case 0x0A: out += "\\n".utf8
            case 0x0D: out += "\\r".utf8
            case 0x09: out += "\\t".utf8
            case ..<0x20: out += "\\u00".utf8 + [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}

/// A JSON number with all its digits. Two numbers are equal if their texts are equal: 1 and 1.0 are not equal.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The text of the number in the JSON.
    public let text: String

    /// Creates a number from its text. Returns `nil` if the text is not a JSON number (RFC 8259, 6).
    public init?(_ text: String) {
        var remaining = Substring(text).utf8
        if remaining.first == UInt8(ascii: "-") {
            remaining = remaining.dropFirst()
        }
        let whole = remaining.prefix(while: Self.isDigit)
        remaining = remaining.dropFirst(whole.count)
        guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else { return nil }
        if remaining.first == UInt8(ascii: ".") {
            remaining = remaining.dropFirst()
            guard Self.takeDigits(&remaining) else { return nil }
        }
        if remaining.first == UInt8(ascii: "e") || remaining.first == UInt8(ascii: "E") {
            remaining = remaining.dropFirst()
            if remaining.first == UInt8(ascii: "-") || remaining.first == UInt8(ascii: "+") {
                remaining = remaining.dropFirst()
            }
            guard Self.takeDigits(&remaining) else { return nil }
        }
        guard remaining.isEmpty else { return nil }
        self.text = text
    }

    init(checked text: String) {
        self.text = text
    }

    /// Creates an integer.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// The number as an integer, which also works for texts such as 1.0 and 1e2. `nil` if it has a fraction or exceeds
    /// the range of `Int`.
    public var integer: Int? {
        Int(text) ?? plainDigits.flatMap { Int($0) }
    }

    /// The number without point and exponent. `nil` if it has a fraction, or more digits than an `Int`.
    private var plainDigits: String? {
        let (number, _, exponent) = text.cut(atFirst: "e", "E") ?? (text, "e", "0")
        let (whole, _, fraction) = number.cut(atFirst: ".") ?? (number, ".", "")
        let sign = whole.hasPrefix("-") ? "-" : ""
        let all = Array((whole.dropFirst(sign.utf8.count) + fraction).utf8)
        guard let first = all.firstIndex(where: { $0 != UInt8(ascii: "0") }) else { return "0" }
        let last = all.lastIndex { $0 != UInt8(ascii: "0") } ?? first
        // The number of zeros after the last significant digit; negative for a fraction.
        guard let exponent = Int32(exponent).map(Int.init) else { return nil }
        let zeros = exponent - fraction.utf8.count + (all.count - 1 - last)
        guard zeros >= 0, last - first + zeros < 20 else { return nil }
        return sign + String(decoding: all[first...last], as: UTF8.self) + String(repeating: "0", count: zeros)
    }

    /// The nearest `Double`. `nil` if the number exceeds the range of `Double`.
    public var double: Double? {
        Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The text of the number.
    public var description: String { text }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func takeDigits(_ remaining: inout Substring.UTF8View) -> Bool {
        let digits = remaining.prefix(while: isDigit)
        remaining = remaining.dropFirst(digits.count)
        return !digits.isEmpty
    }
}

extension JSONNumber: ExpressibleByIntegerLiteral {
    /// Creates an integer.
    public init(integerLiteral value: Int) {
        text = String(value)
    }
}

extension JSONNumber: ExpressibleByFloatLiteral {
    /// Creates a number. A non-finite literal becomes 0.
    public init(floatLiteral value: Double) {
        text = value.isFinite ? "\(value)" : "0"
    }
}
