/// Pieces that were read already, followed by the rest of their stream.
final class ResumedChunks: ChunkSource {
    private struct State: Sendable {
        var pieces: ArraySlice<Bytes>
        var isRead = false
    }

    private let state: Lock<State>
    private let stream: ResponseStream

    init(_ pieces: [Bytes], then stream: ResponseStream) {
        state = Lock(State(pieces: pieces[...]))
        self.stream = stream
    }

    func next() async throws(NetError) -> Bytes? {
        if let piece = state.withLock({ $0.pieces.popFirst() }) {
            return piece
        }
        return try await stream.source.next()
    }

    func abandon(isSuperseded: Bool) {
        state.withLock { $0.pieces = [] }
        stream.source.abandon(isSuperseded: isSuperseded)
    }

    func beginReading() -> Bool {
        state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
    }

    var ending: Response<Bytes>? { stream.source.ending }
}
