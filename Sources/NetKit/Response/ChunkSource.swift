/// The source of a streamed body.
protocol ChunkSource: AnyObject, Sendable {
    /// Returns the next bytes, or `nil` at the end; one caller at a time.
    func next() async throws(NetError) -> Bytes?
    /// Cancels the source, because no more is read. `isSuperseded` is true if another transfer replaces this one.
    func abandon(isSuperseded: Bool)
    /// Reserves the source for one reader. Returns false if it has a reader already.
    func beginReading() -> Bool
    /// The response without its body; `nil` before the end.
    var ending: Response<Bytes>? { get }
}

/// Abandons a stream's source when its last owner is released.
final class StreamOwner: Sendable {
    let source: any ChunkSource

    init(_ source: any ChunkSource) {
        self.source = source
    }

    deinit {
        source.abandon(isSuperseded: false)
    }
}

/// Abandons a stream's source when its reader is released, even if the stream has other owners.
final class StreamReader: Sendable {
    let owner: StreamOwner

    init(_ owner: StreamOwner) {
        self.owner = owner
    }

    deinit {
        owner.source.abandon(isSuperseded: false)
    }
}
