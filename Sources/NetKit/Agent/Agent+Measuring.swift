extension Agent {
    /// What a benchmark measures the agent against: its transport, without anything in front.
    @_spi(Measuring)
    public var bareTransport: any Transport { transport }

    /// An agent whose engine tells of each point that it passes, for tests that strike at every one of them; what it
    /// tells may cancel, and nothing else.
    package convenience init(_ configuration: Configuration = Configuration(), passed: @escaping @Sendable () -> Void) {
        self.init(configuration, transport: EngineTransport(configuration.engineOptions, passed: passed))
    }
}
