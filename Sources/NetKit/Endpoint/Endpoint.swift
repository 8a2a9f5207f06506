/// A type that describes one kind of request. All properties except the path have defaults.
///
///     struct HotCities {
///         let count: Int
///     }
///
///     extension HotCities: Endpoint {
///         typealias Value = [City]
///         var path: String { "cities/hot" }
///         var query: Parameters? { ["count": count] }
///     }
///     let cities = try await agent.send(HotCities(count: 10)).value
///
/// ``EndpointMembers`` lists the properties. Conform in an extension, as above: the compiler then warns about a member
/// whose name is nearly that of a property.
///
/// A request is created for each call. It also gets the ``Startable/tag`` and the ``Startable/userInfo``. To set
/// options that have no property, implement ``EndpointMembers/finish(_:)``.
public protocol Endpoint: EndpointMembers
where
    PathValue: URLConvertible,
    ServiceValue: OptionalConvertible<Service>,
    BaseURL: OptionalConvertible,
    BaseURL.Wrapped: URLConvertible,
    MethodValue: MethodConvertible,
    ParametersValue: ParametersConvertible,
    QueryValue: ParametersConvertible,
    PlacementValue: OptionalConvertible<ParameterPlacement>,
    BodyValue: BodyConvertible,
    HeadersValue: HeadersConvertible,
    CredentialsValue: OptionalConvertible<Credentials>,
    LimitsValue: OptionalConvertible<Limits>,
    TimeoutValue: OptionalConvertible<Duration>,
    CachingValue: OptionalConvertible<CacheRules>,
    RedirectsValue: OptionalConvertible<RedirectPolicy>,
    RetriesValue: OptionalConvertible<RetryPolicy>,
    PriorityValue: OptionalConvertible<Priority>,
    DecodingValue == Decoding<Value>,
    StatusesValue: StatusesConvertible,
    TypesValue: OptionalConvertible<[String]>,
    ShapeValue: OptionalConvertible<JSONShape>,
    KeyParametersValue: OptionalConvertible<@Sendable (Parameters) -> Parameters>,
    CompleteRequest: OptionalConvertible<Request<Bytes>>,
    TagValue: OptionalConvertible<Int>,
    UserInfoValue: OptionalConvertible<[String: any Sendable]>,
    ListenersValue: OptionalConvertible<[any TaskListener]>,
    InterceptorsValue: OptionalConvertible<[any Interceptor]>,
    FinishedRequest == Request<Value>
{}

extension Endpoint {
    /// Creates the request from the properties.
    public func request() async throws(NetError) -> Request<Value> {
        var request: Request<Value>
        if let complete = try await value(of: "complete request", .usage, { try await completeRequest._optional }) {
            request = complete.decoded(by: decoding)
            request.isComplete = true
        } else {
            request = try await describedRequest()
        }
        request.acceptedStatuses = acceptedStatuses._statuses
        if let types = acceptedTypes._optional {
            request.acceptedTypes = types
        }
        if let shape = shape._optional {
            request = request.expecting(shape)
        }
        request.priority = priority._optional ?? .normal
        setStartOptions(of: &request)
        do {
            try await finish(&request)
        } catch {
            throw NetError(wrapping: error, .usage, "finish(_:) of the endpoint failed")
        }
        return request
    }

    private func setStartOptions(of request: inout Request<Value>) {
        if let tag = tag._optional, tag != 0 {
            request.tag = tag
        }
        if let userInfo = userInfo._optional, !userInfo.isEmpty {
            request.userInfo = userInfo
        }
        if let service = service._optional {
            request.service = service
        }
        if let interceptors = interceptors._optional, !interceptors.isEmpty {
            request.interceptors = interceptors
        }
    }

    private func describedRequest() async throws(NetError) -> Request<Value> {
        let parameters = try await value(of: "parameters", .badParameter) { try await self.parameters._parameters }
        let query = try await value(of: "query", .badParameter) { try await self.query._parameters }
        let headers = try await value(of: "header fields", .badHeader) { try await self.headers._headers }
        let body = try await value(of: "body", .usage) { try await self.body._body }
        var request = Request<Value>(
            path, method: method._method, parameters: parameters, query: query, headers: headers, body: body,
            decoding: decoding)
        if let placement = parameterPlacement._optional, placement != .byMethod {
            request.parameterPlacement = placement
        }
        if let base = baseURL._optional?._urlText {
            request.baseURL = base
        }
        if let credentials = credentials._optional {
            request.credentials = credentials
        }
        setPolicies(of: &request)
        if let select = cacheKeyParameters._optional {
            request.cacheKeyParameters = select
        }
        return request
    }

    private func setPolicies(of request: inout Request<Value>) {
        request.limits = limits._optional ?? Limits()
        if let timeout = timeout._optional {
            request.timeout = timeout
        }
        if let redirects = redirects._optional {
            request.redirects = redirects
        }
        if let caching = caching._optional {
            request.caching = caching
        }
        if let retries = retries._optional {
            request.retries = retries
        }
    }

    private func value<Member>(
        of name: String, _ code: NetError.Code, _ compute: () async throws -> Member
    ) async throws(NetError) -> Member {
        do {
            return try await compute()
        } catch {
            throw NetError(wrapping: error, code, "computing the endpoint's \(name) failed")
        }
    }
}
