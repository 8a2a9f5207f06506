extension Agent {
    /// The transport's control of its transfers and cookies. `nil` if the app's transport has none.
    var control: (any TransferControl)? { transport as? any TransferControl }

    /// Stops waiting and later transfers from starting, until ``resume()``. Running transfers continue. The time limits
    /// of waiting transfers still run.
    public func suspend() {
        control?.setSuspended(true)
        hub.send(.suspended)
    }

    /// Allows transfers to start again after ``suspend()``.
    public func resume() {
        control?.setSuspended(false)
        hub.send(.resumed)
    }

    /// Pauses one transfer's body in both directions, until ``resume(_:)``. Meanwhile its idle limit does not run.
    ///
    /// Bytes that are already on the network may still arrive. No bytes are lost or repeated. Does nothing if the
    /// transfer has ended.
    public func pause(_ id: TransferInfo.ID) {
        control?.pause(id)
        hub.reportPause(of: id, true)
    }

    /// Resumes a transfer after ``pause(_:)``. Does nothing if it has ended or is not paused.
    public func resume(_ id: TransferInfo.ID) {
        control?.resume(id)
        hub.reportPause(of: id, false)
    }

    /// Returns the transfers that have not ended, in no particular order. Empty if the app's transport has no queue.
    public func transfers() -> [TransferInfo] {
        control?.transfers() ?? []
    }

    /// Changes the priority of a waiting transfer. Does nothing if it has ended.
    public func setPriority(_ priority: Priority, of id: TransferInfo.ID) {
        control?.setPriority(priority, of: id)
    }
}

extension Agent {
    /// Changes the TLS trust policy for later requests that set none.
    ///
    /// Those requests use new connections. Transfers in flight continue with the old policy. If the policy is not
    /// usable, this function throws and changes nothing.
    public func setTrust(_ policy: TrustPolicy) throws(NetError) {
        guard let control else {
            throw NetError(.usage, "the agent's transport does not support trust policies")
        }
        let context = callRunner.cacheContext
        context.beginTrustChange()
        do throws(NetError) {
            try control.setTrust(policy)
        } catch {
            context.endTrustChange(nil)
            throw error
        }
        context.endTrustChange(TrustSetting(policy))
    }
}

extension Agent {
    /// The agent's cookie jar. Its functions throw ``NetError/Code/usage`` if ``Configuration/cookies`` is off.
    public var cookies: CookieJar { CookieJar(control: control) }
}

/// The cookies of an agent (``Agent/cookies``).
///
///     try agent.cookies.set(Cookie(name: "session", value: "abc", domain: "api.example.com"))
///     for cookie in try await agent.cookies.all() { print(cookie.name, cookie.value) }
public struct CookieJar: Sendable {
    let control: (any TransferControl)?

    /// Returns all cookies.
    public func all() async throws(NetError) -> [Cookie] {
        try await jar().cookies()
    }

    /// Adds a cookie, before any request that is sent later. It replaces the cookie with its name, domain and path.
    ///
    /// - Throws: ``NetError/Code/usage`` also if the cookie contains a control character.
    public func set(_ cookie: Cookie) throws(NetError) {
        try set([cookie])
    }

    /// Adds all cookies, or none if one of them is invalid.
    package func set(_ cookies: [Cookie]) throws(NetError) {
        try jar().setCookies(cookies)
    }

    /// Removes all cookies.
    public func removeAll() throws(NetError) {
        try jar().clearCookies()
    }

    private func jar() throws(NetError) -> any TransferControl {
        guard let control else {
            throw NetError(.usage, "the agent's transport has no cookie jar")
        }
        return control
    }
}
