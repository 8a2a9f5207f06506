/// Where a streamed body comes from.
protocol ChunkSource: AnyObject, Sendable {
    /// The next bytes, nil at the end; one caller at a time.
    func next() async throws(NetError) -> Bytes?
    /// Nobody will ask again. `isSuperseded` tells that another transfer takes this one's place.
    func abandon(isSuperseded: Bool)
    /// False when somebody reads it already.
    func beginReading() -> Bool
    /// The response without its body; nil before the end.
    var ending: Response<Bytes>? { get }
}

/// Abandons a stream's source with its last owner.
final class StreamOwner: Sendable {
    let source: any ChunkSource

    init(_ source: any ChunkSource) {
        self.source = source
    }

    deinit {
        source.abandon(isSuperseded: false)
    }
}

/// Abandons a stream's source with its reader, whoever else owns the stream.
final class StreamReader: Sendable {
    let owner: StreamOwner

    init(_ owner: StreamOwner) {
        self.owner = owner
    }

    deinit {
        owner.source.abandon(isSuperseded: false)
    }
}
