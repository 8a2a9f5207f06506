extension Agent {
    /// How an agent sends: a value; change it before the agent is made.
    public struct Configuration: Sendable {
        /// Where relative URLs begin; its path counts as a folder.
        public var baseURL: String?
        /// Fields for every request that does not set them itself.
        public var headers: Headers
        /// Limits of requests that bring none.
        public var limits = Limits()
        /// What becomes of redirects, where a request does not say.
        public var redirects = RedirectPolicy.follow
        /// Whom TLS believes, where a request does not say.
        public var trust = TrustPolicy()
        /// Requests under way at once (256).
        public var maxInFlight = 256
        /// Connections to one host over HTTP/1.1 (6).
        public var maxPerHost = 6
        /// Streams on one HTTP/2 connection (100).
        public var maxStreams = 100
        /// Idle connections kept (256).
        public var maxIdleConnections = 256
        /// Requests that wait for a slot (100,000); one more fails.
        public var maxWaiting = 100_000

        /// The defaults, with a base URL and common fields if you like.
        public init(baseURL: String? = nil, headers: Headers = [:]) {
            self.baseURL = baseURL
            self.headers = headers
        }

        var engineOptions: Engine.Options {
            func number(_ value: Int) -> UInt32 { UInt32(clamping: max(1, value)) }
            return Engine.Options(
                maxInFlight: number(maxInFlight), maxPerHost: number(maxPerHost), maxStreams: number(maxStreams),
                maxIdleConnections: number(maxIdleConnections), maxWaiting: number(maxWaiting), trust: trust)
        }
    }
}
