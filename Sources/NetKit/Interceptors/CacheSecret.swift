/// The key of the hashes that stand for scopes, credentials and sensitive data: random, and kept in the store itself
/// unless the caller brings one.
///
/// When the store loses it, what was stored with a hash is a miss.
final class CacheSecret: Sendable {
    /// Under no request's key: those begin with their version.
    static let key = CacheKey(description: Array("netkit secret".utf8))
    private static let length = 32

    private let known: Lock<Bytes?>
    private let store: @Sendable () -> any CacheStore

    init(_ secret: Bytes?, in store: @escaping @Sendable () -> any CacheStore) {
        known = Lock(secret)
        self.store = store
    }

    /// HMAC-SHA256 of the texts, each behind its length; empty where it cannot be made.
    func hash(_ texts: [String]) async throws(NetError) -> [UInt8] {
        var message: [UInt8] = []
        for text in texts {
            message += Array("\(text.utf8.count):\(text)".utf8)
        }
        return Array(try Digest.hmacSHA256(key: try await secret(), Bytes(message)))
    }

    private func secret() async throws(NetError) -> Bytes {
        if let secret = known.withLock({ $0 }) {
            return secret
        }
        let store = store()
        var kept = try await store.entry(for: Self.key)?.body
        if kept?.count != Self.length {
            var random = SystemRandomNumberGenerator()
            let made = Bytes((0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            try await store.put(CacheEntry(body: made), for: Self.key)
            // Another process may have put its own in between; the last one counts for both.
            kept = try await store.entry(for: Self.key)?.body ?? made
        }
        let secret = kept ?? []
        return known.withLock { known in
            let first = known ?? secret
            known = first
            return first
        }
    }
}
