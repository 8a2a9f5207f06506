extension Endpoint {
    /// `nil`: no service.
    public var service: Service? { nil }
    /// `nil`: the service's, or the agent's.
    public var baseURL: String? { nil }
    /// `nil`: the service's, or the agent's.
    public var cdnURL: String? { nil }
    /// False.
    public var usesCDN: Bool { false }
    /// GET.
    public var method: Method { .get }
    /// `nil`: no parameters.
    public var parameters: Parameters? { nil }
    /// Returns ``parameters``.
    public func currentParameters() async throws -> Parameters? { parameters }
    /// By the method.
    public var parameterPlacement: ParameterPlacement { .byMethod }
    /// `nil`: no body.
    public var body: Body? { nil }
    /// No fields.
    public var headers: Headers { [:] }
    /// `nil`: no credentials.
    public var credentials: Credentials? { nil }
    /// `nil`: the service's, or the agent's.
    public var limits: Limits? { nil }
    /// Normal.
    public var priority: Priority { .normal }
    /// 200 to 299.
    public var acceptedStatuses: Range<Int>? { 200..<300 }
    /// `nil`: the types of the decoding.
    public var acceptedTypes: [String]? { nil }
    /// `nil`: any shape.
    public var shape: JSONShape? { nil }
    /// `nil`: all parameters.
    public var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? { nil }
    /// `nil`: the request that the other properties describe.
    public var completeRequest: Request<Bytes>? { nil }
    /// Does nothing.
    public func finish(_ request: inout Request<Value>) {}
}

extension Endpoint where Value: Decodable {
    /// JSON.
    public var decoding: Decoding<Value> { .json }
}

extension Endpoint where Value == Bytes {
    /// The unchanged body.
    public var decoding: Decoding<Bytes> { .bytes }
}

extension Endpoint where Value == String {
    /// Text.
    public var decoding: Decoding<String> { .text }
}

extension Endpoint where Value == JSONValue {
    /// A JSON tree.
    public var decoding: Decoding<JSONValue> { .tree }
}

extension Endpoint where Value == Void {
    /// No decoding.
    public var decoding: Decoding<Void> { .nothing }
}
