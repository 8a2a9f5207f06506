package import CNetCore

/// Memory on the stack into which the texts of a C struct are copied one after the other. The caller must compute the
/// total size in advance.
@unsafe struct StringArena {
    private var remaining: UnsafeMutableRawBufferPointer

    private init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        unsafe remaining = UnsafeMutableRawBufferPointer(buffer)
    }

    /// Calls `body` with an arena for this many bytes of text. The arena and its slices are valid during the call.
    static func with<Result>(bytes: Int, _ body: (inout StringArena) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes + 1) { buffer in
            var text = unsafe StringArena(buffer)
            return unsafe body(&text)
        }
    }

    /// Copies a text into the arena and returns the copy.
    mutating func put(_ string: String) -> nc_slice {
        unsafe put(string.utf8, string.utf8.count)
    }

    mutating func put(_ content: ByteText) -> nc_slice {
        content.isUTF8 ? unsafe put(content.text) : unsafe put(content.bytes, content.byteCount)
    }

    private mutating func put(_ bytes: some Collection<UInt8>, _ count: Int) -> nc_slice {
        let slot = unsafe UnsafeMutableRawBufferPointer(rebasing: remaining[..<count])
        unsafe slot.copyBytes(from: bytes)
        unsafe remaining = UnsafeMutableRawBufferPointer(rebasing: remaining[count...])
        return unsafe nc_slice(data: slot.baseAddress?.assumingMemoryBound(to: UInt8.self), length: count)
    }

    /// Copies a text into the arena and returns the copy. Returns an empty slice for `nil`.
    mutating func put(_ string: String?) -> nc_slice {
        guard let string else { return unsafe nc_slice() }
        return unsafe put(string)
    }

    /// Copies the texts of fields into the arena, and calls `body` with the C values of the fields, which are valid
    /// during the call.
    mutating func withFields<Result>(
        _ fields: [Headers.Field], _ body: (UnsafeMutableBufferPointer<nc_header>, inout StringArena) -> Result
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
    /// The number of bytes that the names and values need in a ``StringArena``.
    var textBytes: Int {
        reduce(into: 0) { $0 += $1.name.utf8.count + $1.content.byteCount }
    }
}

// Conversions between Swift values and slices of the C core.

extension nc_slice {
    /// A copy of the bytes as text, with U+FFFD for bytes that are not UTF-8.
    var text: String {
        guard let data = unsafe self.data else { return "" }
        return unsafe String(decoding: UnsafeBufferPointer(start: data, count: length), as: UTF8.self)
    }

    /// A copy of the unchanged bytes.
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
    package func withSlice<Result>(_ body: (nc_slice) throws -> Result) rethrows -> Result {
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

extension String {
    /// Returns the text in a form that is safe to print to a terminal or a log (`netcore/printable.h`). Characters that
    /// would move the cursor, begin a line, or change the direction of text are replaced.
    ///
    /// - Parameter mark: the ASCII character that replaces such characters.
    package func printable(_ mark: Character = "?") -> String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            return self
        }
        var bytes = Array(utf8)
        let (count, mark) = (bytes.count, CChar(bitPattern: mark.asciiValue ?? UInt8(ascii: "?")))
        let length = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                unsafe text.baseAddress.map { unsafe nc_printable($0, count, mark) } ?? 0
            }
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
    }
}

/// The kind of name that may denote a secret. Some names denote a secret in one location only, such as `code` in a URL.
package enum SecretLocation: Sendable, Hashable {
    /// The name of a header field.
    case field
    /// The name of a parameter of a URL, or of a field of a form.
    case parameter
    /// The name of a member of a JSON object.
    case member
    /// The name of a cookie.
    case cookie
}

extension String {
    /// Returns true if the core's list of names that denote secrets contains this name (`netcore/secret_name.h`).
    func isUsualSecret(in location: SecretLocation) -> Bool {
        unsafe withSlice { unsafe nc_secret_name_matches($0, location.cValue) }
    }
}

extension SecretLocation {
    fileprivate var cValue: nc_secret_location {
        switch self {
        case .field: .NC_SECRET_FIELD
        case .parameter: .NC_SECRET_PARAMETER
        case .member: .NC_SECRET_MEMBER
        case .cookie: .NC_SECRET_COOKIE
        }
    }
}
