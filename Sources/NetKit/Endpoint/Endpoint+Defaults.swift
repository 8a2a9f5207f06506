extension Endpoint {
    /// None.
    public var service: Service? { nil }
    /// The service's, or the agent's.
    public var baseURL: String? { nil }
    /// The service's, or the agent's.
    public var cdnURL: String? { nil }
    /// No.
    public var usesCDN: Bool { false }
    /// GET.
    public var method: Method { .get }
    /// None.
    public var parameters: Parameters? { nil }
    /// ``parameters``.
    public func currentParameters() async throws -> Parameters? { parameters }
    /// By the method.
    public var parameterPlacement: ParameterPlacement { .byMethod }
    /// None.
    public var body: Body? { nil }
    /// None.
    public var headers: Headers { [:] }
    /// Nobody.
    public var credentials: Credentials? { nil }
    /// The service's, or the agent's.
    public var limits: Limits? { nil }
    /// Normal.
    public var priority: Priority { .normal }
    /// 200 to 299.
    public var acceptedStatuses: Range<Int>? { 200..<300 }
    /// Those of the decoding.
    public var acceptedTypes: [String]? { nil }
    /// Any.
    public var shape: JSONShape? { nil }
    /// All.
    public var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? { nil }
    /// None.
    public var completeRequest: Request<Bytes>? { nil }
    /// Changes nothing.
    public func finish(_ request: inout Request<Value>) {}
}

extension Endpoint where Value: Decodable {
    /// As JSON.
    public var decoding: Decoding<Value> { .json }
}

extension Endpoint where Value == Bytes {
    /// As it is.
    public var decoding: Decoding<Bytes> { .bytes }
}

extension Endpoint where Value == String {
    /// As text.
    public var decoding: Decoding<String> { .text }
}

extension Endpoint where Value == JSONValue {
    /// As a tree.
    public var decoding: Decoding<JSONValue> { .tree }
}

extension Endpoint where Value == Void {
    /// Not at all.
    public var decoding: Decoding<Void> { .nothing }
}
