/// Callbacks with which the app makes decisions during a call. An interceptor of closures, for all calls of an agent, of a
/// service, or for one request:
///
///     configuration.interceptors.append(
///         TransferHooks(redirect: { step in
///             step.next.url.hasPrefix("https://api.example.com/") ? .follow : .deliver
///         }))
///
/// Any other ``Interceptor`` can have hooks too: see ``Interceptor/transferHooks``.
///
/// For each hook, one interceptor decides. The others with the same hook are not called:
/// 1. the request's interceptors come before the service's, and the service's before the agent's
/// 2. within one list, the first interceptor with the hook decides
///
/// `metrics` and `invalidated` only report. They are called for every interceptor that has them. If no interceptor
/// has a hook, the default behaviour applies.
///
/// Hooks run on the sending task, or on a task that it waits for. They run on the agent's thread only if that task
/// prefers ``Agent/executor``. The transfer waits for a hook, and its time limits keep running. If ``Limits/total``
/// ends during a hook, the hook's task is cancelled.
///
/// If a hook throws, the call ends with that error. An error that is not a ``NetError`` becomes
/// ``NetError/Code/stoppedByCaller``.
public struct TransferHooks: Sendable {
    // A single reference, usually `nil`, because every transfer copies and reads the hooks.
    private var storage: HookStorage?

    /// Creates the hooks. Those that are `nil` leave the decision to other interceptors.
    ///
    /// - Parameters:
    ///   - redirect: decides about a redirect before it is followed. With this hook, each hop is a separate transfer.
    ///     It is not called if ``Request/redirects`` is ``RedirectPolicy/return``.
    ///   - challenge: supplies credentials when a server or a proxy requires them and the request has none, or wrong
    ///     ones. It is called at most three times for a request. After a redirect, only the challenged request is sent
    ///     again, not the one that was redirected. The time until the hook returns counts towards ``Limits/total``. At
    ///     the end of that time, the hook's task is cancelled. The hook is not called:
    ///     - if the body cannot be sent again
    ///     - if a redirect led to another origin than that of the call's first request, and the challenge comes from
    ///       there
    ///     - for a server to which the additions of the agent, or of the service, are not sent, if the hook is the
    ///       agent's or the service's; see ``Agent/Configuration/trustedOrigins``
    ///   - newBody: returns a new body for a request whose own body can be read only once. It is called when a
    ///     redirect, a challenge, a retry or a lost connection requires the body again. The second parameter is the
    ///     number of the send, from 2. The body must have the announced length, and must be bytes or a stream.
    ///   - head: decides about a response from its head, before the body is read. It is not called for redirects that
    ///     are followed. For a download it is called when the response is accepted, before the destination closures,
    ///     and can choose another path. If it returns `.stream` for a download, the download continues as requested. If a
    ///     download is cancelled, the hook's task is cancelled, and the download waits for it.
    ///   - willStore: returns the response for ``Caching`` to store, which may be changed. If it returns `nil`, nothing
    ///     is stored.
    ///   - metrics: receives the metrics of each call at its end. The call waits for it before the end is reported. For
    ///     a stream that is released early, it is called on a separate task.
    ///   - invalidated: called when the agent was invalidated. Only the hooks of the agent's interceptors are called.
    public init(
        redirect: (@Sendable (RedirectStep) async throws -> RedirectResponse)? = nil,
        challenge: (@Sendable (Challenge) async -> ChallengeAction)? = nil,
        newBody: (@Sendable (Request<Bytes>, Int) async throws -> Body)? = nil,
        head: (@Sendable (Request<Bytes>, ResponseHead) async throws -> ResponseDisposition)? = nil,
        willStore: (@Sendable (StorableResponse) async throws -> StorableResponse?)? = nil,
        metrics: (@Sendable (Request<Bytes>, Metrics) async -> Void)? = nil,
        invalidated: (@Sendable () async -> Void)? = nil
    ) {
        let content = HookContent(
            redirect: redirect, challenge: challenge, proxyChallenge: challenge, newBody: newBody, head: head,
            willStore: willStore, metrics: metrics, invalidated: invalidated)
        storage = content.isEmpty ? nil : HookStorage(content)
    }

