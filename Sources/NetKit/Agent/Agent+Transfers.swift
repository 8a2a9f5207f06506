extension Agent {
    /// Nil over a transport that has neither a queue nor a jar.
    var control: (any TransferControl)? { transport as? any TransferControl }

    /// Keeps what waits for a slot from starting; what runs goes on, and waiting limits go on too.
    public func suspend() {
        control?.setSuspended(true)
        hub.tell(.suspended)
    }

    /// Lets what waits start again.
    public func resume() {
        control?.setSuspended(false)
        hub.tell(.resumed)
    }

    /// Holds up one transfer's body, both ways, until ``resume(_:)``; its idleness does not count meanwhile.
    ///
    /// What is under way may still come. Nothing is lost or repeated. One that has ended is ignored.
    public func pause(_ id: TransferInfo.ID) {
        control?.pause(id)
        hub.paused(id, true)
    }

    /// Lets a transfer go on after ``pause(_:)``; one that has ended, or is not paused, is ignored.
    public func resume(_ id: TransferInfo.ID) {
        control?.resume(id)
        hub.paused(id, false)
    }

    /// What has not ended, in no order; empty over a transport without a queue.
    public func transfers() -> [TransferInfo] {
        control?.transfers() ?? []
    }

    /// Moves a transfer that waits; one that has ended is ignored.
    public func setPriority(_ priority: Priority, of id: TransferInfo.ID) {
        control?.setPriority(priority, of: id)
    }
}

extension Agent {
    /// Changes whom TLS believes, for requests that are sent from now on and bring no policy of their own.
    ///
    /// They begin with connections of their own; what is under way goes on as it was. Throws what makes the policy
    /// unusable, and then nothing changes.
    public func setTrust(_ policy: TrustPolicy) throws(NetError) {
        guard let control else {
            throw NetError(.usage, "the agent's transport has no trust policy")
        }
        let context = exchange.cacheContext
        context.beginTrustChange()
        do throws(NetError) {
            try control.setTrust(policy)
        } catch {
            context.endTrustChange(nil)
            throw error
        }
        context.endTrustChange(StandingTrust(policy))
    }
}

extension Agent {
    /// The cookies in the jar.
    ///
    /// Throws ``NetError/Code/usage`` when ``Configuration/cookies`` asks for none.
    public func cookies() async throws(NetError) -> [Cookie] {
        try await jar().cookies()
    }

    /// Adds cookies to the jar, before any request that is sent afterwards.
    ///
    /// Throws ``NetError/Code/usage`` without a jar, and for a cookie with a control character.
    public func setCookies(_ cookies: [Cookie]) throws(NetError) {
        try jar().setCookies(cookies)
    }

    /// Removes all cookies from the jar.
    ///
    /// Throws ``NetError/Code/usage`` without a jar.
    public func clearCookies() throws(NetError) {
        try jar().clearCookies()
    }

    private func jar() throws(NetError) -> any TransferControl {
        guard let control else {
            throw NetError(.usage, "the agent's transport has no cookie jar")
        }
        return control
    }
}
