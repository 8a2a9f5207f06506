#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Credentials by protection space. An agent uses them for challenges unless a handler decides otherwise.
///
///     let store = CredentialStore(folder: path, sealKey: key) { space in askAgain(space) }
///     try await store.set(.any(user: "me", password: word), for: ProtectionSpace(url: url)!, isKept: true)
///     configuration.credentialStore = store
///
/// They are sent once for each challenge, the first time. Refused ones are removed and reported. Kept credentials are
/// stored in a directory of their own, in files that only their owner can read, and encrypted if there is a key. The
/// others last as long as the store. No description contains them. Thread-safe.
public final class CredentialStore: Sendable {
    private struct State: Sendable {
        var session: [ProtectionSpace: Credentials] = [:]
        /// `nil` until they are read.
        var kept: [ProtectionSpace: Credentials]?
    }

    private static let key = CacheKey(description: Array("netkit credentials".utf8))
    private let state = Lock(State())
    private let files: DiskCacheStore?
    private let turns = Turnstile()
    private let refused: (@Sendable (ProtectionSpace) -> Void)?

    /// Creates a store in memory.
    ///
    /// - Parameter refused: called after credentials of the store were refused and removed.
    public init(refused: (@Sendable (ProtectionSpace) -> Void)? = nil) {
        files = nil
        self.refused = refused
    }

    /// Creates a store that can keep credentials across runs of the program.
    ///
    /// - Parameters:
    ///   - folder: the store's own directory, created for its owner only. Two processes may read it concurrently, and
    ///     one may write.
    ///   - sealKey: 32 bytes, the key to encrypt the file with (AES-256-GCM); if `nil`, its owner can read it.
    ///     Credentials that were encrypted with another key are ignored.
    ///   - refused: called after credentials of the store were refused and removed.
    public init(folder: String, sealKey: [UInt8]? = nil, refused: (@Sendable (ProtectionSpace) -> Void)? = nil) {
        files = DiskCacheStore(
            directory: folder, maximumBytes: 16 << 20, maximumEntries: 16, maximumShare: 100, durability: .directory,
            sealKey: sealKey)
        self.refused = refused
    }

    /// Returns the credentials of the realm, otherwise those of the host; `nil` if there are none.
    ///
    /// Throws errors of the file's directory.
    public func credentials(for space: ProtectionSpace) async throws(NetError) -> Credentials? {
        let all = try await all()
        return all[space] ?? all[space.withoutRealm]
    }

    /// Returns the spaces with credentials, in no order.
    public func spaces() async throws(NetError) -> [ProtectionSpace] { Array(try await all().keys) }

    /// Sets the credentials of a space. After a failure the old ones stay.
    ///
    /// - Parameters:
    ///   - credentials: the credentials.
    ///   - space: the space.
    ///   - isKept: whether they are kept across runs. Throws ``NetError/Code/usage`` for a store in memory.
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

    /// Removes the credentials of a space. After a failure they stay.
    public func remove(_ space: ProtectionSpace) async throws(NetError) {
        try await change { state in
            state.session[space] = nil
            state.kept?[space] = nil
        }
    }

    /// Removes all credentials. After a failure all stay.
    public func removeAll() async throws(NetError) {
        try await change { state in
            state.session = [:]
            state.kept = [:]
        }
    }

    // MARK: Challenges

    /// Removes credentials that the server has refused, unless they were replaced in the meantime.
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

    /// Keeps credentials that the server has accepted. If they cannot be written, they are kept for this run.
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

    /// Changes the state with one writer at a time, so that the file has the last state. A failed write changes
    /// nothing.
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
    /// The number of spaces that are loaded.
    public var description: String {
        "CredentialStore(\(state.withLock { $0.session.count + ($0.kept?.count ?? 0) }))"
    }

    /// An empty mirror, so that `dump` prints no secret.
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

/// Lets one task in at a time, in order of arrival.
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
