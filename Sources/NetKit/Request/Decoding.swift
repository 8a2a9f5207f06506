#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Converts a response's body to a value.
/// Small bodies are decoded on the caller's thread, larger ones on the global executor, never on the event loop thread.
public struct Decoding<Value: Sendable>: Sendable {
    private let storage: DecodingStorage<Value>

    /// Converts a response to the value. A ``NetError`` thrown here ends the call unchanged; any other error becomes
    /// ``NetError/Code/decoding``.
    public var decode: @Sendable (Response<Bytes>) throws -> Value { storage.decode }
    /// The accepted content types if the request sets no ``Request/acceptedTypes``. If `nil`, any type is accepted.
    var types: [String]? { storage.types }
    /// A conversion that takes constant time, for decodings that have one. It runs on the current thread, because
    /// switching threads would cost more.
    var instant: (@Sendable (Response<Bytes>) -> Response<Value>)? { storage.instant }

    /// Creates a decoding from a function.
    /// - Parameters:
    ///   - types: the accepted content types of requests whose ``Request/acceptedTypes`` is `nil`.
    ///   - decode: creates the value.
    public init(types: [String]? = nil, _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value) {
        storage = DecodingStorage(decode, types: types, instant: nil)
    }

    init(
        instant: @escaping @Sendable (Response<Bytes>) -> Response<Value>,
        _ decode: @escaping @Sendable (Response<Bytes>) throws -> Value
    ) {
        storage = DecodingStorage(decode, types: nil, instant: instant)
    }
}

/// The closures and types of a decoding. They are stored behind one reference, so that copies of the request, which
/// contain the decoding, stay cheap.
private final class DecodingStorage<Value: Sendable>: Sendable {
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
    public static var bytes: Decoding { unchangedBody }
}

private let unchangedBody = Decoding<Bytes>(
    instant: {
        var response = $0
        response.value = response.bytes
        return response
    }, { $0.bytes })

extension Decoding where Value == Void {
    /// Ignores the body.
    public static var nothing: Decoding { ignoredBody }
}

extension Decoding where Value: Decodable {
    /// The decoding that fits the type of the value: a `String` is text by its charset, ``Bytes``, `Data` and `[UInt8]`
    /// are the body unchanged, a ``JSONValue`` is a tree, and any other type is JSON.
    public static var automatic: Decoding {
        if Value.self == Bytes.self, let bytes = unchangedBody as? Decoding {
            return bytes
        }
        if Value.self == String.self, let text = Decoding<String>.text as? Decoding {
            return text
        }
        if Value.self == Data.self, let data = dataDecoding as? Decoding {
            return data
        }
        if Value.self == [UInt8].self, let array = arrayDecoding as? Decoding {
            return array
        }
        return .json
    }
}

private let dataDecoding = Decoding<Data> { Data($0.bytes) }
private let arrayDecoding = Decoding<[UInt8]> { [UInt8]($0.bytes) }
private let ignoredBody = Decoding<Void>(instant: { $0.replacingValue(by: ()) }, { _ in })
