#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores credentials by protection space. An agent uses them for challenges unless a challenge hook decides
/// otherwise.
///
///     let store = CredentialStore(folder: path, sealKey: key) { space in askAgain(space) }
///     try await store.set(.any(user: "me", password: word), for: ProtectionSpace(url: url)!, isKept: true)
///     configuration.credentialStore = store
///
/// For each challenge the store's credentials are sent once. If the server refuses them, they are removed from the
/// store, and `refused` is called.
///
/// Credentials that are set with `isKept` are written to a separate directory, to files that only their owner can read.
/// They are encrypted if there is a key. Other credentials exist only as long as the store. No description contains
/// credentials. Thread-safe.
public final class CredentialStore: Sendable {
    private struct State: Sendable {
        var session: [ProtectionSpace: Credentials] = [:]
        /// The credentials on disk; `nil` until they are read.
        var persisted: [ProtectionSpace: Credentials]?
    }

    private static let key = CacheKey(description: Array("netkit credentials".utf8))
    private let state = Lock(State())
    private let files: DiskCacheStore?
    private let writeQueue = WriteQueue()
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
    ///   - folder: a directory for this store alone. It is created with access for its owner only. Several processes
    ///     may read it concurrently, but only one may write.
    ///   - sealKey: the key to encrypt the file with (AES-256-GCM), 32 bytes. If `nil`, the file is not encrypted.
    ///     Credentials that were encrypted with another key are ignored.
    ///   - refused: called after credentials of the store were refused and removed.
    public init(folder: String, sealKey: [UInt8]? = nil, refused: (@Sendable (ProtectionSpace) -> Void)? = nil) {
        files = DiskCacheStore(
            directory: folder, maximumBytes: 16 << 20, maximumEntries: 16, maximumShare: 100, durability: .directory,
            sealKey: sealKey)
        self.refused = refused
    }

    /// Returns the credentials of the space's realm. If there are none, returns those of its host, or `nil`.
    ///
    /// Throws errors of the directory and the file.
    public func credentials(for space: ProtectionSpace) async throws(NetError) -> Credentials? {
        let all = try await all()
        return all[space] ?? all[space.withoutRealm]
    }

    /// Returns the spaces that have credentials, in no particular order.
    public func spaces() async throws(NetError) -> [ProtectionSpace] { Array(try await all().keys) }

    /// Sets the credentials of a space. If that fails, the old credentials stay.
    ///
    /// - Parameters:
    ///   - credentials: the credentials.
    ///   - space: the space.
    ///   - isKept: whether the credentials are written to disk, for later runs of the program. If true, a store in
    ///     memory throws ``NetError/Code/usage``.
    public func set(
        _ credentials: Credentials, for space: ProtectionSpace, isKept: Bool = false
    ) async throws(NetError) {
        if isKept, files == nil {
            throw NetError(.usage, "isKept requires a credential store on disk, and this store is in memory")
        }
        try await change { state in
            state.session[space] = isKept ? nil : credentials
            if isKept {
                state.persisted?[space] = credentials
            } else {
                state.persisted?[space] = nil
            }
        }
    }

    /// Removes the credentials of a space. If that fails, they stay.
    public func remove(_ space: ProtectionSpace) async throws(NetError) {
        try await change { state in
            state.session[space] = nil
            state.persisted?[space] = nil
        }
    }

    /// Removes all credentials. If that fails, all of them stay.
    public func removeAll() async throws(NetError) {
        try await change { state in
            state.session = [:]
            state.persisted = [:]
        }
    }

    // MARK: Challenges

    /// Removes credentials that the server has refused, unless they were replaced in the meantime.
    func refuse(_ credentials: Credentials, for space: ProtectionSpace) async {
        for candidate in Set([space, space.withoutRealm]) {
            let wasRemoved = try? await change { state in
                guard (state.session[candidate] ?? state.persisted?[candidate]) == credentials else { return false }
                state.session[candidate] = nil
                state.persisted?[candidate] = nil
                return true
            }
            if wasRemoved == true {
                refused?(candidate)
            }
        }
    }

    /// Stores credentials that the server has accepted. If they cannot be written to disk, they are kept in memory.
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
        let (session, persisted) = state.withLock { ($0.session, $0.persisted) }
        if let persisted {
            return persisted.merging(session) { _, new in new }
        }
        let read = try await read()
        let known = state.withLock { state in
            let persisted = state.persisted ?? read
            state.persisted = persisted
            return persisted
        }
        return known.merging(session) { _, new in new }
    }

    private func read() async throws(NetError) -> [ProtectionSpace: Credentials] {
        guard let files, let entry = try await files.entry(for: Self.key) else { return [:] }
        guard let records = try? JSONDecoder().decode([CredentialStorage].self, from: entry.body.data) else {
            throw NetError(.file, "the credentials file is not valid JSON")
        }
        let known = records.compactMap { record in record.credentials.map { (record.space, $0) } }
        return Dictionary(known) { _, last in last }
    }

    /// Changes the state in memory and in the file. Changes run one after the other, so that the file contains the last
    /// state. If the file cannot be written, nothing is changed.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) async throws(NetError) -> Result {
        await writeQueue.enter()
        defer { writeQueue.leave() }
        _ = try await all()
        let before = state.withLock { $0 }
        var after = before
        let result = body(&after)
        if let files, let persisted = after.persisted, persisted != before.persisted {
            try await write(persisted, to: files)
        }
        state.withLock { [after] in $0 = after }
        return result
    }

    private func write(
        _ persisted: [ProtectionSpace: Credentials], to files: DiskCacheStore
    ) async throws(NetError) {
        let records = persisted.map { CredentialStorage($0.key, $0.value) }
        guard let data = try? JSONEncoder().encode(records) else {
            throw NetError(.internal, "the credentials cannot be encoded")
        }
        try await files.put(CacheEntry(body: Bytes(Array(data))), for: Self.key)
    }
}

extension CredentialStore: SecretHolding {
    /// The type's name and the number of loaded spaces.
    public var description: String {
        "CredentialStore(\(state.withLock { $0.session.count + ($0.persisted?.count ?? 0) }))"
    }
}

/// The credentials of one space, as written to the file.
private struct CredentialStorage: Codable {
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

    /// The credentials; `nil` if their schemes are unknown.
    var credentials: Credentials? {
        Credentials(Credentials.Schemes(rawValue: schemes), user: user, password: password, token: token)
    }
}

/// A lock for asynchronous work: one task holds it at a time, and waiting tasks get it in the order of their arrival.
private final class WriteQueue: Sendable {
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
