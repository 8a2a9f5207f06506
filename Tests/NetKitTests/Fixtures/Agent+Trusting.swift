import NetKit

extension TrustPolicy {
    /// Creates a policy that trusts only a server's own authority.
    init(authorityOf server: LoopbackServer) {
        self.init(roots: .pem(server.authority))
    }
}

extension Agent {
    /// Creates an agent that trusts only a server's own authority.
    convenience init(trusting server: LoopbackServer) {
        var configuration = Configuration()
        configuration.trust = TrustPolicy(authorityOf: server)
        self.init(configuration)
    }
}
