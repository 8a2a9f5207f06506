/// A type that describes one kind of request; every property except the path has a default.
///
///     struct HotCities: Endpoint {
///         typealias Value = [City]
///         let count: Int
///         var path: String { "cities/hot" }
///         var parameters: Parameters? { ["count": .init(count)] }
///     }
///     let cities = try await agent.send(HotCities(count: 10)).value
///
/// The request is created for each call and also gets the ``Startable/tag`` and the ``Startable/userInfo``.
/// ``finish(_:)`` sets options that have no property here.
public protocol Endpoint: Startable {
    /// The path relative to a base, or an absolute URL.
    var path: String { get }
    /// The service of the request; none by default.
    var service: Service? { get }
    /// The base of the path. If `nil` or empty, the service's or the agent's applies.
    var baseURL: String? { get }
    /// The base of the path if ``usesCDN``. If `nil` or empty, the service's or the agent's applies.
    var cdnURL: String? { get }
    /// Whether the path uses the CDN's base, if there is one.
    var usesCDN: Bool { get }

    /// The method; GET by default.
    var method: Method { get }
    /// The parameters; none by default.
    var parameters: Parameters? { get }
    /// Returns the parameters of each call; ``parameters`` by default.
    ///
    /// An error thrown here ends the call: a ``NetError`` unchanged, any other error as ``NetError/Code/badParameter``.
    func currentParameters() async throws -> Parameters?
    /// The position of the parameters; by the method by default.
    var parameterPlacement: ParameterPlacement { get }
    /// The body; none by default.
    var body: Body? { get throws(NetError) }
    /// The fields; none by default. They override ``credentials``.
    var headers: Headers { get }
    /// The credentials to send; none by default.
    var credentials: Credentials? { get }
    /// The limits. If `nil`, the service's or the agent's apply.
    var limits: Limits? { get }
    /// The priority among waiting requests; normal by default.
    var priority: Priority { get }

    /// The decoding of the response. By default JSON for a `Decodable` value, and the matching form for `Bytes`,
    /// `String`, `JSONValue` and `Void`.
    var decoding: Decoding<Value> { get }
    /// The accepted statuses; 200 to 299 by default, `nil` is all.
    var acceptedStatuses: Range<Int>? { get }
    /// The accepted content types. If `nil`, those of the decoding apply.
    var acceptedTypes: [String]? { get }
    /// The required shape of a JSON body; `nil` is any.
    var shape: JSONShape? { get }

    /// Selects the parameters of the cache key; `nil` (the default) selects all.
    var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? { get }
    /// A request to send unchanged (``Request/isComplete``) instead of one from the properties above: base, method,
    /// parameters, body, fields, credentials and limits. `nil` by default. The properties for the response still apply.
    var completeRequest: Request<Bytes>? { get throws(NetError) }
    /// Makes final changes to the request; does nothing by default.
    func finish(_ request: inout Request<Value>) throws(NetError)
}

extension Endpoint {
    /// Returns the request that the properties describe.
    public func request() async throws(NetError) -> Request<Value> {
        var request: Request<Value>
        if let complete = try completeRequest {
            request = complete.decoded(by: decoding)
            request.isComplete = true
        } else {
            request = try await describedRequest()
        }
        request.acceptedStatuses = acceptedStatuses
        if let acceptedTypes {
            request.acceptedTypes = acceptedTypes
        }
        if let shape {
            request = request.expecting(shape)
        }
        request.priority = priority
        if tag != 0 {
            request.tag = tag
        }
        if !userInfo.isEmpty {
            request.userInfo = userInfo
        }
        if let service {
            request.service = service
        }
        try finish(&request)
        return request
    }

    private func describedRequest() async throws(NetError) -> Request<Value> {
        let asked: Parameters?
        do {
            asked = try await currentParameters()
        } catch {
            throw NetError(asking: error, .badParameter, "what was asked for the parameters failed")
        }
        var request = Request<Value>(
            path, method: method, parameters: asked, headers: headers, body: try body, decoding: decoding)
        if parameterPlacement != .byMethod {
            request.parameterPlacement = parameterPlacement
        }
        if baseURL != nil || cdnURL != nil || usesCDN {
            request.baseURL = baseURL
            request.cdnURL = cdnURL
            request.usesCDN = usesCDN
        }
        if let credentials {
            request.credentials = credentials
        }
        request.limits = limits
        if let cacheKeyParameters {
            request.cacheKeyParameters = cacheKeyParameters
        }
        return request
    }
}
