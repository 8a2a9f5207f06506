/// A type per call: it describes a request by what it declares, and everything but the path has a default.
///
///     struct HotCities: Endpoint {
///         typealias Value = [City]
///         let count: Int
///         var path: String { "cities/hot" }
///         var parameters: Parameters? { ["count": .init(count)] }
///     }
///     let cities = try await agent.send(HotCities(count: 10)).value
///
/// The request is made anew for each start, and has the ``Startable/tag`` and the ``Startable/userInfo`` besides. What
/// a request can do and this does not name, ``finish(_:)`` says.
public protocol Endpoint: Startable {
    /// The path, relative to a base; or an absolute URL.
    var path: String { get }
    /// The service that it belongs to; none by default.
    var service: Service? { get }
    /// Where the path begins; nil or empty takes the service's base, or the agent's.
    var baseURL: String? { get }
    /// Where the path begins if ``usesCDN``; nil or empty takes the service's, or the agent's.
    var cdnURL: String? { get }
    /// Whether the path begins at a CDN, where one is named.
    var usesCDN: Bool { get }

    /// The method; GET by default.
    var method: Method { get }
    /// The parameters; none by default.
    var parameters: Parameters? { get }
    /// Asked for the parameters at each start; ``parameters`` by default.
    ///
    /// What it throws ends the start: a ``NetError`` as it is, anything else under ``NetError/Code/badParameter``.
    func currentParameters() async throws -> Parameters?
    /// Where the parameters go; by the method by default.
    var parameterPlacement: ParameterPlacement { get }
    /// The body; none by default.
    var body: Body? { get throws(NetError) }
    /// Fields; none by default. They win over ``credentials``.
    var headers: Headers { get }
    /// Who asks; nobody by default.
    var credentials: Credentials? { get }
    /// Limits; nil takes the service's, or the agent's.
    var limits: Limits? { get }
    /// Its place among those that wait; normal by default.
    var priority: Priority { get }

    /// How the answer is read; by default as JSON for a value that is `Decodable`, and as what it is for `Bytes`,
    /// `String`, `JSONValue` and `Void`.
    var decoding: Decoding<Value> { get }
    /// The statuses that are answers; 200 to 299 by default, nil is all.
    var acceptedStatuses: Range<Int>? { get }
    /// The content types that are answers; nil takes those of the decoding.
    var acceptedTypes: [String]? { get }
    /// The shape that a JSON body has to have; nil is any.
    var shape: JSONShape? { get }

    /// Says which parameters the cache key is made of; nil, the default, takes all.
    var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? { get }
    /// A request that is sent as it is instead of what is said above of place, method, parameters, body, fields,
    /// credentials and limits (``Request/isComplete``); nil by default. What is said of the answer holds for it all the
    /// same.
    var completeRequest: Request<Bytes>? { get throws(NetError) }
    /// The last word on the request; changes nothing by default.
    func finish(_ request: inout Request<Value>) throws(NetError)
}

extension Endpoint {
    /// The request that all of this describes.
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
