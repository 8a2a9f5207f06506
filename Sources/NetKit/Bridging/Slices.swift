internal import CNetCore

// Views for the length of a call, and copies out of borrowed memory.

extension nc_slice {
    /// The bytes as text; what is not UTF-8 is replaced.
    var text: String {
        guard let data = unsafe self.data else { return "" }
        return unsafe String(decoding: UnsafeBufferPointer(start: data, count: length), as: UTF8.self)
    }

    /// The bytes as they are.
    var byteText: ByteText {
        guard let data = unsafe self.data else { return ByteText("") }
        return unsafe ByteText(bytes: UnsafeBufferPointer(start: data, count: length))
    }

    /// Gives the bytes to `body`, for as long as the slice's owner lives.
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
    /// Gives the UTF-8 bytes to `body` as a slice that is valid for the call.
    func withSlice<Result>(_ body: (nc_slice) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { unsafe try body(nc_slice(data: $0.baseAddress, length: $0.count)) }
    }
}

extension Bytes {
    /// Gives the bytes to `body` as a slice that is valid for the call.
    func withSlice<Result>(_ body: (nc_slice) throws -> Result) rethrows -> Result {
        try withSpan { span in
            try unsafe span.withUnsafeBufferPointer {
                unsafe try body(nc_slice(data: $0.baseAddress, length: $0.count))
            }
        }
    }
}
