/// The key of the hashes of scopes, credentials and sensitive data. It is random and stored in the store itself, unless
/// the caller supplies one.
///
/// If the store loses it, entries whose key contains a hash are no longer found.
final class CacheSecret: Sendable {
    /// Equals no request's key: those begin with their version.
    static let key = CacheKey(description: Array("netkit secret".utf8))
    private static let length = 32

    private struct State: Sendable {
        var known: Bytes?
        /// The one pending read of the store, which all callers share.
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

    /// Returns the HMAC-SHA256 of the texts, each preceded by its length.
    func hash(_ texts: [String]) async throws(NetError) -> [UInt8] {
        try await hash(texts.map { Array($0.utf8) })
    }

    /// Returns the same for bytes, which need not be text.
    func hash(_ parts: [[UInt8]]) async throws(NetError) -> [UInt8] {
        var message: [UInt8] = []
        for part in parts {
            message += Array("\(part.count):".utf8) + part
        }
        return Array(try Digest.hmacSHA256(key: try await secret(), Bytes(message)))
    }

    /// Stores the key again if it was removed with all entries. Reading it keeps it from being evicted before the
    /// entries of its hashes.
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
        // All callers share one read: a second writer would replace the key of the first one.
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

    /// Returns the key in the store, or a new one that is stored.
    private func kept() async throws(NetError) -> Bytes {
        let store = store()
        if let kept = try await store.entry(for: Self.key)?.body, kept.count == Self.length {
            return kept
        }
        var random = SystemRandomNumberGenerator()
        let made = Bytes((0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        try await store.put(CacheEntry(body: made), for: Self.key)
        // Another process may have stored its key meanwhile; the last one applies to both.
        return try await store.entry(for: Self.key)?.body ?? made
    }
}
