/// What a cache leaves with an answer on its way to the caller.
final class CacheNote: Sendable {
    /// What the caller and observers may know.
    let report: CacheReport
    /// Stores the answer, once the caller has found it to be in order; nil where nothing is to be stored.
    let store: (@Sendable () async -> Void)?

    init(_ report: CacheReport, store: (@Sendable () async -> Void)? = nil) {
        self.report = report
        self.store = store
    }
}
