public import NetKit

/// Converts responses to values, like AFNetworking's response serializers.
///
///     struct MessagePack<Value: Decodable & Sendable>: ResponseSerializer {
///         var acceptedTypes: [String]? { ["application/msgpack"] }
///         func value(of response: Response<Bytes>) throws -> Value { try decode(response.bytes) }
///     }
///     let city = try await agent.send(Request("cities/1", serializer: MessagePack<City>())).value
///
/// The content type and the status are checked before a value is created. If neither is accepted, the error about the
/// status is thrown, with the error about the type as its `NetError.underlying` error.
///
/// A serializer becomes a decoding with `Decoding(serializer)`. So it can be combined with other decodings.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The accepted content types, in the form of `Request.acceptedTypes`. `nil`, the default, accepts any type.
    var acceptedTypes: [String]? { get }
    /// The accepted statuses; `StatusSet.automatic` by default.
    var acceptedStatuses: StatusSet { get }
    /// Returns the value of a response. Its status and type are accepted, but its body may be empty.
    ///
    /// A `NetError` thrown here ends the call unchanged; any other error becomes `NetError.Code.decoding`.
    func value(of response: Response<Bytes>) throws -> Value
}

extension ResponseSerializer {
    /// Any content type (`nil`).
    public var acceptedTypes: [String]? { nil }
    /// The statuses that the service or the agent accepts.
    public var acceptedStatuses: StatusSet { .automatic }
}

extension Decoding {
    /// Creates a decoding that uses a serializer and its content types. The accepted statuses are still those of the
    /// request.
    public init(_ serializer: some ResponseSerializer<Value>) {
        self.init(types: serializer.acceptedTypes) { try serializer.value(of: $0) }
    }
}

extension Request {
    /// Creates a request that uses a serializer for its response, with the serializer's content types and statuses.
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, serializer: some ResponseSerializer<Value>
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: Decoding(serializer),
            acceptedStatuses: serializer.acceptedStatuses)
    }

    /// Returns the same request with a serializer for its response, and with the serializer's content types and
    /// statuses.
    public func serialized<Other>(by serializer: some ResponseSerializer<Other>) -> Request<Other> {
        var request = decoded(by: Decoding(serializer))
        request.acceptedStatuses = serializer.acceptedStatuses
        request.acceptedTypes = nil
        return request
    }
}
