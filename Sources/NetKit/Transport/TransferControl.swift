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
    /// The jar's cookies as lines of the Netscape format, in bytes.
    func cookieLines() async throws(NetError) -> [UInt8]
    func setCookies(_ cookies: [Cookie]) throws(NetError)
    func clearCookies() throws(NetError)
}
