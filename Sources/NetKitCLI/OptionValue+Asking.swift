#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKit

extension OptionValue {
    /// A URL. curl's ";auto", the URL of the preceding hop, is not supported.
    static func referer(_ text: String) throws(UsageError) -> String? {
        if text.hasSuffix(";auto") {
            throw UsageError("-e tells one URL: a redirect sends no Referer of its own, as ';auto' would have it")
        }
        return text.isEmpty ? nil : text
    }

    /// A date in the HTTP format, 2026-01-31, 2026-01-31T12:00:00Z, or one of curl's forms (``LooseDate``).
    static func epochSeconds(_ text: String) -> Int64? {
        if let seconds = HTTPDate.epochSeconds(of: text) {
            return seconds
        }
        let date = try? Date(text.contains("T") ? text : text + "T00:00:00Z", strategy: .iso8601)
        return date.map { Int64($0.timeIntervalSince1970) } ?? LooseDate.epochSeconds(of: text)
    }

    /// curl's list of protocols: "=" replaces the list, "-" removes a protocol, "+" or no sign adds one. Only http can
    /// be excluded, because redirects from http to https are followed, but not the reverse.
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
}
