#if Redis
internal import CNetCore
internal import CNetRedis
public import NetKit

/// A client of Redis or Valkey, which the caches, limits, flights and credentials of a process share.
///
///     let redis = try RedisClient("rediss://cache.example:6380", prefix: "shop", password: secret, sealKey: key)
///     let caching = Caching(try RedisCacheStore(redis).twoTier(), rules: .http(), hashKey: hashKey)
///     configuration.interceptors = [SharedFlight(redis, caching), caching]
///
/// All keys begin with the prefix in braces, such as `{shop}:`. So in a cluster all of them are in one slot, as the
/// scripts require, and several programs can share a server.
///
/// An unreachable server is not an error: the connection is made in the background, and again whenever it is lost.
/// Until then, commands fail immediately. Thread-safe.
@safe public final class RedisClient: Sendable {
    // SAFETY: include/netcore/redis.h: a client is thread-safe. deinit runs after the last call. It releases the client
    // without waiting, because the last reference may be dropped on the client's own thread.
    private nonisolated(unsafe) let raw: OpaquePointer
    /// The beginning of all keys.
    let prefix: String
    /// The time limit of a command of a request.
    let timeLimit: Duration
    let seal: Seal
    private let failure = Lock<NetError?>(nil)

    /// Creates a client, which connects in the background.
    ///
    /// - Parameters:
    ///   - url: `redis://`, `rediss://` (TLS) or `unix://`, with an optional user, password and database.
    ///   - prefix: the name of the data on the server. Programs with the same prefix share it. At most 64 letters,
    ///     digits, "-", "_" and ".".
    ///   - user: the ACL user. Takes precedence over the URL's.
    ///   - password: the password. Takes precedence over the URL's.
    ///   - trust: the TLS trust policy: authorities, pins and client certificate, which are read now. In a cluster it
    ///     applies to each node, under the name that the cluster announces. If `nil`, the system's authorities are
    ///     trusted. If the server's certificate is refused, the cache misses and requests continue; see
    ///     ``lastFailure``.
    ///   - timeLimit: the longest wait for the reply to a command of a request, at least one millisecond. After that,
    ///     the request continues without the server.
    ///   - sealKey: the key that encrypts entries, credentials and messages (AES-256-GCM), 32 bytes. The server then
    ///     sees neither bodies nor the names of keys, tags and hosts. If `nil`, data is not encrypted.
    /// - Throws: `NetError.Code.badURL` or `NetError.Code.badScheme`, `NetError.Code.usage` for a prefix or a key
    ///   that is not valid, `NetError.Code.plaintextRefused` for a policy with a URL that is not `rediss://`, and
    ///   `NetError.Code.badPin`, `NetError.Code.tlsRoots` or `NetError.Code.tlsIdentity` for a policy that cannot
    ///   be used.
    public init(
        _ url: String, prefix: String = "netkit", user: String = "", password: String = "", trust: TrustPolicy? = nil,
        timeLimit: Duration = .milliseconds(50), sealKey: [UInt8]? = nil
    ) throws(NetError) {
        let isValidPrefix = prefix.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || [45, 46, 95].contains(byte)
        }
        guard isValidPrefix, (1...64).contains(prefix.utf8.count) else {
            throw NetError(.usage, "a prefix must have 1 to 64 letters, digits, hyphens, underscores and periods")
        }
        guard sealKey.map({ $0.count == 32 }) ?? true else { throw NetError(.usage, "sealKey must have 32 bytes") }
        seal = Seal(key: sealKey.map { Bytes($0) })
        self.prefix = "{\(prefix)}:"
        let limit = max(.milliseconds(1), min(timeLimit, .seconds(60)))
        self.timeLimit = limit
        let words = WordArena([Bytes(url), Bytes(user), Bytes(password)])
        if let trust {
            unsafe raw = try trust.withCore { unsafe Self.open(words, $0, limit) }.get()
        } else {
            unsafe raw = try Self.open(words, nil, limit).get()
        }
    }

    private static func open(
        _ words: WordArena, _ trust: OpaquePointer?, _ timeLimit: Duration
    ) -> Result<OpaquePointer, NetError> {
        var created: OpaquePointer?
        var error = nc_error()
        var config = unsafe nc_redis_config()
        unsafe config.command_timeout_ms = timeLimit.redisMilliseconds
        unsafe config.trust = trust
        let status = unsafe words.withSlices { slices in
            unsafe config.url = slices[0]
            unsafe config.user = slices[1]
            unsafe config.password = slices[2]
            return unsafe nc_redis_open(&created, &config, &error)
        }
        guard status == .NC_OK, let created = unsafe created else {
            return unsafe .failure(NetError(error))
        }
        return unsafe .success(created)
    }

    deinit {
        unsafe nc_redis_release(raw)
    }

    /// The error of the last command that failed, such as the reason why the server's certificate was refused; `nil` if
    /// none has failed.
    ///
    /// Lookups of a cache, limits, flights and credentials do not report it, because the request continues.
    public var lastFailure: NetError? { failure.withLock { $0 } }

    // MARK: Commands

    /// Sends a command and returns its reply. An error reply of the server is thrown as `NetError.Code.badResponse`.
    func send(_ words: [Bytes], within limit: Duration? = nil) async throws(NetError) -> RedisReply {
        unsafe try await run(words, within: limit) { client, command, error in
            unsafe nc_redis_send(client, &command, &error)
        }
    }

    /// Waits until the server has answered. Throws the reason if it does not, such as a wrong password.
    package func ping() async throws(NetError) {
        _ = try await send([Bytes("PING")], within: .seconds(2))
    }

    /// Runs a script.
    func run(
        _ script: RedisScript, keys: [String], _ arguments: [Bytes], within limit: Duration? = nil
    ) async throws(NetError) -> RedisReply {
        guard let source = unsafe script.raw else { throw NetError(.internal, "a script was not created") }
        let words = keys.map { Bytes(prefix + $0) } + arguments
        return unsafe try await run(words, within: limit) { client, command, error in
            unsafe nc_redis_eval(client, source, &command, keys.count, &error)
        }
    }

    private func run(
        _ words: [Bytes], within limit: Duration?,
        _ send: (OpaquePointer, inout nc_redis_command, inout nc_error) -> nc_status
    ) async throws(NetError) -> RedisReply {
        let result = CommandResult()
        await withCheckedContinuation { continuation in
            let context = unsafe Unmanaged.passRetained(WaitingCommand(continuation, result)).toOpaque()
            var error = nc_error()
            let status = unsafe WordArena(words).withSlices { slices in
                guard let base = slices.baseAddress else { return nc_status.NC_ERR_USAGE }
                var command = unsafe nc_redis_command(
                    arguments: base, count: slices.count, timeout_ms: limit?.redisMilliseconds ?? 0, key_index: 0,
                    on_reply: receive, ctx: context)
                return unsafe send(raw, &command, &error)
            }
            if status != .NC_OK {
                let waiting = unsafe Unmanaged<WaitingCommand>.fromOpaque(context).takeRetainedValue()
                waiting.end(.failure(NetError(error)))
            }
        }
        var reply = result.value
        if case .success(.error(let text)) = reply {
            reply = .failure(NetError(.badResponse, "the Redis server refused a command: \(text)"))
        }
        if case .failure(let error) = reply {
            failure.withLock { $0 = error }
        }
        return try reply.get()
    }

    // MARK: Subscriptions

    /// Subscribes to a channel of this prefix. The subscription ends when the returned object is released.
    func subscribe(
        _ channel: String, onMessage: @escaping @Sendable (Bytes) -> Void,
        onChange: @escaping @Sendable (_ isConnected: Bool) -> Void
    ) throws(NetError) -> RedisSubscription {
        let context = unsafe Unmanaged.passRetained(Listener(onMessage: onMessage, onChange: onChange)).toOpaque()
        var subscription: OpaquePointer?
        var error = nc_error()
        let status = unsafe WordArena([Bytes(prefix + channel)]).withSlices { slices in
            var listener = unsafe nc_redis_listener(
                channel: slices[0], on_message: receiveMessage, on_change: receiveChange, ctx: context)
            return unsafe nc_redis_subscribe(raw, &listener, &subscription, &error)
        }
        guard status == .NC_OK, let subscription = unsafe subscription else {
            unsafe Unmanaged<Listener>.fromOpaque(context).release()
            throw NetError(error)
        }
        return unsafe RedisSubscription(subscription, of: self)
    }

    fileprivate func unsubscribe(_ subscription: OpaquePointer) {
        unsafe nc_redis_unsubscribe(raw, subscription)
    }
}

