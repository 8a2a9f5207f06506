/// The members of an ``Endpoint``. An endpoint declares those that differ from their defaults.
///
/// The type of each member is an associated type. So a declaration with another type is either converted
/// (`let method = "POST"`) or refused by the compiler; it is never ignored.
public protocol EndpointMembers: Startable {
    /// The type of ``path``.
    associatedtype PathValue = String
    /// The type of ``service``.
    associatedtype ServiceValue = Service?
    /// The type of ``baseURL``.
    associatedtype BaseURL = String?
    /// The type of ``method``.
    associatedtype MethodValue = Method
    /// The type of ``parameters``.
    associatedtype ParametersValue = Parameters?
    /// The type of ``query``.
    associatedtype QueryValue = Parameters?
    /// The type of ``parameterPlacement``.
    associatedtype PlacementValue = ParameterPlacement
    /// The type of ``body``.
    associatedtype BodyValue = Body?
    /// The type of ``headers``.
    associatedtype HeadersValue = Headers
    /// The type of ``credentials``.
    associatedtype CredentialsValue = Credentials?
    /// The type of ``limits``.
    associatedtype LimitsValue = Limits?
    /// The type of ``timeout``.
    associatedtype TimeoutValue = Duration?
    /// The type of ``caching``.
    associatedtype CachingValue = CacheRules?
    /// The type of ``redirects``.
    associatedtype RedirectsValue = RedirectPolicy?
    /// The type of ``retries``.
    associatedtype RetriesValue = RetryPolicy?
    /// The type of ``priority``.
    associatedtype PriorityValue = Priority
    /// The type of ``decoding``.
    associatedtype DecodingValue = Decoding<Value>
    /// The type of ``acceptedStatuses``.
    associatedtype StatusesValue = StatusSet
    /// The type of ``acceptedTypes``.
    associatedtype TypesValue = [String]?
    /// The type of ``shape``.
    associatedtype ShapeValue = JSONShape?
    /// The type of ``cacheKeyParameters``.
    associatedtype KeyParametersValue = (@Sendable (Parameters) -> Parameters)?
    /// The type of ``completeRequest``.
    associatedtype CompleteRequest = Request<Bytes>?
    /// The type of ``tag``.
    associatedtype TagValue = Int
    /// The type of ``userInfo``.
    associatedtype UserInfoValue = [String: any Sendable]
    /// The type of ``listeners``.
    associatedtype ListenersValue = [any TaskListener]
    /// The type of ``interceptors``.
    associatedtype InterceptorsValue = [any Interceptor]
    /// The type of the parameter of ``finish(_:)``.
    associatedtype FinishedRequest = Request<Value>

    /// The path relative to a base URL, or an absolute URL: a `String` or a `URL`.
    var path: PathValue { get }
    /// The service of the request; none by default.
    var service: ServiceValue { get }
    /// The base URL of the path: a `String` or a `URL`. If `nil` or empty, the base URL of the service or the agent
    /// applies.
    var baseURL: BaseURL { get }
    /// The method: a ``Method`` or a `String`; GET by default.
    var method: MethodValue { get }
    /// The parameters, which are evaluated for each call; none by default: ``Parameters`` or a dictionary.
    ///
    /// The body of a computed property may be a literal with variables, a dictionary or any `Encodable` value; see
    /// ``ParametersBuilder``.
    ///
    /// If the property throws, the call ends with that error. An error that is not a ``NetError`` becomes
    /// ``NetError/Code/badParameter``.
    @ParametersBuilder var parameters: ParametersValue { get async throws }
    /// The parameters of the URL's query, whatever the method is; none by default. Otherwise the property works like
    /// ``parameters``.
    @ParametersBuilder var query: QueryValue { get async throws }
    /// The part of the request that contains the parameters. By default the method determines it.
    var parameterPlacement: PlacementValue { get }
    /// The body: a ``Body``, bytes or `Data`; none by default.
    ///
    /// If the property throws, the call ends with that error. An error that is not a ``NetError`` becomes
    /// ``NetError/Code/usage``.
    var body: BodyValue { get async throws }
    /// The header fields: ``Headers`` or `[String: String]`; none by default. They override ``credentials``.
    var headers: HeadersValue { get async throws }
    /// The credentials to send. If `nil`, as by default, those of the service or the agent apply. To send none, return
    /// ``Credentials/none`` with its type.
    var credentials: CredentialsValue { get }
    /// The limits. Those that are not set are the limits of the service or the agent.
    var limits: LimitsValue { get }
    /// The total time of a call. If `nil` (the default), that of ``limits`` applies.
    var timeout: TimeoutValue { get }
    /// The cache rules. If `nil` (the default), those of the service or the agent apply.
    var caching: CachingValue { get }
    /// The redirect policy. If `nil` (the default), that of the service or the agent applies.
    var redirects: RedirectsValue { get }
    /// The retry policy. If `nil` (the default), that of the service or the agent applies.
    var retries: RetriesValue { get }
    /// The priority among waiting requests; normal by default.
    var priority: PriorityValue { get }
    /// The decoding of the response. By default a `Decodable` value is decoded by its type (``Decoding/automatic``).
    /// `Bytes`, `JSONValue` and `Void` have their own decodings.
    var decoding: DecodingValue { get }
    /// The accepted statuses: ``StatusSet``, a range or an array; ``StatusSet/automatic`` by default.
    var acceptedStatuses: StatusesValue { get }
    /// The accepted content types. If `nil`, those of the decoding are accepted.
    var acceptedTypes: TypesValue { get }
    /// The required shape of a JSON body. If `nil`, any shape is accepted.
    var shape: ShapeValue { get }
    /// Selects the parameters that are part of the cache key. If `nil` (the default), all parameters are.
    var cacheKeyParameters: KeyParametersValue { get }
    /// A request to send unchanged (``Request/isComplete``), instead of a request that is created from the properties
    /// above. `nil` by default. The properties for the response still apply.
    var completeRequest: CompleteRequest { get async throws }
    /// The caller's number for it, as ``Request/tag``; 0 by default.
    var tag: TagValue { get }
    /// The caller's values for it, as ``Request/userInfo``; none by default.
    var userInfo: UserInfoValue { get }
    /// The listeners of its tasks; none by default.
    var listeners: ListenersValue { get }
    /// The interceptors of the request, as ``Request/interceptors``; none by default.
    var interceptors: InterceptorsValue { get }
    /// Makes final changes to the request. Does nothing by default.
    ///
    /// If it throws, the call ends with that error. An error that is not a ``NetError`` becomes
    /// ``NetError/Code/usage``.
    func finish(_ request: inout FinishedRequest) async throws
}

