#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The secret key for hashes of scopes, credentials and sensitive data. It is random and kept in the cache store
/// itself, unless the app supplies one.
///
/// If the store loses the secret, entries whose cache key contains a hash are no longer found.
final class CacheSecret: Sendable {
    /// The cache key under which the secret is stored. It differs from the keys of all requests, which begin with a
    /// version.
    static let key = CacheKey(description: Array("netkit secret".utf8))
    private static let length = 32

    private struct State: Sendable {
        var known: Bytes?
        /// The result of the running read of the store, which all callers share.
        var pending: Promise<Bytes>?
    }

    private let state: Lock<State>
    private let isFromApp: Bool
    private let store: @Sendable () -> any CacheStore

    init(_ secret: Bytes?, in store: @escaping @Sendable () -> any CacheStore) {
        state = Lock(State(known: secret))
        isFromApp = secret != nil
        self.store = store
    }

    /// Returns the HMAC-SHA256 of the texts, each preceded by its length.
    func hash(_ texts: [String]) async throws(NetError) -> [UInt8] {
        try await hash(texts.map { Array($0.utf8) })
    }

    /// Returns the HMAC-SHA256 of several parts of bytes, each preceded by its length.
    func hash(_ parts: [[UInt8]]) async throws(NetError) -> [UInt8] {
        var message: [UInt8] = []
        for part in parts {
            message += Array("\(part.count):".utf8) + part
        }
        return Array(try Digest.hmacSHA256(key: try await secret(), Bytes(message)))
    }

    /// Stores the secret again if it was removed together with all entries. Reading it marks it as recently used, so
    /// that it is not evicted before the entries that depend on it.
    func keep() async throws(NetError) {
        guard !isFromApp, let secret = state.withLock({ $0.known }) else { return }
        let store = store()
        if try await store.entry(for: Self.key) == nil {
            try await store.put(CacheEntry(body: secret), for: Self.key)
        }
    }

    private func secret() async throws(NetError) -> Bytes {
        let (known, pending) = state.withLock { state -> (Bytes?, Promise<Bytes>?) in
            if let known = state.known {
                return (known, nil)
            }
            defer { state.pending = state.pending ?? Promise() }
            return (nil, state.pending)
        }
        if let known {
            return known
        }
        // If two callers found no secret at the same time, the second would replace the secret of the first.
        if let pending {
            return try await pending.value()
        }
        do throws(NetError) {
            let secret = try await storedOrNew()
            complete(secret, .success(secret))
            return secret
        } catch {
            complete(nil, .failure(error))
            throw error
        }
    }

    private func complete(_ secret: Bytes?, _ outcome: Promise<Bytes>.Outcome) {
        let pending = state.withLock { state in
            state.known = secret
            defer { state.pending = nil }
            return state.pending
        }
        pending?.fulfil(outcome)
    }

    /// Returns the secret in the store. If there is none, creates and stores one.
    private func storedOrNew() async throws(NetError) -> Bytes {
        let store = store()
        if let stored = try await store.entry(for: Self.key)?.body, stored.count == Self.length {
            return stored
        }
        var generator = SystemRandomNumberGenerator()
        let random = Bytes((0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        try await store.put(CacheEntry(body: random), for: Self.key)
        // Another process may have stored its own secret in the meantime. Both use the one that was written last.
        return try await store.entry(for: Self.key)?.body ?? random
    }
}

extension TrustPolicy {
    /// Returns the mark of the policy in cache keys: a digest of its settings, which is the same in every process.
    /// Returns `nil` for the default policy, whose keys have no mark.
    ///
    /// The digest does not include an observer that makes no decisions. It does not include the client certificate
    /// either, because the key contains it together with the other credentials. Files are identified by their paths.
    func cacheMark() throws(NetError) -> String? {
        var policy = self
        policy.identity = nil
        if observer?.decide == nil {
            policy.observer = nil
        }
        if policy == TrustPolicy() {
            return nil
        }
        var terms = MarkedTerms()
        policy.append(to: &terms)
        return Bytes(Array(try Digest.of(Bytes(terms.bytes), .sha256))).hexText
    }

    private func append(to terms: inout MarkedTerms) {
        switch roots {
        case .system: terms.append("system")
        case .file(let path): terms.append("file", path)
        case .pem(let bytes): terms.append("pem", bytes)
        case .pinned: terms.append("pinned")
        }
        terms.append("\(minimumVersion) \(maximumVersion.map { "\($0)" } ?? "newest")")
        terms.append(
            "\([acceptsAnything, acceptsInvalidChains, skipsNameCheck, requiresStaple, usesALPN, allowsOverride])")
        if isStrict || maximumChainLength != nil {
            terms.append("form", "\(isStrict) \(maximumChainLength ?? 0)")
        }
        for text in [revocationLists, ciphers, cipherSuites] {
            terms.append(text == nil ? "none" : "some", text ?? "")
        }
        // An observer's decisions are unknown and may differ in the next process.
        terms.append("observer", observer?.mark ?? "")
        for rule in rules {
            rule.append(to: &terms)
        }
    }
}

extension PinRule {
    fileprivate func append(to terms: inout MarkedTerms) {
        terms.append("rule", hosts)
        terms.append("\(mode) \([lapses, reportsOnly]) \(pins.count)")
        terms.append(expiry.map { "\($0.timeIntervalSince1970)" } ?? "never")
        for pin in pins {
            switch pin {
            case .hash(let text): terms.append("hash", text)
            case .bytes(let bytes): terms.append("bytes", bytes)
            }
        }
    }
}

/// The digested bytes: a sequence of terms, each preceded by its length.
private struct MarkedTerms {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ name: String, _ text: String = "") {
        append(name, Array(text.utf8))
    }

    mutating func append(_ name: String, _ value: [UInt8]) {
        for part in [Array(name.utf8), value] {
            bytes += Array("\(part.count):".utf8) + part
        }
    }
}
