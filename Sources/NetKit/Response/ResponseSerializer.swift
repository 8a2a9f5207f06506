/// Makes a value of a response, and says of which responses: for kinds of answers that NetKit does not read.
///
///     struct MessagePack<Value: Decodable & Sendable>: ResponseSerializer {
///         var acceptedTypes: [String]? { ["application/msgpack"] }
///         func value(of response: Response<Bytes>) throws -> Value { try decode(response.bytes) }
///     }
///     let city = try await agent.send(Request("cities/1", serializer: MessagePack<City>())).value
///
/// The content type is judged first, then the status; a status that will not do is the error, with that of the type
/// beneath it. ``Decoding`` is one, so that what NetKit reads and what others read goes together.
public protocol ResponseSerializer<Value>: Sendable {
    /// What it makes.
    associatedtype Value: Sendable
    /// Content types that it reads, as ``Request/acceptedTypes`` has them; nil is any. By default nil.
    var acceptedTypes: [String]? { get }
    /// Statuses that are answers; nil is any. By default 200 to 299.
    var acceptedStatuses: Range<Int>? { get }
    /// Makes the value of a response whose status and type will do, an empty body among them; what it throws becomes
    /// ``NetError/Code/undecodable``, unless it is a ``NetError`` already.
    func value(of response: Response<Bytes>) throws -> Value
}

extension ResponseSerializer {
    /// Any.
    public var acceptedTypes: [String]? { nil }
    /// 200 to 299.
    public var acceptedStatuses: Range<Int>? { 200..<300 }
}

extension Decoding: ResponseSerializer {
    /// The types that it reads; nil is any.
    public var acceptedTypes: [String]? { types }

    /// Makes the value.
    public func value(of response: Response<Bytes>) throws -> Value { try decode(response) }
}

extension Decoding {
    /// What a serializer reads, its types included; the statuses are the request's.
    public init(_ serializer: some ResponseSerializer<Value>) {
        self.init(types: serializer.acceptedTypes) { try serializer.value(of: $0) }
    }

    /// What the decoding reads, made into something else.
    public func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Decoding<Other> {
        let decode = decode
        return Decoding<Other>(types: types) { try transform(try decode($0)) }
    }

    /// The first of these that reads the body, each asked only for types that it reads.
    ///
    ///     let either = Decoding<Answer>.first(of: .json, Decoding<String>.text.map { Answer(text: $0) })
    ///
    /// When none does, the error is ``NetError/Code/undecodable``: it tells of each, and ``NetError/underlying`` is that of
    /// the first that looked at the body. Without any it is ``NetError/Code/usage``.
    public static func first(of decodings: Decoding...) -> Decoding { first(of: decodings) }

    /// The first of these that reads the body; see ``first(of:)-(Decoding<Value>...)``.
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
    /// A request whose answer a serializer reads, with its types and statuses.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        serializer: some ResponseSerializer<Value>
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: Decoding(serializer),
            acceptedStatuses: serializer.acceptedStatuses)
    }

    /// The same question, its answer read by a serializer, with its types and statuses.
    public func serialized<Other>(by serializer: some ResponseSerializer<Other>) -> Request<Other> {
        var request = decoded(by: Decoding(serializer))
        request.acceptedStatuses = serializer.acceptedStatuses
        request.acceptedTypes = nil
        return request
    }
}
