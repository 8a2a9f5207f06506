import NetKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Compares bytes with the server's pattern while they arrive.
struct PatternCheck {
    /// The start of the pattern. Its length is a multiple of 26, so it can be compared at any alphabet's start.
    private static let model = pattern(26 << 10)

    /// The number of bytes so far.
    private(set) var count = 0
    /// Whether all bytes match the pattern.
    private(set) var isPattern = true

    mutating func take(_ bytes: Bytes) {
        bytes.withSpan { span in
            var offset = 0
            while offset < span.count {
                let start = count % 26
                let length = min(span.count - offset, Self.model.count - start)
                let isSame = unsafe span.extracting(offset..<offset + length).withUnsafeBytes { piece in
                    unsafe Self.model.withUnsafeBytes { model in
                        guard let piece = piece.baseAddress, let model = model.baseAddress else {
                            return false
                        }
                        return unsafe memcmp(piece, model + start, length) == 0
                    }
                }
                isPattern = isPattern && isSame
                offset += length
                count += length
            }
        }
    }
}

extension ResponseStream {
    /// Reads the body to its end.
    func checked() async throws(NetError) -> PatternCheck {
        var check = PatternCheck()
        for try await chunk in self {
            check.take(chunk)
        }
        return check
    }
}
