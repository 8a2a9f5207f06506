/// What an agent can do to what is under way; transports without a queue and a jar of their own have none.
protocol TransferControl: Sendable {
    func setSuspended(_ isSuspended: Bool)
    func setPriority(_ priority: Priority, of id: UInt64)
    func cancel(_ id: UInt64)
    func pause(_ id: UInt64)
    func resume(_ id: UInt64)
    func transfers() -> [TransferInfo]
    func setTrust(_ policy: TrustPolicy) throws(NetError)
    func cookies() async throws(NetError) -> [Cookie]
    /// The jar as it is now, for comparing what users are told apart by.
    func jarCookies() throws(NetError) -> any JarCookies
    func setCookies(_ cookies: [Cookie]) throws(NetError)
    func clearCookies() throws(NetError)
}

/// The cookies of a jar at one moment. Values are bytes: they need not be UTF-8.
protocol JarCookies: Sendable {
    /// The cookies that any of these hosts may get, sorted, as bytes that tell users apart.
    func shown(to hosts: Set<String>) throws(NetError) -> [[UInt8]]
}
