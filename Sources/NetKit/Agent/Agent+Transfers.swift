extension Agent {
    /// `nil` with a transport that has neither a queue nor a cookie jar.
    var control: (any TransferControl)? { transport as? any TransferControl }

    /// Keeps waiting transfers from starting. Running transfers continue, and time limits of waiting ones keep running.
    public func suspend() {
        control?.setSuspended(true)
        hub.tell(.suspended)
    }

    /// Lets waiting transfers start again.
    public func resume() {
        control?.setSuspended(false)
        hub.tell(.resumed)
    }

    /// Pauses one transfer's body in both directions, until ``resume(_:)``. Meanwhile its idle limit does not run.
    ///
    /// Bytes on their way may still arrive. Nothing is lost or repeated. Does nothing if the transfer has ended.
    public func pause(_ id: TransferInfo.ID) {
        control?.pause(id)
        hub.paused(id, true)
    }

    /// Resumes a transfer after ``pause(_:)``. Does nothing if it has ended or is not paused.
    public func resume(_ id: TransferInfo.ID) {
        control?.resume(id)
        hub.paused(id, false)
    }

    /// Returns the transfers that have not ended, in no order; empty with a transport without a queue.
    public func transfers() -> [TransferInfo] {
        control?.transfers() ?? []
    }

    /// Changes the priority of a waiting transfer. Does nothing if it has ended.
    public func setPriority(_ priority: Priority, of id: TransferInfo.ID) {
        control?.setPriority(priority, of: id)
    }
}

extension Agent {
    /// Changes the TLS trust policy for later requests that have none of their own.
    ///
    /// Those requests use new connections; transfers in flight continue with the old policy. If the policy is not
    /// usable, this throws and changes nothing.
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
    /// Returns the cookies in the jar.
    ///
    /// - Throws: ``NetError/Code/usage`` if ``Configuration/cookies`` is off.
    public func cookies() async throws(NetError) -> [Cookie] {
        try await jar().cookies()
    }

    /// Adds cookies to the jar, before any request that is sent later.
    ///
    /// - Throws: ``NetError/Code/usage`` without a jar, and for a cookie with a control character.
    public func setCookies(_ cookies: [Cookie]) throws(NetError) {
        try jar().setCookies(cookies)
    }

    /// Removes all cookies from the jar.
    ///
    /// - Throws: ``NetError/Code/usage`` without a jar.
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
