/// Callbacks for decisions of the app during a call: for all calls of an agent, or for one request.
///
///     configuration.transferHooks.redirect = { step in
///         step.next.url.hasPrefix("https://api.example.com/") ? .follow : .deliver
///     }
///
/// Each hook of the request takes precedence over the agent's. Hooks run on the sending task, or on one that it waits
/// for, and not on the agent's thread, unless that task prefers ``Agent/executor``. They may take their time: the
/// transfer waits for them, and its time limits keep running. When ``Limits/total`` ends during ``redirect`` or
/// ``challenge``, the hook's task is cancelled. An error thrown by a hook ends the call: a ``NetError`` unchanged, any
/// other error as ``NetError/Code/stoppedByCaller``. `nil` keeps the default behaviour.
public struct TransferHooks: Sendable {
    /// One reference, usually nil, because every transfer reads the hooks.
    private var kept: KeptHooks?

    /// Creates an empty set of hooks.
    public init() {}

    /// Decides about a redirect that would be followed, also for streams and saves. With this hook each hop is a
    /// separate transfer. Not called if ``Request/redirects`` is ``RedirectPolicy/return``.
    public var redirect: (@Sendable (RedirectStep) async throws -> RedirectAnswer)? {
        get { kept?.value.redirect }
        set { value.redirect = newValue }
    }

    /// Supplies credentials instead of ``Agent/Configuration/challengeHandler``. No other origin than the call's first
    /// one ever receives them, even after a redirect that a hook chose.
    public var challenge: (@Sendable (Challenge) async -> ChallengeAnswer)? {
        get { kept?.value.challenge }
        set { value.challenge = newValue }
    }

    /// Returns the body again, when a redirect, a challenge, a retry or a lost connection requires one that can be read
    /// only once. The second parameter counts from 2. The body must have the announced length and be bytes or a stream.
    public var newBody: (@Sendable (Request<Bytes>, Int) async throws -> Body)? {
        get { kept?.value.newBody }
        set { value.newBody = newValue }
    }

    /// Decides about the response by its head; not called for followed redirects. For a download it is called when the
    /// response is accepted, before the destinations, and may choose another path. A download cannot become a stream:
    /// it continues as requested. Its task is cancelled and waited for like that of a destination.
    public var head: (@Sendable (Request<Bytes>, ResponseHead) async throws -> HeadAnswer)? {
        get { kept?.value.head }
        set { value.head = newValue }
    }

    /// Returns the version of a response that ``Caching`` stores; `nil` stores nothing.
    public var willStore: (@Sendable (StorableAnswer) async throws -> StorableAnswer?)? {
        get { kept?.value.willStore }
        set { value.willStore = newValue }
    }

    /// Receives the metrics of each call at its end, before the end is reported: the call waits for it. For a stream
    /// that is released early it is called on a separate task.
    public var metrics: (@Sendable (Request<Bytes>, Metrics) async -> Void)? {
        get { kept?.value.metrics }
        set { value.metrics = newValue }
    }

    /// Called when the agent was invalidated; only the agent's hook is used.
    public var invalidated: (@Sendable () async -> Void)? {
        get { kept?.value.invalidated }
        set { value.invalidated = newValue }
    }

    /// Setting it replaces all hooks: other copies keep the old ones.
    private var value: HookContent {
        get { kept?.value ?? HookContent() }
        set { kept = KeptHooks(newValue) }
    }

    /// Whether there are no hooks.
    var isEmpty: Bool {
        kept == nil
            || redirect == nil && challenge == nil && newBody == nil && head == nil && willStore == nil
                && metrics == nil
    }

    /// True if no hook can delay a call, except those that are raced individually.
    var isPrompt: Bool { kept == nil || newBody == nil && willStore == nil }

    /// Returns these hooks, with those of `others` for the missing ones.
    func filled(from others: TransferHooks) -> TransferHooks {
        guard !others.isEmpty else { return self }
        var hooks = self
        hooks.redirect = redirect ?? others.redirect
        hooks.challenge = challenge ?? others.challenge
        hooks.newBody = newBody ?? others.newBody
        hooks.head = head ?? others.head
        hooks.willStore = willStore ?? others.willStore
        hooks.metrics = metrics ?? others.metrics
        return hooks
    }
}

private struct HookContent: Sendable {
    var redirect: (@Sendable (RedirectStep) async throws -> RedirectAnswer)?
    var challenge: (@Sendable (Challenge) async -> ChallengeAnswer)?
    var newBody: (@Sendable (Request<Bytes>, Int) async throws -> Body)?
    var head: (@Sendable (Request<Bytes>, ResponseHead) async throws -> HeadAnswer)?
    var willStore: (@Sendable (StorableAnswer) async throws -> StorableAnswer?)?
    var metrics: (@Sendable (Request<Bytes>, Metrics) async -> Void)?
    var invalidated: (@Sendable () async -> Void)?
}

private final class KeptHooks: Sendable {
    let value: HookContent

    init(_ value: HookContent) {
        self.value = value
    }
}

private enum TransferHooksNote: RequestNote {
    static let standard: TransferHooks? = nil
}

extension Request {
    /// The request's own hooks.
    public var transferHooks: TransferHooks {
        get { (hasNotes ? self[TransferHooksNote.self] : nil) ?? TransferHooks() }
        set { self[TransferHooksNote.self] = newValue }
    }

    /// Returns its own hooks, with the agent's for the missing ones.
    func hooks(over others: TransferHooks) -> TransferHooks {
        guard hasNotes, let own = self[TransferHooksNote.self] else { return others }
        return own.filled(from: others)
    }
}

/// Passes metrics to the hooks; an observer that only ``Watch`` calls, and waits for.
struct MetricsHook: Observer {
    let tell: @Sendable (Request<Bytes>, Metrics) async -> Void

    func observe(_ event: Event) {}
}
