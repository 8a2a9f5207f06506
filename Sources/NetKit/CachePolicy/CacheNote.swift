/// What a cache leaves with an answer on its way to the caller.
final class CacheNote: Sendable {
    /// What the caller and observers may know.
    let report: CacheReport
    /// Stores the answer, once the caller has found it to be in order; nil where nothing is to be stored. Returns false
    /// where the answer was not stored.
    let store: (@Sendable () async -> Bool)?

    init(_ report: CacheReport, store: (@Sendable () async -> Bool)? = nil) {
        self.report = report
        self.store = store
    }
}
