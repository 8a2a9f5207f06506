#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKit

extension OptionValue {
    /// Parses a URL for Referer. curl's ";auto", which stands for the URL of the preceding hop, is not supported.
    static func referer(_ text: String) throws(UsageError) -> String? {
        if text.hasSuffix(";auto") {
            throw UsageError("-e does not support ';auto'; give one URL")
        }
        return text.isEmpty ? nil : text
    }

    /// Returns the seconds since 1970 of a date, or `nil` for other text. The date is in the HTTP format, in a form
    /// like 2026-01-31 or 2026-01-31T12:00:00Z, or in another form that curl accepts (``CurlDate``).
    static func epochSeconds(_ text: String) -> Int64? {
        if let seconds = HTTPDate.epochSeconds(of: text) {
            return seconds
        }
        let date = try? Date(text.contains("T") ? text : text + "T00:00:00Z", strategy: .iso8601)
        return date.map { Int64($0.timeIntervalSince1970) } ?? CurlDate.epochSeconds(of: text)
    }

    /// Parses curl's list of protocols, and returns true if it excludes http. Before a protocol, "=" replaces the list,
    /// "-" removes the protocol, and "+" or no sign adds it.
    ///
    /// Excluding https is an error. It could not be enforced, because redirects from http to https are followed.
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
            throw UsageError("--proto '\(text)' excludes https; only http can be excluded")
        }
        return allowed.count == 1
    }
}
