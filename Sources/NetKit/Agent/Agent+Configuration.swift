extension Agent {
    /// The settings of an agent. Change them before the agent is created: it keeps a copy.
    public struct Configuration: Sendable {
        /// The base of relative URLs; its path is treated as a directory.
        public var baseURL: String?
        /// Whether a request's path that begins with "/" is appended to the base URL's path. Otherwise it replaces that
        /// path (RFC 3986, 5.2).
        public var keepsBasePath = false
        /// Further origins that receive the agent's additions to requests, as URLs such as
        /// "https://images.example.com". The paths of these URLs are ignored.
        ///
        /// With a base URL, the agent's additions go only to:
        /// - the origin of ``baseURL``
        /// - the origins of the base URLs that a request or its service sets
        /// - these origins
        ///
        /// The additions are ``headers``, ``parameters``, ``computedHeaders``, ``computedParameters``,
        /// ``OriginBoundInterceptor``s, the responses of the hook `challenge` of ``TransferHooks`` and the client
        /// certificate of ``trust``.
        ///
        /// If the URL of a request has another origin, such as "//other/x" or "http://other/x", the request does not
        /// get these additions. It gets only fields that do not identify the sender, such as User-Agent and Accept. The
        /// request's own fields and parameters are always sent. Without a base URL, the additions go to every origin.
        ///
        /// A redirect to another origin removes all additions, even if that origin is listed here.
        public var trustedOrigins: [String] = []
        /// Header fields for every request that does not set them itself.
        public var headers: Headers
        /// Computes further fields for each call. They override ``headers``, and the request's own fields override
        /// them.
        ///
        /// If the closure throws, the call ends with that error. An error that is not a ``NetError`` becomes
        /// ``NetError/Code/badParameter``.
        public var computedHeaders: (@Sendable (Request<Bytes>) async throws -> Headers)?
        /// Parameters for every request: an object. A request's own parameters of the same names override them.
        ///
        /// They are sent in the same part of the request as its own parameters: the URL or the body. If the request's
        /// own parameters are not an object, or if the request has a body of its own, they go into the URL.
        public var parameters: Parameters?
        /// The credentials of requests that set none. They go to the same origins as ``headers``; see
        /// ``trustedOrigins``. A request with its own Authorization field does not get them. If they are
        /// ``Credentials/inherited``, those of ``netrc`` apply.
        public var credentials = Credentials.inherited
        /// How JSON is written and read. A service and a request can override it.
        public var json = JSONCoding()
        /// Computes further parameters for each call. They override ``parameters``. If the closure throws, the call
        /// ends, as with ``computedHeaders``.
        public var computedParameters: (@Sendable (Request<Bytes>) async throws -> Parameters?)?
        /// The User-Agent of requests that set none. If `nil`, no User-Agent is sent. See
        /// ``userAgent(product:version:)``.
        public var userAgent: String? = Configuration.defaultUserAgent
        /// The preferred languages of responses, most preferred first, such as "de-CH". At most six are sent, as
        /// Accept-Language. Empty by default; `languages(from:)` returns those of the environment.
        public var languages: [String] = []
        /// The limits of requests that set none.
        public var limits = Limits()
        /// The limits of streams and saves that set none. Its total time also applies to requests whose body is read
        /// while it is sent.
        public var streamLimits = Limits.streaming
        /// The redirect policy of requests that set none.
        public var redirects = RedirectPolicy.follow
        /// The accepted statuses of requests that set none.
        ///
        ///     configuration.acceptedStatuses = .any       // no status is an error
        public var acceptedStatuses: StatusSet = 200..<300
        /// The TLS trust policy of requests that set none.
        public var trust = TrustPolicy()
        /// Whether every request and redirect over plain http is refused.
        public var refusesPlaintext = false
        /// The largest number of requests in flight (256).
        public var maxInFlight = 256
        /// The largest number of HTTP/1.1 connections to one host (6).
        ///
        /// Over TLS, streams and large uploads use exclusive connections with every protocol. The same number of
        /// connections is allowed for them in addition.
        public var maxConnectionsPerHost = 6
        /// The largest number of streams on one HTTP/2 connection (100).
        public var maxStreams = 100
        /// The largest number of open connections, including those in use (256). Above it, the oldest idle connection
        /// is closed. If more requests are in flight, as many connections as requests may be open.
        public var maxIdleConnections = 256
        /// The largest number of requests that wait for a free connection or stream (100,000). Further requests fail.
        public var maxWaiting = 100_000
        /// The proxy of requests that set none. If `nil`, they connect directly and ignore the environment.
        public var proxy: Proxy?
        /// The path of a Unix socket to connect to, for requests that set none. It is used only for the origins that
        /// get the agent's additions (``trustedOrigins``), and not after a cross-origin redirect.
        ///
        ///     configuration.baseURL = "http://localhost/v1.43"
        ///     configuration.unixSocket = "/var/run/docker.sock"
        public var unixSocket: String?
        /// The cookie jar (RFC 6265).
        public var cookies = StatePersistence.off
        /// Whether requests without credentials use a netrc file.
        public var netrc = NetrcSource.off
        /// Whether Strict-Transport-Security (RFC 6797) is followed and remembered.
        public var hsts = StatePersistence.off
        /// Whether Alt-Svc (RFC 7838) is followed and remembered. If an alternative service does not connect within
        /// half of ``Limits/connect``, or has no valid certificate for the origin, the origin is used for five minutes.
        public var altSvc = StatePersistence.off
        /// The URL of a DNS-over-HTTPS server (RFC 8484). If `nil`, the system resolves names.
        public var dnsOverHTTPS: String?
        /// The address family of connections to servers and proxies. A request to a host that has no such address
        /// fails.
        public var addressFamily = AddressFamily.any
        /// The HTTP version of requests whose policy is ``HTTPVersionPolicy/automatic``, and of their redirects and
        /// retries. WebSockets use HTTP/1.1.
        public var httpVersionPolicy = HTTPVersionPolicy.automatic
        /// The largest number of body bytes that all requests together send per second. If `nil`, there is no limit.
        public var maxSendBytesPerSecond: Int?
        /// The largest number of body bytes that all requests together receive per second. If `nil`, there is no limit.
        public var maxReceiveBytesPerSecond: Int?
        /// The store of the credentials to send if the hook `challenge` of ``TransferHooks`` returns
        /// ``ChallengeAction/useDefault``, or if there is no such hook.
        public var credentialStore: CredentialStore?
        /// Chooses where downloads are stored, before the destination closure of a download is called. If it is or
        /// returns `nil`, the download's own destination applies.
        public var downloadDestination: DownloadDestination?
        /// The app's version, such as "1.4.2". A response that one version of the app stored with a ``CachePolicy`` is
        /// not used by another version.
        public var appVersion = ""
        /// The interceptors that wrap every call, outermost first. ``TransferHooks`` is an interceptor of closures.
        public var interceptors: [any Interceptor] = []
        /// The service class of requests that set none. If `nil`, packets have the default class.
        public var serviceClass: ServiceClass?
        /// The observers of every call.
        public var observers: [any Observer] = []

        /// Creates the default configuration with a base URL and common header fields.
        public init(baseURL: (some URLConvertible)? = String?.none, headers: Headers = [:]) {
            self.baseURL = baseURL?._urlText
            self.headers = headers
        }

        /// The total time of a call (``Limits/total``), for requests that set none. Streams and saves have their own
        /// limit in ``streamLimits``.
        public var timeout: Duration? {
            get { limits.total }
            set { limits.total = newValue }
        }

        var engineOptions: Engine.Options {
            func number(_ value: Int) -> UInt32 { UInt32(clamping: max(1, value)) }
            return Engine.Options(
                maxInFlight: number(maxInFlight), maxConnectionsPerHost: number(maxConnectionsPerHost),
                maxStreams: number(maxStreams),
                maxIdleConnections: number(maxIdleConnections), maxWaiting: number(maxWaiting), trust: trust,
                refusesPlaintext: refusesPlaintext, proxy: proxy, cookies: cookies, netrc: netrc, hsts: hsts,
                altSvc: altSvc, dnsOverHTTPS: dnsOverHTTPS, addressFamily: addressFamily,
                httpVersionPolicy: httpVersionPolicy,
                maxSendBytesPerSecond: maxSendBytesPerSecond, maxReceiveBytesPerSecond: maxReceiveBytesPerSecond)
        }
    }
}

