/// Numbers for people.
enum Format {
    /// "1.25 ms"; Foundation's formatters would bring all of ICU along.
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
}
