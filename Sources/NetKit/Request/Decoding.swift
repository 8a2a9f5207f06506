/// How a response's body becomes a value.
///
/// Small bodies are decoded where the caller runs; larger ones on the global executor, never on a loop thread.
public struct Decoding<Value: Sendable>: Sendable {
    private let kept: KeptDecoding<Value>

    /// Makes the value; what it throws becomes ``NetError/Code/undecodable``, unless it is a ``NetError`` already.
    public var decode: @Sendable (Response<Bytes>) throws -> Value { kept.decode }
    /// Content types that it reads, where the request does not say; nil is any.
    var types: [String]? { kept.types }
    /// The response around the value, where that costs the same for any size, and a change of thread would only cost.
    var instant: (@Sendable (Response<Bytes>) -> Response<Value>)? { kept.instant }

    /// A decoding of one's own.
    ///
    /// - Parameters:
    ///   - types: as ``Request/acceptedTypes``, for requests that leave those nil.
    ///   - decode: makes the value.
    public init(types: [String]? = nil, _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value) {
        kept = KeptDecoding(decode, types: types, instant: nil)
    }

    init(
        instant: @escaping @Sendable (Response<Bytes>) -> Response<Value>,
        _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value
    ) {
        kept = KeptDecoding(decode, types: nil, instant: instant)
    }
}

/// A decoding behind one reference, for it goes with every copy of its request.
private final class KeptDecoding<Value: Sendable>: Sendable {
    let decode: @Sendable (Response<Bytes>) throws -> Value
    let types: [String]?
    let instant: (@Sendable (Response<Bytes>) -> Response<Value>)?

    init(
        _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value, types: [String]?,
        instant: (@Sendable (Response<Bytes>) -> Response<Value>)?
    ) {
        self.decode = decode
        self.types = types
        self.instant = instant
    }
}

extension Decoding where Value == Bytes {
    /// The body as it is.
    public static var bytes: Decoding { asItIs }
}

private let asItIs = Decoding<Bytes>(
    instant: {
        var response = $0
        response.value = response.bytes
        return response
    }, { $0.bytes })

extension Decoding where Value == Void {
    /// The body is left alone.
    public static var nothing: Decoding { leftAlone }
}

private let leftAlone = Decoding<Void>(instant: { $0.replacingValue(by: ()) }, { _ in })
