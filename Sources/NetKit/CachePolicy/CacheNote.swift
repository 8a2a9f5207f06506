/// The cache's part of a response on its way to the caller.
final class CacheNote: Sendable {
    /// The report for caller and observers.
    let report: CacheReport
    /// Stores the response after the caller has accepted it; `nil` if it is not to be stored. Returns false if storing
    /// failed.
    let store: (@Sendable () async -> Bool)?

    init(_ report: CacheReport, store: (@Sendable () async -> Bool)? = nil) {
        self.report = report
        self.store = store
    }
}
