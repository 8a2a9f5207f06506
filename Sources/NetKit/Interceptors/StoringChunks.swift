/// A streamed body that is collected while it is read, and stored when it is complete.
final class StoringChunks: ChunkSource {
    private struct State: Sendable {
        // `nil` when it is too large, or after it was stored.
        var kept: [Bytes]? = []
        var count = 0
    }

    private let state = Lock(State())
    private let stream: ResponseStream
    private let limit: Int
    private let store: @Sendable (Bytes, Response<Bytes>) async -> Void

    init(
        _ stream: ResponseStream, upTo limit: Int, store: @escaping @Sendable (Bytes, Response<Bytes>) async -> Void
    ) {
        self.stream = stream
        self.limit = limit
        self.store = store
    }

    func next() async throws(NetError) -> Bytes? {
        guard let piece = try await stream.source.next() else {
            if let whole = take() {
                await store(whole, stream.source.ending ?? stream.headOnly)
            }
            return nil
        }
        let limit = limit
        state.withLock { state in
            state.count += piece.count
            if state.count > limit {
                state.kept = nil
            }
            state.kept?.append(piece)
        }
        return piece
    }

    private func take() -> Bytes? {
        let pieces = state.withLock { state in
            defer { state.kept = nil }
            return state.kept
        }
        guard let pieces else { return nil }
        if pieces.count == 1 {
            return pieces[0]
        }
        var whole: [UInt8] = []
        whole.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        pieces.forEach { whole.append(contentsOf: $0) }
        return Bytes(whole)
    }

    func abandon(isSuperseded: Bool) {
        state.withLock { $0.kept = nil }
        stream.source.abandon(isSuperseded: isSuperseded)
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}
