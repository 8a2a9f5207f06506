/// Converts responses to values, for formats that NetKit does not read.
///
///     struct MessagePack<Value: Decodable & Sendable>: ResponseSerializer {
///         var acceptedTypes: [String]? { ["application/msgpack"] }
///         func value(of response: Response<Bytes>) throws -> Value { try decode(response.bytes) }
///     }
///     let city = try await agent.send(Request("cities/1", serializer: MessagePack<City>())).value
///
/// The content type is checked first, then the status. The error of a refused status is thrown, with that of the type
/// as its ``NetError/underlying``. ``Decoding`` is a serializer too, so both kinds can be combined.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The content types that it reads, as in ``Request/acceptedTypes``; `nil` (the default) accepts any.
    var acceptedTypes: [String]? { get }
    /// The accepted statuses; `nil` accepts any. The default is 200 to 299.
    var acceptedStatuses: Range<Int>? { get }
    /// Returns the value of a response with an accepted status and type; its body may be empty. A thrown ``NetError``
    /// is passed on; any other error becomes ``NetError/Code/undecodable``.
    func value(of response: Response<Bytes>) throws -> Value
}

extension ResponseSerializer {
    /// `nil`: any type.
    public var acceptedTypes: [String]? { nil }
    /// 200 to 299.
    public var acceptedStatuses: Range<Int>? { 200..<300 }
}

extension Decoding: ResponseSerializer {
    /// The types that it reads; `nil` is any.
    public var acceptedTypes: [String]? { types }

    /// Returns the value.
    public func value(of response: Response<Bytes>) throws -> Value { try decode(response) }
}

extension Decoding {
    /// Creates a decoding from a serializer, with its types; the statuses are the request's.
    public init(_ serializer: some ResponseSerializer<Value>) {
        self.init(types: serializer.acceptedTypes) { try serializer.value(of: $0) }
    }

    /// Returns a decoding that converts the decoded value.
    public func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Decoding<Other> {
        let decode = decode
        return Decoding<Other>(types: types) { try transform(try decode($0)) }
    }

    /// Returns a decoding that uses the first of these that can decode the body. Each is tried only for its own types.
    ///
    ///     let either = Decoding<Answer>.first(of: .json, Decoding<String>.text.map { Answer(text: $0) })
    ///
    /// If none can, it throws ``NetError/Code/undecodable`` with a message about each. ``NetError/underlying`` is the
    /// error of the first one that read the body. Without any decoding it throws ``NetError/Code/usage``.
    public static func first(of decodings: Decoding...) -> Decoding { first(of: decodings) }

    /// Returns a decoding that uses the first of these that can decode the body; see
    /// ``first(of:)-(Decoding<Value>...)``.
    public static func first(of decodings: [Decoding]) -> Decoding {
        let types = decodings.map(\.types)
        let all = types.contains { $0 == nil } || types.isEmpty ? nil : types.compactMap(\.self).flatMap(\.self)
        return Decoding(types: all) { response in
            var failures: [NetError] = []
            var looked: NetError?
            for decoding in decodings {
                do throws(NetError) {
                    try response.checkType(decoding.types)
                } catch {
                    failures.append(error)
                    continue
                }
                do throws(NetError) {
                    return try response.decoded(by: decoding)
                } catch {
                    failures.append(error)
                    looked = looked ?? error
                }
            }
            guard let failure = looked ?? failures.first else {
                throw NetError(.usage, "none of no decodings reads a body")
            }
            let all = failures.map(\.message).joined(separator: "; ")
            throw NetError(
                .undecodable, "none of \(failures.count) decodings reads the body: \(all)", underlying: failure)
        }
    }
}

extension Request {
    /// Creates a request whose response a serializer reads, with its types and statuses.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        serializer: some ResponseSerializer<Value>
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: Decoding(serializer),
            acceptedStatuses: serializer.acceptedStatuses)
    }

    /// Returns the same request with its response read by a serializer, with its types and statuses.
    public func serialized<Other>(by serializer: some ResponseSerializer<Other>) -> Request<Other> {
        var request = decoded(by: Decoding(serializer))
        request.acceptedStatuses = serializer.acceptedStatuses
        request.acceptedTypes = nil
        return request
    }
}
