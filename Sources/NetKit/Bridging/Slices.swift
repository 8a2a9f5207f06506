internal import CNetCore

// Views that are valid during a call, and copies of borrowed memory.

extension nc_slice {
    /// The bytes as text; bytes that are not UTF-8 are replaced.
    var text: String {
        guard let data = unsafe self.data else { return "" }
        return unsafe String(decoding: UnsafeBufferPointer(start: data, count: length), as: UTF8.self)
    }

    /// The unchanged bytes.
    var byteText: ByteText {
        guard let data = unsafe self.data else { return ByteText("") }
        return unsafe ByteText(bytes: UnsafeBufferPointer(start: data, count: length))
    }

    /// Calls `body` with the bytes, which are valid as long as the slice's owner.
    func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let data = unsafe self.data else { return try body([UInt8]().span) }
        return try unsafe body(Span(_unsafeStart: data, count: length))
    }
}

extension Headers.Field {
    init(_ field: nc_header) {
        self.init(name: unsafe field.name.text, content: unsafe field.value.byteText)
    }
}

extension String {
    /// Calls `body` with the UTF-8 bytes as a slice, which is valid during the call.
    func withSlice<Result>(_ body: (nc_slice) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { unsafe try body(nc_slice(data: $0.baseAddress, length: $0.count)) }
    }
}

extension Bytes {
    /// Calls `body` with the bytes as a slice, which is valid during the call.
    func withSlice<Result>(_ body: (nc_slice) throws -> Result) rethrows -> Result {
        try withSpan { span in
            try unsafe span.withUnsafeBufferPointer {
                unsafe try body(nc_slice(data: $0.baseAddress, length: $0.count))
            }
        }
    }
}
