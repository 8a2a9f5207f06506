#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Bytes {
    /// The bytes as `Data`, copied: changing it changes nothing else.
    public var data: Data {
        withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Data($0) } }
    }

    /// The bytes as `Data`, without copying when they came from the network; for readers alone, because `Data` writes
    /// in place to memory that it borrows.
    var borrowedData: Data {
        guard case .received(let received) = storage, received.bodyCount > 0 else { return data }
        // SAFETY: a received body never changes or moves, and the deallocator keeps its owner alive until then.
        return received.withBody { span in
            unsafe span.withUnsafeBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return Data() }
                return unsafe Data(
                    bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: buffer.count,
                    deallocator: .custom { _, _ in withExtendedLifetime(received) {} })
            }
        }
    }

    /// These bytes, copied.
    public init(_ data: Data) {
        self.init(Array(data))
    }

    /// Lets the standard library copy and compare in one piece.
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try withSpan { span in
            try unsafe span.withUnsafeBufferPointer { unsafe try body($0) }
        }
    }
}

// The standard library's own take the bytes one by one: measured, two to ten times the time.
extension [UInt8] {
    /// A copy of the bytes, in one piece.
    public init(_ bytes: Bytes) {
        self = bytes.withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Array($0) } }
    }

    /// Adds a copy of the bytes, in one piece.
    public mutating func append(contentsOf bytes: Bytes) {
        bytes.withSpan { span in
            unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
        }
    }
}
