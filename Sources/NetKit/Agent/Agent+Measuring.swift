extension Agent {
    /// The transport without interceptors, as the baseline of benchmarks.
    @_spi(Measuring)
    public var bareTransport: any Transport { transport }

    /// Creates an agent whose engine reports each of its trace points, for tests that interfere at every one. The
    /// closure may cancel, and nothing else.
    package convenience init(_ configuration: Configuration = Configuration(), passed: @escaping @Sendable () -> Void) {
        self.init(configuration, transport: EngineTransport(configuration.engineOptions, passed: passed))
    }
}