extension RedisClient: CustomStringConvertible, CustomReflectable {
    /// The prefix. The address may contain a password.
    public var description: String { "RedisClient(\(prefix))" }

    /// A mirror without the key.
    public var customMirror: Mirror { Mirror(self, children: ["prefix": prefix, "timeLimit": timeLimit]) }
}

/// A subscription, which ends when it is released.
@safe final class RedisSubscription: Sendable {
    // SAFETY: include/netcore/redis_subscription.h: it is valid until nc_redis_unsubscribe(), which deinit calls once,
    // and the client lives at least as long.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let client: RedisClient

    fileprivate init(_ raw: OpaquePointer, of client: RedisClient) {
        unsafe self.raw = raw
        self.client = client
    }

    deinit {
        unsafe client.unsubscribe(raw)
    }
}

/// A Lua script.
@safe final class RedisScript: Sendable {
    // SAFETY: include/netcore/redis.h: a script is immutable. deinit runs after the last use.
    fileprivate nonisolated(unsafe) let raw: OpaquePointer?

    init(_ source: String) {
        var created: OpaquePointer?
        let status = unsafe WordArena([Bytes(source)]).withSlices { unsafe nc_redis_script_new(&created, $0[0], nil) }
        unsafe raw = status == .NC_OK ? created : nil
    }

