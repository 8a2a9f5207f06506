/// Controls an agent's transfers; implemented by transports with a queue and a cookie jar.
protocol TransferControl: Sendable {
    func setSuspended(_ isSuspended: Bool)
    func setPriority(_ priority: Priority, of id: UInt64)
    func cancel(_ id: UInt64)
    func pause(_ id: UInt64)
    func resume(_ id: UInt64)
    func transfers() -> [TransferInfo]
    func setTrust(_ policy: TrustPolicy) throws(NetError)
    func cookies() async throws(NetError) -> [Cookie]
    /// Returns the current jar, to compare the cookies that distinguish users.
    func jarCookies() throws(NetError) -> any JarCookies
    func setCookies(_ cookies: [Cookie]) throws(NetError)
    func clearCookies() throws(NetError)
}

/// A snapshot of a jar's cookies. Values are bytes: they need not be UTF-8.
protocol JarCookies: Sendable {
    /// Returns the cookies that any of these hosts may receive, sorted, as bytes.
    func shown(to hosts: Set<String>) throws(NetError) -> [[UInt8]]
}
