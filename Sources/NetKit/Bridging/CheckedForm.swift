internal import CNetCore

/// A validated form, with the core's form of it.
final class CheckedForm: KeptForm {
    let form: MultipartBody
    /// Parts that are produced while they are sent are marks in it, which wait until the part was produced elsewhere.
    private let core: CoreForm
    let contentType: String

    init(_ form: MultipartBody) throws(NetError) {
        var form = form
        let sources = form.sources
        core = try unsafe CoreForm(
            form, sources: FormReader.marks(sources.count),
            lengths: Array(repeating: .max, count: sources.count))
        contentType = core.contentType
        hasSources = !sources.isEmpty
        // The same boundary for the request's head and the form of each transfer.
        form.boundary = core.boundary
        self.form = form
    }

    /// Whether some parts are produced while they are sent.
    let hasSources: Bool

    /// Returns the form for one transfer; `feed` contains the sources.
    func coreForm(feed: BodyFeed?) throws(NetError) -> CoreForm {
        guard hasSources, let feed else { return core }
        return try unsafe coreForm(sources: feed.partSources)
    }

    /// Returns the form's length, with files measured now, or `nil` if a part's length is unknown.
    func measuredLength() throws(NetError) -> Int? {
        let sources = form.sources
        if sources.contains(where: { $0.length == nil }) {
            return nil
        }
        return try FormReader(try unsafe coreForm(sources: FormReader.marks(sources.count))).length
    }

    private func coreForm(sources: [nc_body_source]) throws(NetError) -> CoreForm {
        let lengths = form.sources.map { $0.length.map { UInt64(max(0, $0)) } ?? .max }
        return try unsafe CoreForm(form, sources: sources, lengths: lengths)
    }

    /// Passes the form to `take`, piece by piece, and produces parts in the caller's task.
    func forEachPiece(_ take: (Bytes) async throws(NetError) -> Void) async throws(NetError) {
        let reader = try FormReader(core)
        let sources = form.sources
        while true {
            switch try reader.next() {
            case .piece(let bytes):
                try await take(bytes)
            case .source(let number):
                try await sources[number].forEachPiece(take)
                reader.skipMark()
            case .end:
                return
            }
        }
    }
}

extension Body {
    /// The form; `nil` for another body.
    var checkedForm: CheckedForm? {
        if case .multipart(let kept) = content { kept as? CheckedForm } else { nil }
    }

    /// Returns the core's form for one transfer, or `nil` if the body is no form.
    func coreForm(feed: BodyFeed?) throws(NetError) -> CoreForm? {
        try checkedForm?.coreForm(feed: feed)
    }
}
