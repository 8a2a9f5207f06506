internal import CNetCore

/// The texts of a policy in one block, with slices that are valid during a call.
struct TrustArena {
    /// The range of a text; empty for none.
    typealias Place = Range<Int>

    private var bytes: [UInt8] = []

    mutating func put(_ text: String?) -> Place { put(Array((text ?? "").utf8)) }

    mutating func put(_ more: [UInt8]) -> Place {
        let start = bytes.count
        bytes += more
        return start..<bytes.count
    }

    /// Calls `body` with a function that returns slices of the block.
    func withSlices<Result>(_ body: ((Place) -> nc_slice) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { block in
            unsafe body { place in
                let base = unsafe block.baseAddress.map { unsafe $0 + place.lowerBound }
                return unsafe nc_slice(data: place.isEmpty ? nil : base, length: place.count)
            }
        }
    }
}
