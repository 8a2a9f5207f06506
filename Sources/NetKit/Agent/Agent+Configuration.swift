extension Agent {
    /// How an agent sends: a value; change it before the agent is made.
    public struct Configuration: Sendable {
        /// Where relative URLs begin; its path counts as a folder.
        public var baseURL: String?
        /// Whether a request's path that begins with "/" goes on from the base URL's path; otherwise it takes its place
        /// (RFC 3986, 5.2).
        public var keepsBasePath = false
        /// Where URLs of requests begin that ask for a CDN; nil or empty is the base URL.
        public var cdnURL: String?
        /// Further origins that get what the agent adds to its requests, as URLs such as "https://images.example.com";
        /// a path in them does not count.
        ///
        /// With a base URL the agent's ``headers``, ``parameters``, ``computedHeaders`` and ``computedParameters`` go to
        /// the origins of ``baseURL`` and ``cdnURL`` alone, to those that a request or its service names as a base or a
        /// CDN, and to these; so do ``OriginBoundInterceptor``s, the answers of ``challengeHandler`` and the client
        /// certificate of ``trust``. A request whose own URL leads elsewhere, such as "//other/x" or "http://other/x",
        /// gets none of it: only fields that name no sender, such as User-Agent and Accept. What a request says itself
        /// goes where its URL leads. Without a base URL everything goes everywhere. A redirect to another origin drops
        /// all of it, whatever is named here.
        public var trustedOrigins: [String] = []
        /// What becomes of URLs before they are joined to a base, in order; absolute ones pass where a filter does not
        /// ask for them.
        public var urlFilters: [URLFilter] = []
        /// Fields for every request that does not set them itself.
        public var headers: Headers
        /// Computes more of them for each start; they win over ``headers``, and the request's own over them.
        ///
        /// What it throws ends the start: a ``NetError`` as it is, anything else under ``NetError/Code/badParameter``.
        public var computedHeaders: (@Sendable (Request<Bytes>) async throws -> Headers)?
        /// Parameters for every request, an object; a request's own of the same names win.
        ///
        /// They go where the request's own go; where those are no object, or the request has a body of its own, into
        /// the URL.
        public var parameters: Parameters?
        /// Computes more of them for each start; they win over ``parameters``. What it throws ends the start, as with
        /// ``computedHeaders``.
        public var computedParameters: (@Sendable (Request<Bytes>) async throws -> Parameters?)?
        /// The User-Agent of requests that name none; nil sends none. See ``userAgent(product:version:)``.
        public var userAgent: String? = Configuration.defaultUserAgent
        /// The languages that responses should be in, the preferred one first, such as "de-CH"; at most six are sent, as
        /// Accept-Language. None by default: see ``languages(from:)`` for those of the environment.
        public var languages: [String] = []
        /// Limits of requests that bring none.
        public var limits = Limits()
        /// Limits of streams and saves that bring none, and the total time of requests with a body that is read while
        /// it is sent.
        public var streamLimits = Limits.streaming
        /// What becomes of redirects, where a request does not say.
        public var redirects = RedirectPolicy.follow
        /// Whom TLS believes, where a request does not say.
        public var trust = TrustPolicy()
        /// True refuses every request and redirect over plain http.
        public var refusesPlaintext = false
        /// Requests under way at once (256).
        public var maxInFlight = 256
        /// Connections to one host over HTTP/1.1 (6). Over TLS, streams and large uploads have as many of their own:
        /// theirs are shared with nobody, whatever the protocol turns out to be.
        public var maxPerHost = 6
        /// Streams on one HTTP/2 connection (100).
        public var maxStreams = 100
        /// Connections kept for later requests (256), those in use included; never fewer than requests are in flight.
        /// The oldest idle one is closed when one comes back beyond that.
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
        /// Whether Alt-Svc (RFC 7838) is followed and remembered. A place that does not prove to be the origin, or cannot
        /// be connected to in half of ``Limits/connect``, is left for five minutes and the origin asked.
        public var altSvc = Retention.off
        /// The URL of a DNS-over-HTTPS server (RFC 8484); nil asks the system.
        public var dnsOverHTTPS: String?
        /// The addresses at which servers and proxies are connected to; where a host has none of them, the error says so.
        public var addressFamily = AddressFamily.any
        /// Body bytes that all requests send a second; nil is no limit.
        public var maxSendBytesPerSecond: Int?
        /// Body bytes that all requests receive a second; nil is no limit.
        public var maxReceiveBytesPerSecond: Int?
        /// Asked for credentials when a server or a proxy wants some and the request has none, or wrong ones; at most
        /// three times for a request. Not asked when the body cannot be sent again, or when another origin than the
        /// request's refused it after a redirect. What was challenged is sent again, and not the redirects that led to
        /// it. The time that the answer takes counts for ``Limits/total``; its task is cancelled at the end of that.
        public var challengeHandler: (@Sendable (Challenge) async -> ChallengeAnswer)?
        /// What is shown when the handler leaves it to the agent, or there is none.
        public var credentialStore: CredentialStore?
        /// What the app decides while calls are under way.
        public var transferHooks = TransferHooks()
        /// Asked first where a download goes; nil leaves it to the request's own destination.
        public var downloadDestination: DownloadDestination?
        /// The app's version, such as "1.4.2": what one version stored by ``CachePolicy`` is not used by another.
        public var appVersion = ""
        /// What wraps every call, the outermost first.
        public var interceptors: [any Interceptor] = []
        /// Whether requests may go over a modem; a request can refuse it alone. See ``Request/allowsCellular``.
        public var allowsCellular = true
        /// What tells how hosts are reached, for requests to which that matters; nil makes one when one is needed.
        public var reachability: Reachability?
        /// How packets are to be treated on their way, where a request does not say; nil says nothing.
        public var serviceClass: ServiceClass?
        /// Who watches every call.
        public var observers: [any Observer] = []

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
                refusesPlaintext: refusesPlaintext, proxy: proxy, cookies: cookies, netrc: netrc, hsts: hsts,
                altSvc: altSvc, dnsOverHTTPS: dnsOverHTTPS, addressFamily: addressFamily,
                maxSendBytesPerSecond: maxSendBytesPerSecond, maxReceiveBytesPerSecond: maxReceiveBytesPerSecond)
        }
    }
}
