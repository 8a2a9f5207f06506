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

extension Response {
    /// The response as callers and observers get it: what would store it knows who watches, and they may keep what they
    /// are told.
    var withoutStore: Response {
        guard let cacheNote, cacheNote.store != nil else { return self }
        var response = self
        response.cacheNote = CacheNote(cacheNote.report)
        return response
    }
}
