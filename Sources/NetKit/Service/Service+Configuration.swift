extension Service {
    /// The common settings of a service's requests. Change them before the service is created: it keeps a copy.
    public struct Configuration: Sendable {
        /// The base of relative URLs in each environment; its path is treated as a directory. If empty, the agent's
        /// base URL applies. Otherwise a relative request in an environment without an entry fails with
        /// ``NetError/Code/usage``.
        public var baseURLs: [Environment: String]
        /// The base for requests that use a CDN, in each environment. Without an entry they use the base URL.
        public var cdnURLs: [Environment: String] = [:]
        /// Further origins that receive the service's additions: fields, parameters, signatures and
        /// ``OriginBoundInterceptor``s. Without them only the origins of its base and CDN do; see
        /// ``Agent/Configuration/trustedOrigins``.
        public var trustedOrigins: [String] = []
        /// The initial environment.
        public var environment = Environment.release
        /// The version of the interface, inserted as a directory between base and path, such as "v1"; empty inserts
        /// nothing.
        public var version = ""

        /// Fields for requests that do not set them; they override the agent's.
        public var headers: Headers = [:]
        /// If not `nil`, the only fields of its requests, instead of their own and the agent's. The body's own fields
        /// and those of interceptors are still added.
        public var replacingHeaders: Headers?
        /// Computes further ``headers`` for each call, which override them.
        public var computedHeaders: (@Sendable (Request<Bytes>) async throws -> Headers)?
        /// Parameters for its requests: an object. A request's own parameters of the same names override them.
        public var parameters: Parameters?
        /// Computes further ``parameters`` for each call, which override them.
        public var computedParameters: (@Sendable (Request<Bytes>) async throws -> Parameters?)?
        /// Changes all parameters after every interceptor. Its additions are therefore not validated, and are not part
        /// of cache keys or of the comparison of duplicates.
        ///
        /// An error thrown here ends the call: a ``NetError`` unchanged, any other error as
        /// ``NetError/Code/badParameter``.
        public var adjustParameters: (@Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?)?

        /// Limits of requests that have none. If `nil`, the agent's apply. Total time and size of streams and saves are
        /// always the agent's.
        public var limits: Limits?
        /// The interceptors of its calls, outermost first: behind the agent's, before a request's own.
        public var interceptors: [any Interceptor] = []
        /// The signers of its requests, behind all other interceptors: ``RequestSigning``, ``MD5Signing``, or your own.
        public var signing: [any Interceptor] = []
        /// Checks complete responses with any status. A thrown error makes the call fail: a ``NetError`` unchanged, any
        /// other error as ``NetError/Code/invalidValue``.
        public var judge: (@Sendable (Response<Bytes>) async throws -> Void)?
        /// Replaces an error of its calls before it is reported. Not called for ``NetError/Code/cancelled`` and
        /// ``NetError/Code/stoppedByCaller``.
        public var mapError: (@Sendable (NetError) -> NetError)?
        /// The largest number of its calls in flight, from 1. If `nil`, only the agent's limit applies. Others wait,
        /// highest priority first, at most ``Limits/slot``. A streamed body is in flight until its end.
        public var maxInFlight: Int?
        /// The clock.
        public var time = TimeSource.system
        var notes: [ObjectIdentifier: any Sendable] = [:]

        /// Creates the configuration of a service with a base URL for each environment.
        public init(baseURLs: [Environment: String] = [:]) {
            self.baseURLs = baseURLs
        }

        /// The value of an option for requests that do not set it; `nil` sets none.
        public subscript<Note: RequestNote>(note: Note.Type) -> Note.Value? {
            get { notes[ObjectIdentifier(note)] as? Note.Value }
            set { notes[ObjectIdentifier(note)] = newValue }
        }
    }
}
