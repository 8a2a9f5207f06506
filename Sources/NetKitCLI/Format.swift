/// Formats numbers for display.
enum Format {
    /// "1.25 ms". Foundation's formatters would require ICU.
    static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let hundredths = String(microseconds % 1000 / 10)
        return "\(count(Int(microseconds / 1000))).\(hundredths.count < 2 ? "0" : "")\(hundredths) ms"
    }

    /// "12,345".
    static func count(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        groups.insert(digits, at: 0)
        return (number < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    /// "512 B", "1.5 KiB", "340 MiB"; at most 8 characters.
    static func size(_ bytes: Int) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        if bytes < 1024 {
            return "\(max(0, bytes)) B"
        }
        var value = Double(bytes) / 1024
        var unit = 0
        while value >= 1023.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(value < 99.95 ? decimal(value, 1) : decimal(value, 0)) \(units[unit])"
    }

    /// "0:07", "12:34", "1:02:03", "50h", "9d"; at most 7 characters.
    static func clock(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        if seconds < 3600 {
            return "\(seconds / 60):\(two(seconds % 60))"
        }
        let hours = seconds / 3600
        if hours < 10 {
            return "\(hours):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        }
        return hours < 100 ? "\(hours)h" : "\(min(hours / 24, 99999))d"
    }

    /// "0.4 s", "12 s", for a duration.
    static func seconds(_ duration: Duration) -> String {
        let seconds = Self.number(of: duration)
        return seconds < 99.95 ? "\(decimal(seconds, 1)) s" : clock(duration)
    }

    static func number(of duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// Formats a non-negative number with this number of decimals.
    static func decimal(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let whole = String(Int(min(max(0, value * scale), 1e18).rounded()))
        if digits == 0 {
            return whole
        }
        let padded = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        return "\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }

    static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns(of: text))) + text
    }

    /// Shortens a text to a width. The middle is removed, because names usually differ at both ends.
    static func shortened(_ text: String, to width: Int) -> String {
        if columns(of: text) <= width {
            return text
        }
        if width < 5 {
            return prefix(of: text, width)
        }
        let front = (width - 2) / 2
        let back = String(prefix(of: String(text.reversed()), width - 2 - front).reversed())
        return prefix(of: text, front) + ".." + back
    }

    /// The number of terminal columns of a text.
    static func columns(of text: String) -> Int {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        return isASCII ? text.utf8.count : text.reduce(0) { $0 + columns(of: $1) }
    }

    private static func prefix(of text: String, _ width: Int) -> String {
        var prefix = ""
        var remainingWidth = width
        for character in text {
            remainingWidth -= columns(of: character)
            if remainingWidth < 0 {
                break
            }
            prefix.append(character)
        }
        return prefix
    }

    /// East Asian characters and emoji occupy two columns.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
    ]

    private static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first?.value else { return 0 }
        return scalar >= 0x1100 && wide.contains { $0.contains(scalar) } ? 2 : 1
    }
}
