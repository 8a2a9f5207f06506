internal import CNetCore

/// A form that can be sent: what it is made of, and the core's form of it.
final class CheckedForm: KeptForm {
    let form: MultipartBody
    /// The parts that are made while they are sent stand in it as marks, which wait until somebody else has made them.
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
        // The same boundary in the request's head and in each form that is made for a transfer.
        form.boundary = core.boundary
        self.form = form
    }

    /// Whether some parts are made while they are sent.
    let hasSources: Bool

    /// The form of one transfer; `feed` has the sources.
    func coreForm(feed: BodyFeed?) throws(NetError) -> CoreForm {
        guard hasSources, let feed else { return core }
        return try unsafe coreForm(sources: feed.partSources)
    }

    /// The whole form's length, files measured now; nil when a part does not know its own.
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

    /// Gives the form to `take`, piece by piece; the parts that are made meanwhile are made in the caller's task.
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
    /// The form that it is; nil for another body.
    var checkedForm: CheckedForm? {
        if case .multipart(let kept) = content { kept as? CheckedForm } else { nil }
    }

    /// The core's form of this body, for one transfer; nil when it is none.
    func coreForm(feed: BodyFeed?) throws(NetError) -> CoreForm? {
        try checkedForm?.coreForm(feed: feed)
    }
}
