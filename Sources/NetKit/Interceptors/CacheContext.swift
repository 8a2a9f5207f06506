/// What a cache has to know of the agent.
final class CacheContext: Sendable {
    /// ``Agent/Configuration/appVersion``.
    let appVersion: String
    /// Where its cookies are; nil without a jar.
    let jar: (any TransferControl)?
    /// What the app decides of calls.
    let hooks: TransferHooks
    /// Where names and passwords are read from.
    let netrc: NetrcChoice
    /// The digests of files that tell who asks, as they were read first; empty for one that has changed since.
    let seen = Lock<[[UInt8]: String]>([:])
    private let standing: Lock<ChangingTrust>
    /// That of the request before: one after the other brings the same policy, and to digest a large one takes time.
    private let brought = Lock<StandingTrust?>(nil)

    init(
        appVersion: String = "", jar: (any TransferControl)? = nil, hooks: TransferHooks = TransferHooks(),
        trust: TrustPolicy = TrustPolicy(), netrc: NetrcChoice = .off
    ) {
        self.appVersion = appVersion
        self.jar = jar
        self.hooks = hooks
        self.netrc = netrc
        standing = Lock(ChangingTrust(trust: StandingTrust(trust)))
    }
}

/// A policy as it was set once: the same policy, set again, is another one.
final class StandingTrust: Sendable {
    let policy: TrustPolicy
    private let made = Lock<Result<String?, NetError>?>(nil)

    init(_ policy: TrustPolicy) {
        self.policy = policy
    }

    /// What tells it from others in the keys of answers; nil for the standard one. Made when it is asked for first: most
    /// agents have no cache, and to digest a list of authorities takes time.
    var mark: Result<String?, NetError> {
        made.withLock { made in
            if let made {
                return made
            }
            let mark = Result { () throws(NetError) in try policy.cacheMark() }
            made = mark
            return mark
        }
    }
}

private struct ChangingTrust: Sendable {
    var trust: StandingTrust
    var underWay = 0
    /// Whether changes were under way at once, so that nobody knows which came last.
    var isUnknown = false
}

extension CacheContext {
    /// Whom requests believe that bring no policy; nil while that changes.
    var trust: StandingTrust? {
        standing.withLock { $0.underWay > 0 || $0.isUnknown ? nil : $0.trust }
    }

    /// Whom a request believes: by its own policy, or by the agent's; nil while that changes.
    func trust(of request: Request<Bytes>) -> StandingTrust? {
        guard let said = request.trust else { return trust }
        if let last = brought.withLock({ $0 }), last.policy.isWritten(as: said) {
            return last
        }
        let trust = StandingTrust(said)
        brought.withLock { $0 = trust }
        return trust
    }

    /// Whether it is known by which policy what came since a look came: the one that the look's key stands for.
    func isUnchanged(since look: CacheLook, for request: Request<Bytes>) -> Bool {
        request.trust != nil || look.trust === trust
    }

    /// From here on nobody knows by which policy a response comes, until the change has ended.
    func beginTrustChange() {
        standing.withLock { state in
            state.underWay += 1
            state.isUnknown = state.underWay > 1
        }
    }

    /// - Parameter trust: what counts from now on; nil leaves what there was.
    func endTrustChange(_ trust: StandingTrust?) {
        standing.withLock { state in
            state.underWay -= 1
            guard let trust else { return }
            // Where nothing has changed, what is under way is as good as it was.
            if state.isUnknown || !state.trust.policy.isWritten(as: trust.policy) {
                state.trust = trust
            }
        }
    }
}

extension Request {
    /// What decides beside its URL and the chosen fields what it is answered with, as fields of a key: the way to who
    /// answers, whether content codings are undone, and whom TLS believes. Most requests have none of these.
    ///
    /// - Parameter trust: nil is not known.
    func cachedWayFields(_ trust: StandingTrust?) throws(NetError) -> [Headers.Field] {
        guard let trust else { throw NetError(.usage, "the agent's trust policy is being changed") }
        var fields = wayFields
        if !acceptsCodings {
            fields.append(Headers.Field(name: "Content-Coding", value: "kept"))
        }
        if let mark = try trust.mark.get() {
            fields.append(Headers.Field(name: "Trust", value: mark))
        }
        return fields
    }
}
