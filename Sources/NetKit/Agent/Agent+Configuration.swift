extension Agent {
    /// The settings of an agent. Change them before the agent is created: it keeps a copy.
    public struct Configuration: Sendable {
        /// The base of relative URLs; its path is treated as a directory.
        public var baseURL: String?
        /// Whether a request's path that begins with "/" is appended to the base URL's path. Otherwise it replaces that
        /// path (RFC 3986, 5.2).
        public var keepsBasePath = false
        /// The base of relative URLs for requests that use a CDN. If `nil` or empty, the base URL applies.
        public var cdnURL: String?
        /// Further origins that receive what the agent adds to its requests, as URLs such as
        /// "https://images.example.com". Their paths are ignored.
        ///
        /// With a base URL, the agent's additions go only to:
        /// - the origins of ``baseURL`` and ``cdnURL``
        /// - the origins that a request or its service names as a base or a CDN
        /// - these origins
        ///
        /// The additions are ``headers``, ``parameters``, ``computedHeaders``, ``computedParameters``,
        /// ``OriginBoundInterceptor``s, the responses of ``challengeHandler`` and the client certificate of ``trust``.
        ///
        /// A request whose own URL has another origin, such as "//other/x" or "http://other/x", gets none of them. It
        /// gets only fields that do not identify the sender, such as User-Agent and Accept. The request's own fields
        /// and parameters go where its URL points. Without a base URL, the additions go to every origin. A redirect to
        /// another origin drops all of them, even if that origin is listed here.
        public var trustedOrigins: [String] = []
        /// Filters that change URLs before they are joined to a base, in order. An absolute URL skips the filters that
        /// do not ask for absolute URLs.
        public var urlFilters: [URLFilter] = []
        /// Fields for every request that does not set them itself.
        public var headers: Headers
        /// Computes further fields for each call. They override ``headers``, and the request's own fields override
        /// them.
        ///
        /// An error thrown here ends the call: a ``NetError`` unchanged, any other error as
        /// ``NetError/Code/badParameter``.
        public var computedHeaders: (@Sendable (Request<Bytes>) async throws -> Headers)?
        /// Parameters for every request: an object. A request's own parameters of the same names override them.
        ///
        /// They are sent where the request's own parameters are sent. If those are not an object, or if the request has
        /// a body of its own, they go into the URL.
        public var parameters: Parameters?
        /// Computes further parameters for each call. They override ``parameters``. An error thrown here ends the call,
        /// as with ``computedHeaders``.
        public var computedParameters: (@Sendable (Request<Bytes>) async throws -> Parameters?)?
        /// The User-Agent of requests that set none; `nil` sends none. See ``userAgent(product:version:)``.
        public var userAgent: String? = Configuration.defaultUserAgent
        /// The preferred languages of responses, most preferred first, such as "de-CH". At most six are sent, as
        /// Accept-Language. Empty by default; ``languages(from:)`` returns those of the environment.
        public var languages: [String] = []
        /// The limits of requests that set none.
        public var limits = Limits()
        /// The limits of streams and saves that set none. The total time also applies to requests whose body is read
        /// while it is sent.
        public var streamLimits = Limits.streaming
        /// The redirect policy of requests that set none.
        public var redirects = RedirectPolicy.follow
        /// The TLS trust policy of requests that set none.
        public var trust = TrustPolicy()
        /// Whether every request and redirect over plain http is refused.
        public var refusesPlaintext = false
        /// The largest number of requests in flight (256).
        public var maxInFlight = 256
        /// The largest number of HTTP/1.1 connections to one host (6). Over TLS, streams and large uploads have as many
        /// more: their connections are exclusive, with every protocol.
        public var maxPerHost = 6
        /// The largest number of streams on one HTTP/2 connection (100).
        public var maxStreams = 100
        /// The largest number of open connections, including those in use (256); never fewer than the requests in
        /// flight. Above that number the oldest idle connection is closed.
        public var maxIdleConnections = 256
        /// The largest number of requests that wait for a slot (100,000); one more fails.
        public var maxWaiting = 100_000
        /// The proxy of requests that set none. If `nil`, they connect directly and ignore the environment.
        public var proxy: Proxy?
        /// The cookie jar (RFC 6265).
        public var cookies = Retention.off
        /// Whether requests without credentials use a netrc file.
        public var netrc = NetrcChoice.off
        /// Whether Strict-Transport-Security (RFC 6797) is followed and remembered.
        public var hsts = Retention.off
        /// Whether Alt-Svc (RFC 7838) is followed and remembered. The origin is used instead for five minutes if the
        /// alternative service:
        /// - does not connect within half of ``Limits/connect``
        /// - has a certificate that is not valid for the origin
        public var altSvc = Retention.off
        /// The URL of a DNS-over-HTTPS server (RFC 8484). If `nil`, the system resolves names.
        public var dnsOverHTTPS: String?
        /// The address family of connections to servers and proxies. A host without such an address causes an error.
        public var addressFamily = AddressFamily.any
        /// The largest number of body bytes that all requests together send per second. If `nil`, there is no limit.
        public var maxSendBytesPerSecond: Int?
        /// The largest number of body bytes that all requests together receive per second. If `nil`, there is no limit.
        public var maxReceiveBytesPerSecond: Int?
        /// Supplies credentials when a server or a proxy requires them and the request has none, or wrong ones. It is
        /// called at most three times for a request. It is not called:
        /// - if the body cannot be sent again
        /// - if, after a redirect, the challenge comes from another origin than the request's
        ///
        /// The challenged request is sent again, without the redirects that led to it. The time until the handler
        /// returns counts towards ``Limits/total``; at the end of that time its task is cancelled.
        public var challengeHandler: (@Sendable (Challenge) async -> ChallengeAnswer)?
        /// The credentials to send if the handler leaves the choice to the agent, or if there is no handler.
        public var credentialStore: CredentialStore?
        /// Callbacks for decisions of the app during calls.
        public var transferHooks = TransferHooks()
        /// Decides first where a download is stored. If `nil`, the request's own destination applies.
        public var downloadDestination: DownloadDestination?
        /// The app's version, such as "1.4.2". A response that one version stored by a ``CachePolicy`` is not used by
        /// another.
        public var appVersion = ""
        /// The interceptors that wrap every call, outermost first.
        public var interceptors: [any Interceptor] = []
        /// Whether requests may use a cellular connection. A single request can refuse it: see
        /// ``Request/allowsCellular``.
        public var allowsCellular = true
        /// Reports how hosts are reached, for requests that need it. If `nil`, the agent creates one when it is needed.
        public var reachability: Reachability?
        /// The service class of requests that set none. If `nil`, packets have the default class.
        public var serviceClass: ServiceClass?
        /// The observers of every call.
        public var observers: [any Observer] = []

        /// Creates the default configuration, with a base URL and common fields if given.
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