    package var redirect: (@Sendable (RedirectStep) async throws -> RedirectResponse)? {
        get { storage?.value.redirect }
        set { value.redirect = newValue }
    }

    package var challenge: (@Sendable (Challenge) async -> ChallengeAction)? {
        get { storage?.value.challenge }
        set {
            value.challenge = newValue
            value.proxyChallenge = newValue
        }
    }

    package var newBody: (@Sendable (Request<Bytes>, Int) async throws -> Body)? {
        get { storage?.value.newBody }
        set { value.newBody = newValue }
    }

    package var head: (@Sendable (Request<Bytes>, ResponseHead) async throws -> ResponseDisposition)? {
        get { storage?.value.head }
        set { value.head = newValue }
    }

    package var willStore: (@Sendable (StorableResponse) async throws -> StorableResponse?)? {
        get { storage?.value.willStore }
        set { value.willStore = newValue }
    }

    package var metrics: (@Sendable (Request<Bytes>, Metrics) async -> Void)? {
        get { storage?.value.metrics }
        set { value.metrics = newValue }
    }

    package var invalidated: (@Sendable () async -> Void)? {
        get { storage?.value.invalidated }
        set { value.invalidated = newValue }
    }

    // Setting it creates a new storage object, because copies of this value may refer to the old one.
    private var value: HookContent {
        get { storage?.value ?? HookContent() }
        set { storage = HookStorage(newValue) }
    }

    /// The `challenge` hook for the challenges of proxies. A server of a foreign origin does not reach the agent's hook,
    /// but the agent's proxy does.
    var proxyChallenge: (@Sendable (Challenge) async -> ChallengeAction)? { storage?.value.proxyChallenge }

    /// Whether there are no hooks.
    private var isEmpty: Bool { storage?.value.isEmpty ?? true }

    /// Returns these hooks. Missing hooks are taken from `others`, except those that only report.
    func filled(from others: TransferHooks) -> TransferHooks {
        guard !others.isEmpty else { return self }
        var content = value
        let others = others.value
        content.redirect = content.redirect ?? others.redirect
        content.challenge = content.challenge ?? others.challenge
        content.proxyChallenge = content.proxyChallenge ?? others.proxyChallenge
        content.newBody = content.newBody ?? others.newBody
        content.head = content.head ?? others.head
        content.willStore = content.willStore ?? others.willStore
        var hooks = self
        hooks.value = content
        return hooks
    }

    /// Returns these hooks without the one for the challenges of servers.
    func withoutServerChallenge() -> TransferHooks {
        guard challenge != nil else { return self }
        var hooks = self
        hooks.value.challenge = nil
        return hooks
    }
}

private struct HookContent: Sendable {
    var redirect: (@Sendable (RedirectStep) async throws -> RedirectResponse)?
    var challenge: (@Sendable (Challenge) async -> ChallengeAction)?
    var proxyChallenge: (@Sendable (Challenge) async -> ChallengeAction)?
    var newBody: (@Sendable (Request<Bytes>, Int) async throws -> Body)?
    var head: (@Sendable (Request<Bytes>, ResponseHead) async throws -> ResponseDisposition)?
    var willStore: (@Sendable (StorableResponse) async throws -> StorableResponse?)?
    var metrics: (@Sendable (Request<Bytes>, Metrics) async -> Void)?
    var invalidated: (@Sendable () async -> Void)?

    var isEmpty: Bool {
        redirect == nil && challenge == nil && proxyChallenge == nil && newBody == nil && head == nil
            && willStore == nil && metrics == nil && invalidated == nil
    }
}

private final class HookStorage: Sendable {
    let value: HookContent

    init(_ value: HookContent) {
        self.value = value
    }
}

extension TransferHooks: PromptInterceptor {
    /// Passes the call on unchanged.
    public func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
        try await next(call)
    }

    /// These hooks.
    public var transferHooks: TransferHooks { self }

    // The other hooks are limited individually.
    var isPrompt: Bool { newBody == nil && willStore == nil }
}

