extension Service {
    /// The common settings of a service's requests. A service copies its configuration, so later changes have no
    /// effect.
    public struct Configuration: Sendable {
        /// The base of relative URLs in each environment. Its path is treated as a directory.
        ///
        /// If the dictionary is empty, the agent's base URL applies. If it has entries, but none for the current
        /// environment, a request with a relative URL fails with ``NetError/Code/usage``.
        public var baseURLs: [Environment: String]
        /// Origins that receive the service's fields, parameters and signatures, and to which its
        /// ``OriginBoundInterceptor``s apply, in addition to the origin of its base URL; see
        /// ``Agent/Configuration/trustedOrigins``.
        public var trustedOrigins: [String] = []
        /// The initial environment.
        public var environment = Environment.release
        /// The version of the service's API, such as "v1". It is inserted as a directory between the base URL and the
        /// path. If empty, nothing is inserted.
        public var version = ""

        /// Fields for requests that do not set them. They override the agent's fields.
        public var headers: Headers = [:]
        /// If not `nil`, these fields replace the requests' own fields and the agent's. The fields of the body and of
        /// interceptors are still added.
        public var replacingHeaders: Headers?
        /// Computes additional fields for each call. They override ``headers``.
        public var computedHeaders: (@Sendable (Request<Bytes>) async throws -> Headers)?
        /// Parameters that are added to the service's requests. They must be an object. A request's own parameters with
        /// the same names override them.
        public var parameters: Parameters?
        /// Computes additional parameters for each call. They override ``parameters``.
        public var computedParameters: (@Sendable (Request<Bytes>) async throws -> Parameters?)?
        /// Changes the parameters after all interceptors. Therefore the changes are not validated, and they affect
        /// neither cache keys nor the detection of duplicate requests.
        ///
        /// An error thrown here ends the call. A ``NetError`` is thrown unchanged; any other error becomes
        /// ``NetError/Code/badParameter``.
        public var adjustParameters: (@Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?)?

        /// The credentials of requests that set none. They go to the same origins as ``headers``, and override the
        /// agent's.
        public var credentials = Credentials.inherited
        /// The TLS trust policy of requests that set none. If `nil`, the agent's applies.
        public var trust: TrustPolicy?
        /// The redirect policy of requests that set none.
        public var redirects = RedirectPolicy.inherited
        /// The accepted statuses of requests that set none. If ``StatusSet/automatic``, those of the agent apply.
        public var acceptedStatuses: StatusSet = .automatic
        /// The cache rules of requests that set none. Without ``CachePolicy/methods``, they apply to GET and HEAD.
        public var caching = CacheRules.inherited
        /// The action for a request that sets none while a duplicate of it is in flight.
        public var duplicates = DuplicatePolicy.inherited
        /// The retries of requests that set none.
        public var retries = RetryPolicy.inherited
        /// How JSON is written and read. If `nil`, the agent's setting applies.
        public var json: JSONCoding?

        /// Limits for requests that do not set them. Those that are not set here are the agent's. The limits of total
        /// time and body size of streams and saves are always the agent's.
        public var limits = Limits()
        /// The interceptors of the service's calls, outermost first. They run after the agent's interceptors and before
        /// those of the request.
        public var interceptors: [any Interceptor] = []
        /// The interceptors that sign requests, such as `RequestSigning` of the product `NetKitCompat`. They run after
        /// all other interceptors.
        public var signing: [any Interceptor] = []
        /// Checks each complete response, whatever its status. An error thrown here ends the call. A ``NetError`` is
        /// thrown unchanged; any other error becomes ``NetError/Code/invalidValue``.
        public var judge: (@Sendable (Response<Bytes>) async throws -> Void)?
        /// Replaces the error of a failed call before it is reported. It is not called for ``NetError/Code/cancelled``
        /// and ``NetError/Code/stoppedByCaller``.
        public var mapError: (@Sendable (NetError) -> NetError)?
        /// The largest number of the service's calls in flight, at least 1. If `nil`, only the agent's limit applies.
        ///
        /// Further calls wait, highest priority first, for at most ``Limits/slot``. A streamed response is in flight
        /// until its body has ended.
        public var maxInFlight: Int?
        /// The source of time.
        package var time = TimeSource.system
        var options = OptionValues()

        /// Creates the configuration of a service with a base URL for each environment.
        public init(baseURLs: [Environment: some URLConvertible] = [Environment: String]()) {
            self.baseURLs = baseURLs.mapValues(\._urlText)
        }

        /// Creates the configuration of a service with a base URL in the environment ``Environment/release``.
        public init(baseURL: some URLConvertible) {
            self.init(baseURLs: [.release: baseURL])
        }

        /// The total time of a call (``Limits/total``), for requests that set none.
        public var timeout: Duration? {
            get { limits.total }
            set { limits.total = newValue }
        }

        /// The value of an option for requests that do not set it. If `nil`, the option's own default applies.
        public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value? {
            get { options[option] }
            set { options[option] = newValue }
        }
    }
}

extension Service.Configuration: ParametersHolder {}

/// The name of an environment that a service runs in, such as production or a test system.
///
///     static let staging: Environment = "staging"
public struct Environment: TextConstant, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Creates the environment with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// For development.
    public static let develop: Environment = "develop"
    /// For tests before a release.
    public static let releaseCandidate: Environment = "release candidate"
    /// For production.
    public static let release: Environment = "release"
}
