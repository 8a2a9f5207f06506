/// The key of the hashes that stand for scopes, credentials and sensitive data: random, and kept in the store itself
/// unless the caller brings one.
///
/// When the store loses it, what was stored with a hash is a miss.
final class CacheSecret: Sendable {
    /// Under no request's key: those begin with their version.
    static let key = CacheKey(description: Array("netkit secret".utf8))
    private static let length = 32

    private struct State: Sendable {
        var known: Bytes?
        /// What one asks the store for on behalf of all.
        var awaited: Promise<Bytes>?
    }

    private let state: Lock<State>
    private let isGiven: Bool
    private let store: @Sendable () -> any CacheStore

    init(_ secret: Bytes?, in store: @escaping @Sendable () -> any CacheStore) {
        state = Lock(State(known: secret))
        isGiven = secret != nil
        self.store = store
    }

    /// HMAC-SHA256 of the texts, each behind its length; empty where it cannot be made.
    func hash(_ texts: [String]) async throws(NetError) -> [UInt8] {
        try await hash(texts.map { Array($0.utf8) })
    }

    /// The same of bytes, which need not be text.
    func hash(_ parts: [[UInt8]]) async throws(NetError) -> [UInt8] {
        var message: [UInt8] = []
        for part in parts {
            message += Array("\(part.count):".utf8) + part
        }
        return Array(try Digest.hmacSHA256(key: try await secret(), Bytes(message)))
    }

    /// Sees to it that the key lies in the store as long as what is stored under its hashes does: it was removed with all
    /// else, or is what was used longest ago.
    func keep() async throws(NetError) {
        guard !isGiven, let secret = state.withLock({ $0.known }) else { return }
        let store = store()
        if try await store.entry(for: Self.key) == nil {
            try await store.put(CacheEntry(body: secret), for: Self.key)
        }
    }

    private func secret() async throws(NetError) -> Bytes {
        let (known, awaited) = state.withLock { state -> (Bytes?, Promise<Bytes>?) in
            if let known = state.known {
                return (known, nil)
            }
            defer { state.awaited = state.awaited ?? Promise() }
            return (nil, state.awaited)
        }
        if let known {
            return known
        }
        // Whoever is second would put another key over the first one's.
        if let awaited {
            return try await awaited.value()
        }
        do throws(NetError) {
            let secret = try await kept()
            settle(secret, .success(secret))
            return secret
        } catch {
            settle(nil, .failure(error))
            throw error
        }
    }

    private func settle(_ secret: Bytes?, _ outcome: Promise<Bytes>.Outcome) {
        let awaited = state.withLock { state in
            state.known = secret
            defer { state.awaited = nil }
            return state.awaited
        }
        awaited?.fulfil(outcome)
    }

    /// What the store has, or a new one that it has from now on.
    private func kept() async throws(NetError) -> Bytes {
        let store = store()
        if let kept = try await store.entry(for: Self.key)?.body, kept.count == Self.length {
            return kept
        }
        var random = SystemRandomNumberGenerator()
        let made = Bytes((0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        try await store.put(CacheEntry(body: made), for: Self.key)
        // Another process may have put its own in between; the last one counts for both.
        return try await store.entry(for: Self.key)?.body ?? made
    }
}
