extension Agent {
    /// Bodies up to this many bytes are decoded where the caller runs: a change of thread would cost more.
    private static let inlineDecodingBytes = 16 << 10

    /// Decodes a response; a large one on the global executor, so that neither an actor nor a loop thread waits for it.
    func decode<Value>(
        _ received: Response<Bytes>, by decoding: Decoding<Value>
    ) async throws(NetError) -> Response<Value> {
        let outcome: Result<Value, any Error>
        if decoding.isInstant || received.bytes.count <= Self.inlineDecodingBytes {
            outcome = Result { try decoding.decode(received) }
        } else {
            outcome = await withTaskExecutorPreference(globalConcurrentExecutor) {
                await Self.decodeElsewhere(received, by: decoding)
            }
        }
        switch outcome {
        case .success(let value):
            return received.map { _ in value }
        case .failure(let error as NetError):
            throw NetError(
                error.code, error.message, nativeCode: error.nativeCode, offset: error.offset, response: received,
                underlying: error.underlying)
        case .failure(let error):
            throw NetError(
                .undecodable, "the body from \(received.place) is no \(Value.self): \(error)", response: received,
                underlying: error)
        }
    }

    @concurrent
    private static func decodeElsewhere<Value>(
        _ received: Response<Bytes>, by decoding: Decoding<Value>
    ) async -> Result<Value, any Error> {
        Result { try decoding.decode(received) }
    }
}
