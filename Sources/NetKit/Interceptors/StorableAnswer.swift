/// A response that is about to be stored; see ``TransferHooks/willStore``.
public struct StorableAnswer: Sendable {
    /// The URL of the response, without credentials.
    public let url: String
    /// The status.
    public let status: Int
    /// The fields to store. Changes do not affect decisions that were made from them, such as the lifetime.
    public var headers: Headers
    /// The body to store.
    public var bytes: Bytes
}

extension CachedCall {
    /// Stores a response as changed by the app's hook.
    func put(_ stored: StoredAnswer, _ bytes: Bytes, after look: CacheLook) async throws(NetError) {
        let storable = StorableAnswer(
            url: stored.head.url, status: stored.head.status, headers: stored.headers, bytes: bytes)
        call.watch?.tell(.storing(storable), of: call.request)
        guard let ask = call.request.hooks(over: next.cacheContext.hooks).willStore else {
            return try await side.put(stored, bytes, after: look)
        }
        let chosen: StorableAnswer?
        do {
            chosen = try await ask(storable)
        } catch {
            throw NetError(asking: error, .stoppedByCaller, "a hook kept the answer out of the cache")
        }
        guard let chosen else {
            throw NetError(.stoppedByCaller, "a hook kept the answer out of the cache")
        }
        try await side.put(StoredAnswer(stored.head, headers: chosen.headers), chosen.bytes, after: look)
    }
}
