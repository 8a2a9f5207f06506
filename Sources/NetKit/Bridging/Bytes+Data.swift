#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Bytes {
    /// The bytes as `Data`, without copying when they came from the network.
    public var data: Data {
        switch storage {
        case .array(let bytes):
            return Data(bytes)
        case .received(let received):
            if received.bodyCount == 0 {
                return Data()
            }
            // SAFETY: a received body never changes or moves, and the deallocator keeps its owner alive until then.
            return received.withBody { span in
                unsafe span.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return Data() }
                    return unsafe Data(
                        bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: buffer.count,
                        deallocator: .custom { _, _ in _ = received })
                }
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
