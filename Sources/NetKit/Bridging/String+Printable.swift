internal import CNetCore

extension String {
    /// The text as it may stand on a terminal or in a log: what would move a cursor, begin another line, or turn the rest
    /// of the line round is replaced (`netcore/printable.h`).
    ///
    /// - Parameter mark: an ASCII character that takes their place.
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
