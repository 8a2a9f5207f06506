/// An answer that is about to be stored, see ``TransferHooks/willStore``.
public struct StorableAnswer: Sendable {
    /// The URL that answered, without credentials.
    public let url: String
    /// The status.
    public let status: Int
    /// The fields that are stored; what was decided by them, such as for how long they hold, stays as it was.
    public var headers: Headers
    /// The body that is stored.
    public var bytes: Bytes
}

extension CachedCall {
    /// Puts an answer into the cache, as the app's hook wants it.
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
