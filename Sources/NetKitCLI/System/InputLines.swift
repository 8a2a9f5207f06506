#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// Reads the lines of standard input, without their line ends. The last line may lack one.
struct InputLines {
    private var buffer: [UInt8] = []
    private var position = 0
    private var isOver = false

    /// Whether reading the next line may block.
    var mayBlock: Bool { !isOver && !buffer[position...].contains(UInt8(ascii: "\n")) }

    /// Returns the next line, or `nil` at the end of the input.
    mutating func next() throws(Failure) -> Bytes? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return Bytes(Array(buffer[position..<end]))
            }
            if isOver {
                defer { position = buffer.count }
                return position == buffer.count ? nil : Bytes(Array(buffer[position...]))
            }
            buffer.removeFirst(position)
            position = 0
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
