/// The Retry-After field (RFC 9110, 10.2.3).
enum RetryAfter {
    /// The time to wait: seconds as they stand, or until a date; nil for what is neither.
    ///
    /// - Parameter epochSeconds: the time now. A date that is over waits for nothing.
    static func wait(_ field: String, epochSeconds: Double) -> Duration? {
        let text = field.trimmingBlanks
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // Longer than anybody waits is as good as for ever.
            return .seconds(Int64(text).map { min($0, 1 << 40) } ?? 1 << 40)
        }
        guard let date = HTTPDate.epochSeconds(of: text) else { return nil }
        return max(.zero, .milliseconds(Int64(moment: ((Double(date) - epochSeconds) * 1000).rounded(.up))))
    }
}
