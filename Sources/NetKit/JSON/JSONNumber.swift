/// A number with all its digits as written. Numbers are equal if their texts are equal.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The digits.
    public let text: String

    /// Creates a number from its text. `nil` if it is not a JSON number (RFC 8259, 6).
    public init?(_ text: String) {
        var rest = Substring(text).utf8
        if rest.first == UInt8(ascii: "-") {
            rest = rest.dropFirst()
        }
        let whole = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(whole.count)
        guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard Self.takeDigits(&rest) else { return nil }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
                rest = rest.dropFirst()
            }
            guard Self.takeDigits(&rest) else { return nil }
        }
        guard rest.isEmpty else { return nil }
        self.text = text
    }

    init(checked text: String) {
        self.text = text
    }

    /// Creates an integer.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// The integer, also for 1.0 and 1e2. `nil` if it is not an integer or exceeds an `Int`.
    public var integer: Int? {
        Int(text) ?? plainDigits.flatMap { Int($0) }
    }

    /// The number without point and exponent. `nil` if it is not an integer, or has more digits than an `Int`.
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

    /// The nearest `Double`, or `nil` beyond its range.
    public var double: Double? {
        Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The digits.
    public var description: String { text }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func takeDigits(_ rest: inout Substring.UTF8View) -> Bool {
        let digits = rest.prefix(while: isDigit)
        rest = rest.dropFirst(digits.count)
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
