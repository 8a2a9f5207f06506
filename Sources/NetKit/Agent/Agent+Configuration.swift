extension Agent {
    /// How an agent sends: a value; change it before the agent is made.
    public struct Configuration: Sendable {
        /// Where relative URLs begin; its path counts as a folder.
        public var baseURL: String?
        /// Fields for every request that does not set them itself.
        public var headers: Headers
        /// Limits of requests that bring none.
        public var limits = Limits()
        /// Limits of streams and saves that bring none, and the total time of requests with a body that is read while
        /// it is sent.
        public var streamLimits = Limits.streaming
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
        /// Through whom requests go that do not say; nil: directly, whatever the environment says.
        public var proxy: Proxy?
        /// The cookie jar (RFC 6265).
        public var cookies = Retention.off
        /// Names and passwords for requests without credentials.
        public var netrc = NetrcChoice.off
        /// Whether Strict-Transport-Security (RFC 6797) is followed and remembered.
        public var hsts = Retention.off
        /// Whether Alt-Svc (RFC 7838) is followed and remembered.
        public var altSvc = Retention.off
        /// The URL of a DNS-over-HTTPS server (RFC 8484); nil asks the system.
        public var dnsOverHTTPS: String?
        /// Body bytes that all requests send a second; nil is no limit.
        public var maxSendBytesPerSecond: Int?
        /// Body bytes that all requests receive a second; nil is no limit.
        public var maxReceiveBytesPerSecond: Int?
        /// Asked for credentials when a server or a proxy wants some and the request has none, or wrong ones; at most
        /// three times for a request. Not asked when the body cannot be sent again, or when another origin than the
        /// request's refused it after a redirect.
        public var challengeHandler: (@Sendable (Challenge) async -> ChallengeAnswer)?

        /// The defaults, with a base URL and common fields if you like.
        public init(baseURL: String? = nil, headers: Headers = [:]) {
            self.baseURL = baseURL
            self.headers = headers
        }

        var engineOptions: Engine.Options {
            func number(_ value: Int) -> UInt32 { UInt32(clamping: max(1, value)) }
            return Engine.Options(
                maxInFlight: number(maxInFlight), maxPerHost: number(maxPerHost), maxStreams: number(maxStreams),
                maxIdleConnections: number(maxIdleConnections), maxWaiting: number(maxWaiting), trust: trust,
                proxy: proxy, cookies: cookies, netrc: netrc, hsts: hsts, altSvc: altSvc, dnsOverHTTPS: dnsOverHTTPS,
                maxSendBytesPerSecond: maxSendBytesPerSecond, maxReceiveBytesPerSecond: maxReceiveBytesPerSecond)
        }
    }
}