    deinit {
        unsafe nc_redis_script_free(raw)
    }
}

// MARK: - Callbacks

/// The result of a command. Its lock orders the client's thread and the waiting task also for the thread sanitizer,
/// which does not see how a continuation orders them.
private final class CommandResult: Sendable {
    private let stored = Lock<Result<RedisReply, NetError>?>(nil)

    var value: Result<RedisReply, NetError> {
        stored.withLock { $0 } ?? .failure(NetError(.internal, "a command ended without a result"))
    }

    func store(_ result: Result<RedisReply, NetError>) {
        stored.withLock { $0 = result }
    }
}

private final class WaitingCommand: Sendable {
    private let continuation: CheckedContinuation<Void, Never>
    private let result: CommandResult

    init(_ continuation: CheckedContinuation<Void, Never>, _ result: CommandResult) {
        self.continuation = continuation
        self.result = result
    }

    func end(_ result: Result<RedisReply, NetError>) {
        self.result.store(result)
        continuation.resume()
    }
}

private func receive(
    _ context: UnsafeMutableRawPointer?, _ reply: UnsafeMutablePointer<nc_redis_reply>?,
    _ error: UnsafePointer<nc_error>
) {
    guard let context = unsafe context else { return }
    let waiting = unsafe Unmanaged<WaitingCommand>.fromOpaque(context).takeRetainedValue()
    guard let reply = unsafe reply else {
        return waiting.end(.failure(NetError(unsafe error.pointee)))
    }
    waiting.end(.success(unsafe RedisReply(reply.pointee)))
}

private final class Listener: Sendable {
    let onMessage: @Sendable (Bytes) -> Void
    let onChange: @Sendable (Bool) -> Void

    init(onMessage: @escaping @Sendable (Bytes) -> Void, onChange: @escaping @Sendable (Bool) -> Void) {
        self.onMessage = onMessage
        self.onChange = onChange
    }
}

private func receiveMessage(_ context: UnsafeMutableRawPointer?, _ channel: nc_slice, _ message: nc_slice) {
    guard let context = unsafe context else { return }
    let listener = unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
    listener.onMessage(unsafe Bytes(copying: message))
}

private func receiveChange(_ context: UnsafeMutableRawPointer?, _ state: nc_redis_subscription_state) {
    guard let context = unsafe context else { return }
    let listener = unsafe Unmanaged<Listener>.fromOpaque(context)
    switch state {
    case .NC_REDIS_SUBSCRIBED: unsafe listener.takeUnretainedValue().onChange(true)
    case .NC_REDIS_LOST: unsafe listener.takeUnretainedValue().onChange(false)
    case .NC_REDIS_ENDED: unsafe listener.release()
    @unknown default: break
    }
}
#endif
