import NetKit

extension TrustPolicy {
    /// Believes a server's own authority and nobody else.
    init(authorityOf server: LoopbackServer) {
        self.init(roots: .pem(server.authority))
    }
}

extension Agent {
    /// An agent that believes a server's own authority and nobody else.
    convenience init(trusting server: LoopbackServer) {
        var configuration = Configuration()
        configuration.trust = TrustPolicy(authorityOf: server)
        self.init(configuration)
    }
}
