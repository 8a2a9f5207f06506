/// The Retry-After field (RFC 9110, 10.2.3).
enum RetryAfter {
    /// Returns the time that a response asks its client to wait, from seconds or a date. Returns `nil` for other text
    /// and for a past date.
    ///
    /// A date is compared with the response's Date, because both use the server's clock.
    /// - Parameter epochSeconds: the current time, for a response without a Date.
    static func wait(_ headers: Headers, epochSeconds: Double) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingBlanks else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // A longer wait stands for an endless one.
            return .seconds(Int64(text).map { min($0, 1 << 40) } ?? 1 << 40)
        }
        guard let date = HTTPDate.epochSeconds(of: text) else { return nil }
        let sent = headers["Date"].flatMap { HTTPDate.epochSeconds(of: $0.trimmingBlanks) }
        let now = sent.map { Double($0) } ?? epochSeconds
        let left = Int64(moment: ((Double(date) - now) * 1000).rounded(.up))
        return left > 0 ? .milliseconds(left) : nil
    }
}
