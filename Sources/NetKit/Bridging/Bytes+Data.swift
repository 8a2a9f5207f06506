internal import CNetCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The alphabets of Base64 (RFC 4648).
package enum Base64Alphabet: Sendable, Hashable {
    /// "+" and "/", padded with "=" (section 4).
    case standard
    /// "-" and "_", without padding, as in JSON Web Tokens (section 5).
    case url
    /// "-" and "_", padded with "=".
    case paddedURL
}

extension Bytes {
    /// The bytes as a copied `Data`.
    public var data: Data {
        withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Data($0) } }
    }

    /// The bytes as `Data`, without a copy if they came from the network. The result must not be changed, because
    /// `Data` would write into the shared memory.
    var borrowedData: Data {
        guard case .received(let received) = storage, received.bodyCount > 0 else { return data }
        // SAFETY: a received body never changes or moves, and the deallocator references its owner, which lives as long
        // as the `Data`.
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

    /// Calls `body` with the bytes in contiguous memory, so that the standard library can copy and compare them as a
    /// whole.
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try withSpan { span in
            try unsafe span.withUnsafeBufferPointer { unsafe try body($0) }
        }
    }
}

// The generic functions of the standard library process single bytes, which was measured to be two to ten times slower.
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

extension Bytes {
    /// The bytes as text, with two lower-case hex digits for each byte.
    public var hexText: String {
        unsafe encoded(of: count * 2) { text, bytes in unsafe nc_hex_encode(&text, bytes) }
    }

    /// Returns the bytes in Base64, on one line.
    package func base64Text(_ alphabet: Base64Alphabet = .standard) -> String {
        unsafe encoded(of: (count + 2) / 3 * 4) { text, bytes in unsafe nc_base64_encode(&text, bytes, alphabet.cValue)
        }
    }

    /// Creates bytes from hex digits in upper or lower case.
    ///
    /// - Throws: ``NetError/Code/badCoding`` with the offset of an invalid digit, or for an odd number of digits.
    package init(hexText: String) throws(NetError) {
        self = try unsafe Self.decoded(by: hexText) { bytes, text, error in unsafe nc_hex_decode(&bytes, text, &error) }
    }

    /// Creates bytes from Base64 text. White space, characters of another alphabet, wrong padding and non-zero unused
    /// bits are errors, so that each byte sequence has only one valid text.
    ///
    /// - Throws: ``NetError/Code/badCoding`` with the offset of the invalid character.
    package init(base64Text: String, _ alphabet: Base64Alphabet = .standard) throws(NetError) {
        self = try unsafe Self.decoded(by: base64Text) { bytes, text, error in
            unsafe nc_base64_decode(&bytes, text, alphabet.cValue, &error)
        }
    }

    private func encoded(of length: Int, _ write: (inout nc_buf, nc_slice) -> Void) -> String {
        var buffer = unsafe nc_buf_init(length)
        defer { unsafe nc_buf_deinit(&buffer) }
        unsafe withSlice { unsafe write(&buffer, $0) }
        return unsafe nc_buf_slice(&buffer).text
    }

    private static func decoded(
        by text: String, _ read: (inout nc_buf, nc_slice, inout nc_error) -> nc_status
    ) throws(NetError) -> Bytes {
        var buffer = unsafe nc_buf_init(text.utf8.count)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe text.withSlice { unsafe read(&buffer, $0, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe Bytes(copying: buffer)
    }
}

extension Bytes {
    /// Creates a copy of a buffer of the core.
    init(copying buffer: nc_buf) {
        let slice = unsafe nc_slice(data: UnsafePointer(buffer.data), length: buffer.length)
        self = unsafe slice.withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Bytes(Array($0)) } }
    }
}

extension Base64Alphabet {
    fileprivate var cValue: nc_base64_kind {
        switch self {
        case .standard: .NC_BASE64
        case .url: .NC_BASE64URL
        case .paddedURL: .NC_BASE64URL_PADDED
        }
    }
}