extension Agent.Configuration: ParametersHolder {}

extension Agent.Configuration {
    /// Returns the URL of `path` for an agent with this configuration. If there is no base URL, returns `path`
    /// unchanged.
    ///
    /// A space, a character that is not ASCII, and a "%" without two hex digits after it are percent-encoded. Existing
    /// percent-encoding stays. If `path` is a URL with a host, it is not joined to the base URL.
    ///
    /// - Throws: ``NetError/Code/badURL`` if the result would not be a valid URL.
    package func url(for path: String) throws(NetError) -> String {
        guard let baseURL else { return path }
        return try joinURL(path, to: baseURL, keepsBasePath: keepsBasePath)
    }

    /// "NetKit/", its version, and the platform.
    package static var defaultUserAgent: String {
        userAgent(product: "NetKit", version: LibraryVersion.text)
    }

    /// Returns a User-Agent (RFC 9110, 10.1.5): "product/version (platform)", such as "Cities/1.2 (Linux; x86_64)".
    ///
    /// Characters that are not allowed in a product or a version become "-".
    public static func userAgent(product: String, version: String) -> String {
        "\(token(product))/\(token(version)) (\(platform))"
    }

    private static func token(_ text: String) -> String {
        let allowed = Set("!#$%&'*+-.^_`|~".utf8)
        let token = text.unicodeScalars.map { scalar -> Character in
            let isAllowed =
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9": true
                default: scalar.isASCII && allowed.contains(UInt8(scalar.value))
                }
            return isAllowed ? Character(scalar) : "-"
        }
        return token.isEmpty ? "-" : String(token)
    }

    private static var platform: String {
        #if os(macOS)
        let system = "macOS"
        #elseif os(Linux)
        let system = "Linux"
        #else
        let system = "Unix"
        #endif
        #if arch(x86_64)
        return system + "; x86_64"
        #elseif arch(arm64)
        return system + "; arm64"
        #else
        return system
        #endif
    }

    /// Returns the preferred languages of these environment variables, most preferred first.
    ///
    /// The locale is the first of LC_ALL, LC_MESSAGES and LANG that is set. If it is "C" or "POSIX", the result is
    /// empty. If LANGUAGE is set, its list is the result; otherwise the result is the language of the locale.
    ///
    /// NetKit never reads the environment by itself. To use it, write
    /// `configuration.languages = .languages(from: environment)`.
    public static func languages(from environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        guard let preferred = tag(locale) else { return [] }
        let listed = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        var languages: [String] = []
        for language in listed.isEmpty ? [preferred] : listed where !languages.contains(language) {
            languages.append(language)
        }
        return languages
    }

    /// Returns the language tag of a locale: "de-CH" for "de_CH.UTF-8@euro", and `nil` for "C" and "POSIX".
    private static func tag(_ locale: String) -> String? {
        let name = String(locale.prefix { $0 != "." && $0 != "@" })
        guard name != "C", name != "POSIX", !name.isEmpty else { return nil }
        let tag = String(name.map { $0 == "_" ? "-" : $0 })
        return isLanguageTag(tag) ? tag : nil
    }

    /// Returns true if the tag consists of groups of at most eight letters and digits (RFC 5646, 2.1). Such a tag is
    /// safe in a header field.
    private static func isLanguageTag(_ tag: String) -> Bool {
        tag == "*"
            || tag.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { group in
                (1...8).contains(group.utf8.count)
                    && group.utf8.allSatisfy {
                        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    }
            }
    }

    /// The value of Accept-Language: the first six languages, each with a weight one tenth below the previous one.
    private var acceptLanguage: String? {
        let weights = ["1", "0.9", "0.8", "0.7", "0.6", "0.5"]
        let weighed = zip(languages.filter(Self.isLanguageTag), weights).map { "\($0);q=\($1)" }
        return weighed.isEmpty ? nil : weighed.joined(separator: ", ")
    }

    /// The fields that the agent adds to requests that do not set them: ``headers``, Accept-Language and User-Agent.
    var defaultHeaders: Headers {
        var others = Headers()
        if let acceptLanguage {
            others.append(name: "Accept-Language", value: acceptLanguage)
        }
        if let userAgent {
            others.append(name: "User-Agent", value: userAgent)
        }
        return headers.filled(from: others)
    }
}

extension Agent.Configuration: SecretHolding {
    /// The base URL, up to its query and without credentials.
    public var description: String { "Agent.Configuration(baseURL: \(shownBase ?? "nil"))" }

    private var shownBase: String? { baseURL?.displayedLocation.debugDescription }
}
