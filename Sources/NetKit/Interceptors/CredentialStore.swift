#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Credentials by the place where they belong: what an agent shows when it is asked for some and nobody says otherwise.
///
///     let store = CredentialStore(folder: path, sealKey: key) { space in askAgain(space) }
///     try await store.set(.any(user: "me", password: word), for: ProtectionSpace(url: url)!, isKept: true)
///     configuration.credentialStore = store
///
/// They are shown once for each challenge, the first time it comes; refused ones are forgotten, and reported. Those that
/// are kept stand in a folder of their own, in files that their owner alone can read, and sealed under a key where one
/// is given; the others last as long as the store. Nothing describes them. Thread-safe.
public final class CredentialStore: Sendable {
    private struct State: Sendable {
        var session: [ProtectionSpace: Credentials] = [:]
        /// Nil until they were read.
        var kept: [ProtectionSpace: Credentials]?
    }

    private static let key = CacheKey(description: Array("netkit credentials".utf8))
    private let state = Lock(State())
    private let files: DiskCacheStore?
    private let turns = Turnstile()
    private let refused: (@Sendable (ProtectionSpace) -> Void)?

    /// A store in memory.
    ///
    /// - Parameter refused: hears where credentials of the store were refused; they are gone by then.
    public init(refused: (@Sendable (ProtectionSpace) -> Void)? = nil) {
        files = nil
        self.refused = refused
    }

    /// A store that keeps what it is asked to from one run to the next.
    ///
    /// - Parameters:
    ///   - folder: the store's own, made for its owner alone. Two processes may read it at once, and one may write.
    ///   - sealKey: 32 bytes that the file is encrypted under (AES-256-GCM); nil leaves it readable for its owner. What
    ///     was sealed under another key is as good as not there.
    ///   - refused: hears where credentials of the store were refused; they are gone by then.
    public init(folder: String, sealKey: [UInt8]? = nil, refused: (@Sendable (ProtectionSpace) -> Void)? = nil) {
        files = DiskCacheStore(
            directory: folder, maximumBytes: 16 << 20, maximumEntries: 16, maximumShare: 100, durability: .directory,
            sealKey: sealKey)
        self.refused = refused
    }

    /// What is shown there: what belongs to the realm, otherwise what belongs to the host; nil for nothing.
    ///
    /// Throws what the file's folder does.
    public func credentials(for space: ProtectionSpace) async throws(NetError) -> Credentials? {
        let all = try await all()
        return all[space] ?? all[space.withoutRealm]
    }

    /// Where something is shown, in no order.
    public func spaces() async throws(NetError) -> [ProtectionSpace] { Array(try await all().keys) }

    /// Puts credentials in the place of what was there; on failure that stays.
    ///
    /// - Parameters:
    ///   - credentials: what is shown.
    ///   - space: where.
    ///   - isKept: from one run to the next, too. Throws ``NetError/Code/usage`` for a store in memory.
    public func set(
        _ credentials: Credentials, for space: ProtectionSpace, isKept: Bool = false
    ) async throws(NetError) {
        if isKept, files == nil {
            throw NetError(.usage, "the credentials' store is in memory, and keeps nothing")
        }
        try await change { state in
            state.session[space] = isKept ? nil : credentials
            if isKept {
                state.kept?[space] = credentials
            } else {
                state.kept?[space] = nil
            }
        }
    }

    /// Forgets what is shown there; on failure it stays.
    public func remove(_ space: ProtectionSpace) async throws(NetError) {
        try await change { state in
            state.session[space] = nil
            state.kept?[space] = nil
        }
    }

    /// Forgets all; on failure all stays.
    public func removeAll() async throws(NetError) {
        try await change { state in
            state.session = [:]
            state.kept = [:]
        }
    }

    // MARK: For those who ask

    /// The server would not have them: they go, unless others stand there by now.
    func refuse(_ credentials: Credentials, for space: ProtectionSpace) async {
        for place in Set([space, space.withoutRealm]) {
            let isGone = try? await change { state in
                guard (state.session[place] ?? state.kept?[place]) == credentials else { return false }
                state.session[place] = nil
                state.kept?[place] = nil
                return true
            }
            if isGone == true {
                refused?(place)
            }
        }
    }

    /// The server took them. Where they cannot be written down they are known for this run.
    func keep(_ credentials: Credentials, for space: ProtectionSpace) async {
        let isKept = files != nil
        do throws(NetError) {
            try await set(credentials, for: space, isKept: isKept)
        } catch  where isKept {
            try? await set(credentials, for: space)
        } catch {}
    }

    // MARK: The file

    private func all() async throws(NetError) -> [ProtectionSpace: Credentials] {
        let (session, kept) = state.withLock { ($0.session, $0.kept) }
        if let kept {
            return kept.merging(session) { _, new in new }
        }
        let read = try await read()
        let known = state.withLock { state in
            let kept = state.kept ?? read
            state.kept = kept
            return kept
        }
        return known.merging(session) { _, new in new }
    }

    private func read() async throws(NetError) -> [ProtectionSpace: Credentials] {
        guard let files, let entry = try await files.entry(for: Self.key) else { return [:] }
        guard let records = try? JSONDecoder().decode([KeptCredentials].self, from: entry.body.data) else {
            throw NetError(.file, "the credentials' file is not one")
        }
        return Dictionary(records.map { ($0.space, $0.credentials) }) { _, last in last }
    }

    /// One writer at a time, so that the file holds what was said last; what cannot be written has not happened.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) async throws(NetError) -> Result {
        await turns.enter()
        defer { turns.leave() }
        _ = try await all()
        let before = state.withLock { $0 }
        var after = before
        let result = body(&after)
        if let files, let kept = after.kept, kept != before.kept {
            try await write(kept, to: files)
        }
        state.withLock { [after] in $0 = after }
        return result
    }

    private func write(
        _ kept: [ProtectionSpace: Credentials], to files: DiskCacheStore
    ) async throws(NetError) {
        let records = kept.map { KeptCredentials($0.key, $0.value) }
        guard let data = try? JSONEncoder().encode(records) else {
            throw NetError(.internal, "credentials cannot be written down")
        }
        try await files.put(CacheEntry(body: Bytes(Array(data))), for: Self.key)
    }
}

extension CredentialStore: CustomStringConvertible, CustomReflectable {
    /// The number of places that are known so far.
    public var description: String {
        "CredentialStore(\(state.withLock { $0.session.count + ($0.kept?.count ?? 0) }))"
    }

    /// Nothing, so that `dump` tells nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A row of the file.
private struct KeptCredentials: Codable {
    var scheme: String
    var host: String
    var port: Int
    var realm: String?
    var isProxy: Bool
    var schemes: UInt32
    var user: String
    var password: String
    var token: String

    init(_ space: ProtectionSpace, _ credentials: Credentials) {
        (scheme, host, port) = (space.scheme, space.host, space.port)
        (realm, isProxy) = (space.realm, space.isProxy)
        schemes = credentials.schemes.rawValue
        (user, password, token) = (credentials.user, credentials.password, credentials.token)
    }

    var space: ProtectionSpace {
        ProtectionSpace(scheme: scheme, host: host, port: port, realm: realm, isProxy: isProxy)
    }

    var credentials: Credentials {
        Credentials(Credentials.Schemes(rawValue: schemes), user: user, password: password, token: token)
    }
}

/// Lets one task in at a time, in the order in which they came.
private final class Turnstile: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if mayEnter {
                continuation.resume()
            }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
