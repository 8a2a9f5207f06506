extension Agent {
    /// Bodies up to this size, in bytes, are decoded on the caller's thread: a thread switch would cost more.
    private static let inlineDecodingBytes = 16 << 10

    /// Decodes a response. A large one is decoded on the global executor, so that neither an actor nor an event loop
    /// waits for it.
    func decode<Value>(
        _ received: Response<Bytes>, by decoding: Decoding<Value>
    ) async throws(NetError) -> Response<Value> {
        if received.bytes.count <= Self.inlineDecodingBytes {
            do {
                return received.replacingValue(by: try decoding.decode(received))
            } catch {
                throw NetError(decoding: error, to: Value.self, from: received)
            }
        }
        let outcome = await withTaskExecutorPreference(globalConcurrentExecutor) {
            await Self.decodeElsewhere(received, by: decoding)
        }
        switch outcome {
        case .success(let value):
            return received.replacingValue(by: value)
        case .failure(let error):
            throw NetError(decoding: error, to: Value.self, from: received)
        }
    }

    @concurrent
    private static func decodeElsewhere<Value>(
        _ received: Response<Bytes>, by decoding: Decoding<Value>
    ) async -> Result<Value, any Error> {
        Result { try decoding.decode(received) }
    }
}
