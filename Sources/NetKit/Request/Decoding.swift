/// How a response's body becomes a value.
///
/// Small bodies are decoded where the caller runs; larger ones on the global executor, never on a loop thread.
public struct Decoding<Value: Sendable>: Sendable {
    /// Makes the value; what it throws becomes ``NetError/Code/undecodable``, unless it is a ``NetError`` already.
    public let decode: @Sendable (Response<Bytes>) throws -> Value
    /// Content types that it reads, where the request does not say; nil is any.
    let types: [String]?
    // The response around the value, where that costs the same for any size, and a change of thread would only cost.
    let instant: (@Sendable (Response<Bytes>) -> Response<Value>)?

    /// A decoding of one's own.
    ///
    /// - Parameters:
    ///   - types: as ``Request/acceptedTypes``, for requests that leave those nil.
    ///   - decode: makes the value.
    public init(types: [String]? = nil, _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value) {
        self.decode = decode
        self.types = types
        instant = nil
    }

    init(
        instant: @escaping @Sendable (Response<Bytes>) -> Response<Value>,
        _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value
    ) {
        self.decode = decode
        self.instant = instant
        types = nil
    }
}

extension Decoding where Value == Bytes {
    /// The body as it is.
    public static var bytes: Decoding {
        Decoding(
            instant: {
                var response = $0
                response.value = response.bytes
                return response
            }, { $0.bytes })
    }
}

extension Decoding where Value == Void {
    /// The body is left alone.
    public static var nothing: Decoding { Decoding(instant: { $0.replacingValue(by: ()) }, { _ in }) }
}
