#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bytes of a body. They are immutable and shared without copying.
/// A value that came from the network keeps the whole buffer in which its bytes arrived, which may be larger than the
/// bytes. To free the buffer, keep only a copy: `Array(bytes)`.
public struct Bytes: Sendable, RandomAccessCollection {
    enum Storage: Sendable {
        case array([UInt8])
        case received(any ByteStorage)
    }

    let storage: Storage

    /// Creates a value from these bytes.
    public init(_ bytes: [UInt8] = []) {
        storage = .array(bytes)
    }

    init(received: any ByteStorage) {
        storage = .received(received)
    }

    /// Calls `body` with the bytes in one contiguous span, which is valid during the call.
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .array(let bytes): try body(bytes.span)
        case .received(let received): try received.withBody(body)
        }
    }

    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of bytes, which is one past the last index.
    public var endIndex: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .received(let received): received.bodyCount
        }
    }

    /// The byte at `position`. To read many bytes, ``withSpan(_:)`` is faster.
    public subscript(position: Int) -> UInt8 { withSpan { $0[position] } }
}

extension Bytes: Equatable {
    /// Returns true if the bytes are equal.
    public static func == (left: Bytes, right: Bytes) -> Bool {
        left.withSpan { left in
            right.withSpan { right in
                left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
            }
        }
    }
}

extension Bytes: ExpressibleByArrayLiteral {
    /// Creates a value from these bytes.
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}

/// Storage of received bytes. They are contiguous and neither change nor move.
protocol ByteStorage: AnyObject, Sendable {
    var bodyCount: Int { get }
    /// The JSON expectation that the body was checked against while it arrived. `nil` if the body was not checked or
    /// does not meet the expectation.
    var metExpectation: JSONExpectation? { get }
    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension ByteStorage {
    var metExpectation: JSONExpectation? { nil }
}

/// A type that contains bytes: ``Bytes``, `Data`, `[UInt8]`, or `String` in UTF-8.
public protocol BytesConvertible {
    /// The bytes.
    var _bytes: Bytes { get }
}

extension Bytes: BytesConvertible {
    /// The bytes themselves.
    public var _bytes: Bytes { self }
}

extension [UInt8]: BytesConvertible {
    /// The bytes, without a copy.
    public var _bytes: Bytes { Bytes(self) }
}

extension Data: BytesConvertible {
    /// A copy of the bytes.
    public var _bytes: Bytes { Bytes(self) }
}

extension String: BytesConvertible {
    /// The text in UTF-8.
    public var _bytes: Bytes { Bytes(Array(utf8)) }
}

extension Bytes: Codable {
    /// Decodes the bytes as `Data`, which is base64 text in JSON by default.
    public init(from decoder: any Decoder) throws {
        self.init(try Data(from: decoder))
    }

    /// Encodes the bytes as `Data`, which is base64 text in JSON by default.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(data)
    }
}