extension EndpointMembers where ServiceValue == Service? {
    /// Returns `nil`: the request has no service.
    public var service: Service? { nil }
}

extension EndpointMembers where BaseURL == String? {
    /// Returns `nil`: the base URL of the service or the agent applies.
    public var baseURL: String? { nil }
}

extension EndpointMembers where MethodValue == Method {
    /// Returns GET.
    public var method: Method { .get }
}

extension EndpointMembers where ParametersValue == Parameters? {
    /// Returns `nil`: the request has no parameters.
    public var parameters: Parameters? { nil }
}

extension EndpointMembers where QueryValue == Parameters? {
    /// Returns `nil`: the request has no query parameters.
    public var query: Parameters? { nil }
}

extension EndpointMembers where PlacementValue == ParameterPlacement {
    /// Returns ``ParameterPlacement/byMethod``.
    public var parameterPlacement: ParameterPlacement { .byMethod }
}

extension EndpointMembers where BodyValue == Body? {
    /// Returns `nil`: the request has no body.
    public var body: Body? { nil }
}

extension EndpointMembers where HeadersValue == Headers {
    /// Returns no fields.
    public var headers: Headers { [:] }
}

extension EndpointMembers where CredentialsValue == Credentials? {
    /// Returns `nil`: the credentials of the service or the agent apply.
    public var credentials: Credentials? { nil }
}

extension EndpointMembers where LimitsValue == Limits? {
    /// Returns `nil`: the limits of the service or the agent apply.
    public var limits: Limits? { nil }
}

extension EndpointMembers where TimeoutValue == Duration? {
    /// Returns `nil`: the limits apply.
    public var timeout: Duration? { nil }
}

extension EndpointMembers where CachingValue == CacheRules? {
    /// Returns `nil`: the cache rules of the service or the agent apply.
    public var caching: CacheRules? { nil }
}

extension EndpointMembers where RedirectsValue == RedirectPolicy? {
    /// Returns `nil`: the redirect policy of the service or the agent applies.
    public var redirects: RedirectPolicy? { nil }
}

extension EndpointMembers where RetriesValue == RetryPolicy? {
    /// Returns `nil`: the retry policy of the service or the agent applies.
    public var retries: RetryPolicy? { nil }
}

extension EndpointMembers where PriorityValue == Priority {
    /// Returns the normal priority.
    public var priority: Priority { .normal }
}

extension EndpointMembers where StatusesValue == StatusSet {
    /// Returns the statuses that the service or the agent accepts.
    public var acceptedStatuses: StatusSet { .automatic }
}

extension EndpointMembers where TypesValue == [String]? {
    /// Returns `nil`: the types of the decoding are accepted.
    public var acceptedTypes: [String]? { nil }
}

extension EndpointMembers where ShapeValue == JSONShape? {
    /// Returns `nil`: the JSON may have any shape.
    public var shape: JSONShape? { nil }
}

extension EndpointMembers where KeyParametersValue == (@Sendable (Parameters) -> Parameters)? {
    /// Returns `nil`: all parameters are part of the cache key.
    public var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? { nil }
}

extension EndpointMembers where CompleteRequest == Request<Bytes>? {
    /// Returns `nil`: the request is created from the other properties.
    public var completeRequest: Request<Bytes>? { nil }
}

extension EndpointMembers where InterceptorsValue == [any Interceptor] {
    /// Returns none.
    public var interceptors: [any Interceptor] { [] }
}

extension EndpointMembers where FinishedRequest == Request<Value> {
    /// Does nothing.
    public func finish(_ request: inout Request<Value>) {}
}

// Of this default and the one for Void, the compiler prefers this one, because Endpoint refines EndpointMembers.
extension Endpoint where Value: Decodable {
    /// Decodes by the type of the value (``Decoding/automatic``).
    public var decoding: Decoding<Value> { .automatic }
}

extension EndpointMembers where DecodingValue == Decoding<Value>, Value == Void {
    /// Ignores the body.
    public var decoding: Decoding<Value> { .nothing }
}
