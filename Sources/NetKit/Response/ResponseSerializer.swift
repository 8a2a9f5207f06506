/// Converts responses to values. Implement it for formats that NetKit cannot read.
///
///     struct MessagePack<Value: Decodable & Sendable>: ResponseSerializer {
///         var acceptedTypes: [String]? { ["application/msgpack"] }
///         func value(of response: Response<Bytes>) throws -> Value { try decode(response.bytes) }
///     }
///     let city = try await agent.send(Request("cities/1", serializer: MessagePack<City>())).value
///
/// The content type and the status are checked before a value is created. If neither is accepted, the error about the
/// status is thrown, with the error about the type as its ``NetError/underlying`` error.
///
/// ``Decoding`` conforms to this protocol, so serializers and decodings can be combined.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The accepted content types, in the form of ``Request/acceptedTypes``. `nil`, the default, accepts any type.
    var acceptedTypes: [String]? { get }
    /// The accepted statuses; ``StatusSet/automatic`` by default.
    var acceptedStatuses: StatusSet { get }
    /// Returns the value of a response. Its status and type are accepted, but its body may be empty.
    ///
    /// A ``NetError`` thrown here ends the call unchanged; any other error becomes ``NetError/Code/decoding``.
    func value(of response: Response<Bytes>) throws -> Value
}

extension ResponseSerializer {
    /// Any content type (`nil`).
    public var acceptedTypes: [String]? { nil }
    /// The statuses that the service or the agent accepts.
    public var acceptedStatuses: StatusSet { .automatic }
}

extension Decoding: ResponseSerializer {
    /// The accepted content types; `nil` accepts any.
    public var acceptedTypes: [String]? { types }

    /// Decodes the response.
    public func value(of response: Response<Bytes>) throws -> Value { try decode(response) }
}

extension Decoding {
    /// Creates a decoding that uses a serializer and its content types. The accepted statuses are still those of the
    /// request.
    public init(_ serializer: some ResponseSerializer<Value>) {
        self.init(types: serializer.acceptedTypes) { try serializer.value(of: $0) }
    }

    /// Returns a decoding that passes the decoded value through `transform`.
    public func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Decoding<Other> {
        let decode = decode
        return Decoding<Other>(types: types) { try transform(try decode($0)) }
    }

    /// Returns a decoding that tries these decodings in order and returns the first value. A decoding is tried only if
    /// it accepts the content type.
    ///
    ///     let either = Decoding<Answer>.first(of: [.json, Decoding<String>.text.map { Answer(text: $0) }])
    ///
    /// If all fail, it throws ``NetError/Code/decoding`` with a message about each. ``NetError/underlying`` is then
    /// the error of the first decoding that was tried. If `decodings` is empty, it throws ``NetError/Code/usage``.
    public static func first(of decodings: [Decoding]) -> Decoding {
        let types = decodings.map(\.types)
        let all = types.contains { $0 == nil } || types.isEmpty ? nil : types.compactMap(\.self).flatMap(\.self)
        return Decoding(types: all) { response in
            var failures: [NetError] = []
            var firstDecodingError: NetError?
            for decoding in decodings {
                do throws(NetError) {
                    try response.checkType(decoding.types)
                } catch {
                    failures.append(error)
                    continue
                }
                do throws(NetError) {
                    return try response.decode(by: decoding)
                } catch {
                    failures.append(error)
                    firstDecodingError = firstDecodingError ?? error
                }
            }
            guard let failure = firstDecodingError ?? failures.first else {
                throw NetError(.usage, "the list of decodings is empty")
            }
            let all = failures.map(\.message).joined(separator: "; ")
            throw NetError(
                .decoding, "none of \(failures.count) decodings could decode the body: \(all)", underlying: failure)
        }
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
