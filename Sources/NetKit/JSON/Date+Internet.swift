#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// Decodes ISO 8601 text.
    init(internetDateFrom decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let date = Date(internetText: text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription:
                        "expected an ISO 8601 date such as 2026-11-21T18:00:00Z, found \"\(text.prefix(64))\""
                ))
        }
        self = date
    }

    /// Reads a date such as `2026-11-21T18:00:00Z`, `2026-11-21T18:00:00.123+01:00` or `2026-11-21` (RFC 3339 and the
    /// forms of ISO 8601 near it). A date without a time is midnight UTC. A time without an offset is not accepted,
    /// because its time zone is unknown.
    init?(internetText text: String) {
        var scanner = DateScanner(text)
        guard let day = scanner.day() else { return nil }
        if scanner.isAtEnd {
            self.init(timeIntervalSince1970: Double(day * 86400))
            return
        }
        guard scanner.skip("T", "t", " "), let time = scanner.time(), let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        self.init(timeIntervalSince1970: Double(day * 86400 + time.seconds - offset) + time.fraction)
    }
}

/// Reads the parts of a date from ASCII text.
private struct DateScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips one of these ASCII characters.
    mutating func skip(_ characters: Unicode.Scalar...) -> Bool {
        guard let first = rest.first, characters.contains(where: { $0.value == UInt32(first) }) else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads a number of exactly `count` digits.
    private mutating func number(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }

    /// Reads a date and returns its days since 1970.
    mutating func day() -> Int64? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2) else { return nil }
        return HTTPDate.epochDay(year: year, month: Int(month), checkedDay: day)
    }

    /// Reads a time of day. Seconds may be missing, and may have a fraction. A leap second is accepted.
    mutating func time() -> (seconds: Int64, fraction: Double)? {
        guard let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60 else { return nil }
        var (second, fraction): (Int64, Double) = (0, 0)
        if skip(":") {
            guard let whole = number(2), whole <= 60 else { return nil }
            second = whole
            if skip(".", ",") {
                let digits = rest.prefix { (48...57).contains($0) }
                guard !digits.isEmpty, let value = Double("0." + String(decoding: digits.prefix(18), as: UTF8.self))
                else {
                    return nil
                }
                fraction = value
                rest = rest.dropFirst(digits.count)
            }
        }
        return ((hour * 60 + minute) * 60 + second, fraction)
    }

    /// Reads an offset from UTC in seconds: `Z`, `+01:00`, `+0100` or `+01`.
    mutating func offset() -> Int64? {
        if skip("Z", "z") {
            return 0
        }
        let isNegative = rest.first == UInt8(ascii: "-")
        guard skip("+", "-"), let hours = number(2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !isAtEnd {
            _ = skip(":")
            guard let value = number(2), value < 60 else { return nil }
            minutes = value
        }
        return (hours * 60 + minutes) * (isNegative ? -60 : 60)
    }
}
