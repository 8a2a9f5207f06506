#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a response's body becomes a value.
///
/// Small bodies are decoded where the caller runs; larger ones on the global executor, never on a loop thread.
public struct Decoding<Value: Sendable>: Sendable {
    /// Makes the value; what it throws becomes ``NetError/Code/undecodable``, unless it is a ``NetError`` already.
    public let decode: @Sendable (Response<Bytes>) throws -> Value
    // Costs the same for any size, so that a change of thread would only cost.
    let isInstant: Bool

    /// A decoding of one's own.
    public init(_ decode: @escaping @Sendable (Response<Bytes>) throws -> Value) {
        self.decode = decode
        isInstant = false
    }

    init(instant decode: @escaping @Sendable (Response<Bytes>) throws -> Value) {
        self.decode = decode
        isInstant = true
    }
}

extension Decoding where Value == Bytes {
    /// The body as it is.
    public static var bytes: Decoding { Decoding(instant: { $0.bytes }) }
}

extension Decoding where Value == Void {
    /// The body is left alone.
    public static var nothing: Decoding { Decoding(instant: { _ in }) }
}

extension Decoding where Value: Decodable {
    /// A JSON body, by a decoder with default settings.
    public static var json: Decoding { Decoding({ try JSONDecoder().decode(Value.self, from: $0.bytes.borrowedData) }) }

    /// A JSON body, by a decoder that `makeDecoder` sets up anew for each response.
    public static func json(_ makeDecoder: @escaping @Sendable () -> JSONDecoder) -> Decoding {
        Decoding({ try makeDecoder().decode(Value.self, from: $0.bytes.borrowedData) })
    }
}
