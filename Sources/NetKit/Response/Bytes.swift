/// The bytes of a body: immutable, shared without copying, in the memory that they arrived in.
///
/// Keeping many responses keeps that memory; `Array(bytes)` makes an independent copy.
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

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of bytes.
    public var endIndex: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .received(let received): received.bodyCount
        }
    }

    /// The byte at `position`. To read many, use ``withSpan(_:)``.
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
