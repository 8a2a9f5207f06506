#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// The lines of standard input without their terminators. The last line need not have one.
struct InputLines {
    private var buffer: [UInt8] = []
    private var at = 0
    private var isOver = false

    /// Whether reading the next line may block.
    var waits: Bool { !isOver && !buffer[at...].contains(UInt8(ascii: "\n")) }

    /// Returns `nil` at the end.
    mutating func next() throws(Failure) -> Bytes? {
        var searched = at
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { at = end + 1 }
                return Bytes(Array(buffer[at..<end]))
            }
            if isOver {
                defer { at = buffer.count }
                return at == buffer.count ? nil : Bytes(Array(buffer[at...]))
            }
            buffer.removeFirst(at)
            at = 0
            searched = buffer.count
            try fill()
        }
    }

    private mutating func fill() throws(Failure) {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe systemRead(0, &piece, piece.count)
        if count < 0 && errno != EINTR {
            throw Failure(reading: SystemError(number: errno), from: "-")
        }
        isOver = count == 0
        buffer += piece.prefix(max(0, count))
    }
}