extension [any Interceptor] {
    /// Returns the hooks of these interceptors: for each hook, that of the first interceptor that has it.
    func transferHooks() -> TransferHooks {
        var hooks = TransferHooks()
        for interceptor in self {
            hooks = hooks.filled(from: interceptor.transferHooks)
        }
        return hooks
    }

    /// Returns the `metrics` hooks of these interceptors, as observers.
    ///
    /// - Parameter owner: the owner of the interceptors, if its ``OriginBoundInterceptor``s do not run for foreign
    ///   origins.
    func metricsHooks(of owner: WithheldAdditions = []) -> [any Observer] {
        compactMap { interceptor in
            interceptor.transferHooks.metrics.map {
                MetricsHook(report: $0, owner: interceptor is any OriginBoundInterceptor ? owner : [])
            }
        }
    }
}

/// Passes the metrics of a call to the hook `metrics`. It conforms to ``Observer`` so that it can be
/// passed to ``Watch``, which calls `report` and waits for it.
struct MetricsHook: Observer {
    let report: @Sendable (Request<Bytes>, Metrics) async -> Void
    /// The hook is not called if the additions of this owner are withheld from the request.
    let owner: WithheldAdditions

    func observe(_ event: Event) {}
}

/// A response that is about to be stored; see the hook `willStore` of ``TransferHooks``.
public struct StorableResponse: Sendable {
    /// The URL of the response, without credentials.
    public let url: String
    /// The status.
    public let status: Int
    /// The fields to store. Changing them does not affect decisions that were already made, such as the lifetime.
    public var headers: Headers
    /// The body to store.
    public var bytes: Bytes
}

extension CachedCall {
    /// Calls the hook `willStore` of ``TransferHooks``, and stores the response that it returns.
    func put(_ stored: StoredResponse, _ bytes: Bytes, after lookup: CacheLookup) async throws(NetError) {
        let storable = StorableResponse(
            url: stored.head.url, status: stored.head.status, headers: stored.headers, bytes: bytes)
        call.watch?.report(.storing(storable), of: call.request)
        guard let hook = next.transferHooks.willStore else {
            return try await evaluator.put(stored, bytes, after: lookup)
        }
        let changed: StorableResponse?
        do {
            changed = try await hook(storable)
        } catch {
            throw NetError(wrapping: error, .stoppedByCaller, "the willStore hook prevented storing the response")
        }
        guard let changed else {
            throw NetError(.stoppedByCaller, "the willStore hook prevented storing the response")
        }
        try await evaluator.put(StoredResponse(stored.head, headers: changed.headers), changed.bytes, after: lookup)
    }
}

/// A streamed body that is collected while the caller reads it, and passed to a closure when it is complete.
final class StoringChunks: ChunkSource {
    private struct State: Sendable {
        // The pieces so far. `nil` if the body is too large, was abandoned, or has been passed on.
        var pieces: [Bytes]? = []
        var count = 0
    }

    private let state = Lock(State())
    private let stream: ResponseStream
    private let limit: Int
    private let store: @Sendable (Bytes, Response<Bytes>) async -> Void

    init(
        _ stream: ResponseStream, upTo limit: Int, store: @escaping @Sendable (Bytes, Response<Bytes>) async -> Void
    ) {
        self.stream = stream
        self.limit = limit
        self.store = store
    }

    func next() async throws(NetError) -> Bytes? {
        guard let piece = try await stream.source.next() else {
            if let whole = take() {
                await store(whole, stream.source.ending ?? stream.headOnly)
            }
            return nil
        }
        let limit = limit
        state.withLock { state in
            state.count += piece.count
            if state.count > limit {
                state.pieces = nil
            }
            state.pieces?.append(piece)
        }
        return piece
    }

    private func take() -> Bytes? {
        let pieces = state.withLock { state in
            defer { state.pieces = nil }
            return state.pieces
        }
        guard let pieces else { return nil }
        if pieces.count == 1 {
            return pieces[0]
        }
        var whole: [UInt8] = []
        whole.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        pieces.forEach { whole.append(contentsOf: $0) }
        return Bytes(whole)
    }

    func abandon(isSuperseded: Bool) {
        state.withLock { $0.pieces = nil }
        stream.source.abandon(isSuperseded: isSuperseded)
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}
