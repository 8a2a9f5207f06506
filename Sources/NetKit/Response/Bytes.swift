/// Bytes of a body: immutable, shared without copying, in the memory they arrived in.
///
/// A large collection of responses holds that memory; `Array(bytes)` makes an independent copy.
public struct Bytes: Sendable, RandomAccessCollection {
    enum Storage: Sendable {
        case array([UInt8])
        case received(any ByteStorage)
    }

    let storage: Storage

    /// These bytes.
    public init(_ bytes: [UInt8] = []) {
        storage = .array(bytes)
    }

    init(received: any ByteStorage) {
        storage = .received(received)
    }

    /// Gives the bytes to `body` in one piece, for the length of the call.
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
    /// The same bytes.
    public static func == (left: Bytes, right: Bytes) -> Bool {
        left.withSpan { left in
            right.withSpan { right in
                left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
            }
        }
    }
}

extension Bytes: ExpressibleByArrayLiteral {
    /// These bytes.
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}
