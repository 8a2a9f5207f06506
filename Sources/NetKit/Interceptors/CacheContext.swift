/// The agent's settings and state that a cache needs.
final class CacheContext: Sendable {
    /// ``Agent/Configuration/appVersion``.
    let appVersion: String
    /// The agent's cookies; `nil` without a jar.
    let jar: (any TransferControl)?
    /// The hooks of the app.
    let hooks: TransferHooks
    /// The source of names and passwords.
    let netrc: NetrcChoice
    /// The digests of credential files when they were first read; empty for one that has changed since.
    let seen = Lock<[[UInt8]: String]>([:])
    private let standing: Lock<ChangingTrust>
    /// The policy of the previous request: consecutive requests often have the same one, and digesting a large one is
    /// slow.
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

/// A policy as set at one time. The same policy, set again, is a different object.
final class StandingTrust: Sendable {
    let policy: TrustPolicy
    private let made = Lock<Result<String?, NetError>?>(nil)

    init(_ policy: TrustPolicy) {
        self.policy = policy
    }

    /// The mark of the policy in cache keys; `nil` for the default policy. Computed on first use: most agents have no
    /// cache, and digesting a list of authorities is slow.
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
    /// Whether several changes overlapped, so that the current policy is unknown.
    var isUnknown = false
}

extension CacheContext {
    /// The trust policy of requests that set none; `nil` during a change.
    var trust: StandingTrust? {
        standing.withLock { $0.underWay > 0 || $0.isUnknown ? nil : $0.trust }
    }

    /// Returns the trust policy of a request: its own or the agent's; `nil` during a change.
    func trust(of request: Request<Bytes>) -> StandingTrust? {
        guard let said = request.trust else { return trust }
        if let last = brought.withLock({ $0 }), last.policy.isWritten(as: said) {
            return last
        }
        let trust = StandingTrust(said)
        brought.withLock { $0 = trust }
        return trust
    }

    /// Returns true if the policy has not changed since the lookup, whose key contains its mark.
    func isUnchanged(since look: CacheLook, for request: Request<Bytes>) -> Bool {
        request.trust != nil || look.trust === trust
    }

    /// Marks the policy as unknown until the change has ended.
    func beginTrustChange() {
        standing.withLock { state in
            state.underWay += 1
            state.isUnknown = state.underWay > 1
        }
    }

    /// - Parameter trust: the new policy; `nil` keeps the old one.
    func endTrustChange(_ trust: StandingTrust?) {
        standing.withLock { state in
            state.underWay -= 1
            guard let trust else { return }
            // Without a change, responses in flight stay valid.
            if state.isUnknown || !state.trust.policy.isWritten(as: trust.policy) {
                state.trust = trust
            }
        }
    }
}

extension Request {
    /// Returns key fields for everything besides the URL and the selected fields that affects the response. They cover
    /// the route to the server, the decoding of content codings, and the TLS trust policy. Empty for most requests.
    ///
    /// - Parameter trust: `nil` if unknown.
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
