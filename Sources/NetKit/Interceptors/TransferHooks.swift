/// What an app may decide while a call is under way: for all calls of an agent, or for one request.
///
///     configuration.transferHooks.redirect = { step in
///         step.next.url.hasPrefix("https://api.example.com/") ? .follow : .deliver
///     }
///
/// The request's own come before the agent's, hook by hook. They run on the task that sends or on one that it waits for,
/// so not on the agent's thread, unless that task prefers ``Agent/executor``, and may take their time: the transfer waits
/// for them, and the limits of time that run then go on. When ``Limits/total`` ends while ``redirect`` or ``challenge``
/// is asked, its task is cancelled. What a hook throws ends the call: a ``NetError`` as it is, anything else under
/// ``NetError/Code/stoppedByCaller``. Nil does what is done without hooks.
public struct TransferHooks: Sendable {
    /// Behind one reference, and most often none: they are looked at in every exchange.
    private var kept: KeptHooks?

    /// No hooks.
    public init() {}

    /// What becomes of a redirect that would be followed. Each hop is then a transfer of its own. Of streams and saves
    /// too; not asked where ``Request/redirects`` is ``RedirectPolicy/return``.
    public var redirect: (@Sendable (RedirectStep) async throws -> RedirectAnswer)? {
        get { kept?.value.redirect }
        set { value.redirect = newValue }
    }

    /// Asked for credentials, as ``Agent/Configuration/challengeHandler``, and in its place. Another origin than the one
    /// that the call began at is shown none, whoever decided on the redirect.
    public var challenge: (@Sendable (Challenge) async -> ChallengeAnswer)? {
        get { kept?.value.challenge }
        set { value.challenge = newValue }
    }

    /// Gives the body once more, when a redirect, a challenge, a retry or a connection that died needs one that can be
    /// read once only. The second parameter counts from 2. It has to be as long as was announced: bytes, or a stream.
    public var newBody: (@Sendable (Request<Bytes>, Int) async throws -> Body)? {
        get { kept?.value.newBody }
        set { value.newBody = newValue }
    }

    /// What becomes of the response, by its head: not a redirect's that is followed. Of a download it is asked when the
    /// answer is one to save, before the destinations: it may send the file to another path; a stream is nothing that
    /// a download gives, and goes on as asked. There its task is cancelled, and waited for, as a destination's is.
    public var head: (@Sendable (Request<Bytes>, ResponseHead) async throws -> HeadAnswer)? {
        get { kept?.value.head }
        set { value.head = newValue }
    }

    /// What is stored of an answer that ``Caching`` is about to store; nil stores nothing.
    public var willStore: (@Sendable (StorableAnswer) async throws -> StorableAnswer?)? {
        get { kept?.value.willStore }
        set { value.willStore = newValue }
    }

    /// Hears what each call cost, when it is over and before anybody is told of its end: the call waits for it. Of a
    /// stream that is let go before its end it hears on a task of its own.
    public var metrics: (@Sendable (Request<Bytes>, Metrics) async -> Void)? {
        get { kept?.value.metrics }
        set { value.metrics = newValue }
    }

    /// Hears that the agent was invalidated; the agent's alone.
    public var invalidated: (@Sendable () async -> Void)? {
        get { kept?.value.invalidated }
        set { value.invalidated = newValue }
    }

    /// Changed as a whole: what has been handed on stays as it was.
    private var value: HookContent {
        get { kept?.value ?? HookContent() }
        set { kept = KeptHooks(newValue) }
    }

    /// Whether nothing is hooked.
    var isEmpty: Bool {
        kept == nil
            || redirect == nil && challenge == nil && newBody == nil && head == nil && willStore == nil
                && metrics == nil
    }

    /// With those of `others` where this one has none.
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
    /// What the app decides while this request is under way.
    public var transferHooks: TransferHooks {
        get { (hasNotes ? self[TransferHooksNote.self] : nil) ?? TransferHooks() }
        set { self[TransferHooksNote.self] = newValue }
    }

    /// Its own hooks, and for the rest the agent's.
    func hooks(over others: TransferHooks) -> TransferHooks {
        guard hasNotes, let own = self[TransferHooksNote.self] else { return others }
        return own.filled(from: others)
    }
}

/// Passes what calls cost on to the hooks; among the observers, but told by ``Watch`` alone, which waits for it.
struct MetricsHook: Observer {
    let tell: @Sendable (Request<Bytes>, Metrics) async -> Void

    func observe(_ event: Event) {}
}
