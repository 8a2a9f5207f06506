#if Redis
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
public import NetKit

/// Lets one process refresh credentials for all. The others wait, and use its result.
///
///     let shared = try SharedCredentials<Token>(redis, name: "accounts")
///     let refresh = CredentialRefresh(await shared.current()) { request, token in
///         request.credentials = .bearer(token.access)
///     } refresh: { expired in
///         try await shared.refreshed(expired) { expired in try await login(expired?.refresh) }
///     }
///
/// The credentials are on the server, encrypted with the key of the client. If the server does not answer within the
/// time limit of the client, this process refreshes them by itself. Thread-safe.
public final class SharedCredentials<Token: Codable & Equatable & Sendable>: Sendable {
    private let client: RedisClient
    private let entry: String
    private let lock: String
    private let context: Bytes
    private let lockTime: Duration
    private let maximumAge: Duration

    /// Creates shared credentials.
    ///
    /// - Parameters:
    ///   - redis: the client, which must have a `sealKey`.
    ///   - name: the name of the account. Processes with the same prefix and name share the credentials.
    ///   - lockTime: the longest time for which one process refreshes for all, 1 ms to 1 hour. After it, the others
    ///     refresh by themselves.
    ///   - maximumAge: the time after which the server forgets the credentials, 1 second to 366 days.
    /// - Throws: `NetError.Code.usage` if the client has no `sealKey`.
    public init(
        _ redis: RedisClient, name: String, lockTime: Duration = .seconds(30),
        maximumAge: Duration = .seconds(7 * 86_400)
    ) throws(NetError) {
        guard redis.seal.isSecret else { throw NetError(.usage, "shared credentials require a client with a sealKey") }
        client = redis
        entry = "k" + (try redis.seal.name(Bytes("credentials:" + name)))
        lock = "l" + (try redis.seal.name(Bytes("credentials:" + name)))
        context = Bytes("credentials:" + name)
        self.lockTime = max(.milliseconds(1), min(lockTime, .seconds(3600)))
        self.maximumAge = max(.seconds(1), min(maximumAge, .seconds(366 * 86_400)))
    }

    /// Returns the credentials that a process has stored; `nil` if there are none, or if the server does not answer in
    /// time.
    public func current() async -> Token? {
        guard let bytes = try? await client.send([Bytes("GET"), Bytes(client.prefix + entry)]).bytes,
            let plain = client.seal.opened(bytes, context)
        else { return nil }
        return try? JSONDecoder().decode(Token.self, from: plain.data)
    }

    /// Returns credentials that differ from the expired ones: those of another process, or those that `refresh`
    /// returns.
    ///
    /// While one process refreshes, the others wait, at most for `lockTime`. If the refresh fails, this throws its
    /// error, and the next process tries again.
    ///
    /// - Parameters:
    ///   - expired: the credentials that the service did not accept; `nil` if there are none.
    ///   - refresh: returns new credentials.
    public func refreshed(
        _ expired: Token?, by refresh: @Sendable (Token?) async throws -> Token
    ) async throws -> Token {
        let token = Bytes(Bytes((0..<16).map { _ in UInt8.random(in: 0...255) }).hexText)
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(5)
        var isLocked = false
        while !isLocked, ContinuousClock.now - start < lockTime {
            if let stored = await current(), stored != expired {
                return stored
            }
            let words = ["SET", client.prefix + lock, "NX", "PX", "\(lockTime.redisMilliseconds)"].map { Bytes($0) }
            do throws(NetError) {
                isLocked = try await client.send(Array(words[...1]) + [token] + Array(words[2...])).bytes != nil
            } catch {
                try Task.checkCancellation()
                return try await refresh(expired)
            }
            if !isLocked {
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(80))
            }
        }
        // Another process may have stored its result between the look-up and the lock.
        let stored = await current()
        let result: Result<Token, any Error>
        if let stored, stored != expired {
            result = .success(stored)
        } else {
            do {
                let token = try await refresh(expired ?? stored)
                await store(token)
                result = .success(token)
            } catch {
                result = .failure(error)
            }
        }
        _ = try? await client.run(unlock, keys: [lock], [token])
        return try result.get()
    }

    /// Stores credentials for all processes, for example after a login. A failure is ignored.
    public func store(_ token: Token) async {
        guard let plain = try? JSONEncoder().encode(token), let sealed = try? client.seal.closed(Bytes(plain), context)
        else { return }
        _ = try? await client.send([
            Bytes("SET"), Bytes(client.prefix + entry), sealed, Bytes("PX"), Bytes("\(maximumAge.redisMilliseconds)"),
        ])
    }
}

private let unlock = RedisScript(
    "if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")
#endif
