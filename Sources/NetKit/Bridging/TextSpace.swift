internal import CNetCore

/// A sequence of strings on the stack, in memory whose size its creator computed.
@unsafe struct TextSpace {
    private var rest: UnsafeMutableRawBufferPointer

    private init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        unsafe rest = UnsafeMutableRawBufferPointer(buffer)
    }

    /// Calls `body` with room for this many bytes of text, which is valid during the call.
    static func with<Result>(bytes: Int, _ body: (inout TextSpace) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes + 1) { buffer in
            var text = unsafe TextSpace(buffer)
            return unsafe body(&text)
        }
    }

    mutating func put(_ string: String) -> nc_slice {
        unsafe put(string.utf8, string.utf8.count)
    }

    mutating func put(_ content: ByteText) -> nc_slice {
        content.isUTF8 ? unsafe put(content.text) : unsafe put(content.bytes, content.byteCount)
    }

    private mutating func put(_ bytes: some Collection<UInt8>, _ count: Int) -> nc_slice {
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<count])
        unsafe place.copyBytes(from: bytes)
        unsafe rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
        return unsafe nc_slice(data: place.baseAddress?.assumingMemoryBound(to: UInt8.self), length: count)
    }

    /// Returns an empty slice for `nil`.
    mutating func put(_ string: String?) -> nc_slice {
        guard let string else { return unsafe nc_slice() }
        return unsafe put(string)
    }

    /// Calls `body` with the fields, which are valid during the call.
    mutating func withFields<Result>(
        _ fields: [Headers.Field], _ body: (UnsafeMutableBufferPointer<nc_header>, inout TextSpace) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: fields.count) { headers in
            for (index, field) in fields.enumerated() {
                unsafe headers[index] = nc_header(name: put(field.name), value: put(field.content))
            }
            return unsafe body(headers, &self)
        }
    }
}

extension [Headers.Field] {
    /// The bytes that names and values need.
    var textBytes: Int {
        reduce(into: 0) { $0 += $1.name.utf8.count + $1.content.byteCount }
    }
}
