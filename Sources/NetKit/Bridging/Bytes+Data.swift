#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Bytes {
    /// The bytes as a copied `Data`.
    public var data: Data {
        withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Data($0) } }
    }

    /// The bytes as `Data`, without a copy if they came from the network. Only for reading, because `Data` writes in
    /// place to borrowed memory.
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

    /// Creates a copy of these bytes.
    public init(_ data: Data) {
        self.init(Array(data))
    }

    /// Lets the standard library copy and compare contiguous memory.
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try withSpan { span in
            try unsafe span.withUnsafeBufferPointer { unsafe try body($0) }
        }
    }
}

// The standard library's own functions process single bytes: two to ten times slower, as measured.
extension [UInt8] {
    /// Creates a copy of the bytes.
    public init(_ bytes: Bytes) {
        self = bytes.withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Array($0) } }
    }

    /// Appends a copy of the bytes.
    public mutating func append(contentsOf bytes: Bytes) {
        bytes.withSpan { span in
            unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
        }
    }
}
