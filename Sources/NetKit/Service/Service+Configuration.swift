extension Service {
    /// What the requests of a service have in common: a value; change it before the service is made.
    public struct Configuration: Sendable {
        /// Where its relative URLs begin, in each environment; the path counts as a folder. None at all takes the agent's
        /// base URL; if there are some, a relative request in an environment without one ends with
        /// ``NetError/Code/usage``.
        public var baseURLs: [Environment: String]
        /// The same for requests that ask for a CDN; without one they begin at the base URL.
        public var cdnURLs: [Environment: String] = [:]
        /// Further origins that get what the service adds to its requests: fields, parameters, signatures and
        /// ``OriginBoundInterceptor``s. Without them it goes to the origins of its base and CDN alone; see
        /// ``Agent/Configuration/trustedOrigins``.
        public var trustedOrigins: [String] = []
        /// The environment to begin with.
        public var environment = Environment.release
        /// The interface's version, put between base and path as a folder, such as "v1"; empty puts nothing there.
        public var version = ""

        /// Fields for its requests that do not set them themselves; they win over the agent's.
        public var headers: Headers = [:]
        /// When not nil, its requests have these fields and no others: neither their own nor the agent's. What a body
        /// says of itself and what interceptors add comes all the same.
        public var replacingHeaders: Headers?
        /// Computes more ``headers`` for each start, and wins over them.
        public var computedHeaders: (@Sendable (Request<Bytes>) async throws -> Headers)?
        /// Parameters for its requests, an object; a request's own of the same names win.
        public var parameters: Parameters?
        /// Computes more ``parameters`` for each start, and wins over them.
        public var computedParameters: (@Sendable (Request<Bytes>) async throws -> Parameters?)?
        /// Has the last word on all parameters, behind every interceptor: so what it adds was neither validated, nor is
        /// it a part of cache keys or of what makes a request the same as another one.
        ///
        /// What it throws ends the call: a ``NetError`` as it is, anything else under ``NetError/Code/badParameter``.
        public var adjustParameters: (@Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?)?

        /// Limits of requests that bring none; nil takes the agent's. Total time and size of streams and saves are the
        /// agent's in either case.
        public var limits: Limits?
        /// What wraps its calls, the outermost first: behind the agent's interceptors, in front of a request's own.
        public var interceptors: [any Interceptor] = []
        /// What signs its requests, behind all else: ``RequestSigning``, ``MD5Signing``, or one's own.
        public var signing: [any Interceptor] = []
        /// Judges what came back whole, whatever its status: what it throws makes it a failure, a ``NetError`` as it is
        /// and anything else under ``NetError/Code/invalidValue``.
        public var judge: (@Sendable (Response<Bytes>) async throws -> Void)?
        /// Says an error of its calls in the service's own way, before anybody is told of it. It is not asked about
        /// ``NetError/Code/cancelled`` and ``NetError/Code/stoppedByCaller``.
        public var mapError: (@Sendable (NetError) -> NetError)?
        /// Calls of this service under way at once, from 1; nil leaves that to the agent. The others wait, the most
        /// urgent first, as long as ``Limits/slot`` allows; a streamed body is under way until its end.
        public var maxInFlight: Int?
        /// The time.
        public var time = TimeSource.system
        var notes: [ObjectIdentifier: any Sendable] = [:]

        /// A service at one place for each environment.
        public init(baseURLs: [Environment: String] = [:]) {
            self.baseURLs = baseURLs
        }

        /// What its requests carry under this name that say nothing themselves; nil is nothing.
        public subscript<Note: RequestNote>(note: Note.Type) -> Note.Value? {
            get { notes[ObjectIdentifier(note)] as? Note.Value }
            set { notes[ObjectIdentifier(note)] = newValue }
        }
    }
}
