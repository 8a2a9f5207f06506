/// A streamed body that reports its end to the observers of the call.
final class WatchedChunks: ChunkSource {
    private let stream: ResponseStream
    private let watch: Watch

    init(_ stream: ResponseStream, watch: Watch) {
        self.stream = stream
        self.watch = watch
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await stream.source.next()
            if piece == nil {
                await watch.stopping(.answered(stream.source.ending ?? stream.headOnly))
                watch.stopped()
            }
            return piece
        } catch {
            await watch.stopping(.failed(error.telling(headOf: stream)))
            watch.stopped()
            throw error
        }
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        watch.stoppingAtOnce(
            .failed(NetError(.cancelled, "the stream was let go before its end", response: stream.headOnly)))
        watch.stopped()
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}

extension NetError {
    /// Returns the same error. If it has no response, this stream's head and metrics are added.
    func telling(headOf stream: ResponseStream) -> NetError {
        response == nil ? telling(stream.headOnly) : self
    }
}
