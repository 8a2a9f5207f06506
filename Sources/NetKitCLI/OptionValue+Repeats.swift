#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKit

extension OptionValue {
    /// Tries after the first one.
    static func retries(_ text: String) throws(UsageError) -> Int {
        let digits = text.utf8.allSatisfy { (48...57).contains($0) }
        guard digits, let number = Int32(text) else {
            throw UsageError("--retry '\(text)' is not a number from 0")
        }
        return Int(number)
    }

    /// A date as HTTP writes it, 2026-01-31, 20260131 or 2026-01-31T12:00:00Z.
    static func epochSeconds(_ text: String) -> Int64? {
        if let seconds = HTTPDate.epochSeconds(of: text) {
            return seconds
        }
        let isShort = text.utf8.count == 8 && !text.contains("-")
        let day = isShort ? "\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2))" : text
        let date = try? Date(day.contains("T") ? day : day + "T00:00:00Z", strategy: .iso8601)
        return date.map { Int64($0.timeIntervalSince1970) }
    }

    /// curl's list of protocols: "=" begins it anew, "-" takes one away, "+" or nothing adds it. A redirect may lead from
    /// http to https and never back, so that http alone can be left out.
    static func refusesPlain(_ text: String) throws(UsageError) -> Bool {
        let all: Set<String> = ["http", "https"]
        var allowed = all
        for word in text.lowercased().split(separator: ",") {
            let name = String(word.drop { "+-=".contains($0) })
            let named = name == "all" ? all : all.intersection([name])
            let signs = word.dropLast(name.count)
            for sign in signs.isEmpty ? "+" : signs {
                switch sign {
                case "=": allowed = named
                case "-": allowed.subtract(named)
                default: allowed.formUnion(named)
                }
            }
        }
        if !allowed.contains("https") {
            throw UsageError("--proto '\(text)' leaves no https: http alone can be left out")
        }
        return allowed.count == 1
    }

    /// N/s, N/m, N/h or N/d, and N alone for N/h: the time between two starts.
    static func startInterval(_ text: String) throws(UsageError) -> Duration {
        let periods = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let digits = parts.first.map { $0.utf8.allSatisfy { (48...57).contains($0) } } ?? false
        guard digits, parts.count <= 2, let number = Int32(parts[0]), number > 0,
            let seconds = periods[parts.count == 2 ? parts[1] : "h"]
        else {
            throw UsageError("--rate '\(text)' is not a number of requests, with /s, /m, /h or /d behind it")
        }
        return .seconds(seconds) / number
    }
}
