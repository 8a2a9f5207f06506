import NetKit

extension OptionValue {
    /// Parses the number of retries.
    static func retries(_ text: String) throws(UsageError) -> Int {
        let digits = text.utf8.allSatisfy { (48...57).contains($0) }
        guard digits, let number = Int32(text) else {
            throw UsageError("--retry '\(text)' is not a number from 0")
        }
        return Int(number)
    }

    /// Parses a rate N/s, N/m, N/h or N/d, or N for N/h, and returns the interval between two starts.
    static func startInterval(_ text: String) throws(UsageError) -> Duration {
        let periods = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let digits = parts.first.map { $0.utf8.allSatisfy { (48...57).contains($0) } } ?? false
        guard digits, parts.count <= 2, let number = Int32(parts[0]), number > 0,
            let seconds = periods[parts.count == 2 ? parts[1] : "h"]
        else {
            throw UsageError("--rate '\(text)' is not a number of requests followed by /s, /m, /h or /d")
        }
        return .seconds(seconds) / number
    }
}
