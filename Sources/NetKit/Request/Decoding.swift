/// Converts a response's body to a value.
///
/// Small bodies are decoded on the caller's thread, larger ones on the global executor, never on the event loop thread.
public struct Decoding<Value: Sendable>: Sendable {
    private let kept: KeptDecoding<Value>

    /// Creates the value. A thrown ``NetError`` is passed on; any other error becomes ``NetError/Code/undecodable``.
    public var decode: @Sendable (Response<Bytes>) throws -> Value { kept.decode }
    /// The content types that it reads, if the request sets none; `nil` accepts any.
    var types: [String]? { kept.types }
    /// Creates the response with its value, if that takes constant time: then a thread switch would only add cost.
    var instant: (@Sendable (Response<Bytes>) -> Response<Value>)? { kept.instant }

    /// Creates a decoding from a function.
    ///
    /// - Parameters:
    ///   - types: the accepted types of requests whose ``Request/acceptedTypes`` is `nil`.
    ///   - decode: creates the value.
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

/// A decoding behind one reference, because every copy of its request copies it.
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
    /// Returns the body unchanged.
    public static var bytes: Decoding { asItIs }
}

private let asItIs = Decoding<Bytes>(
    instant: {
        var response = $0
        response.value = response.bytes
        return response
    }, { $0.bytes })

extension Decoding where Value == Void {
    /// Ignores the body.
    public static var nothing: Decoding { leftAlone }
}

private let leftAlone = Decoding<Void>(instant: { $0.replacingValue(by: ()) }, { _ in })
