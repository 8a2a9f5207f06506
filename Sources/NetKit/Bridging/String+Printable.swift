internal import CNetCore

extension String {
    /// Returns the text for a terminal or a log (`netcore/printable.h`). Characters that would move the cursor, begin a
    /// line, or change the direction of text are replaced.
    ///
    /// - Parameter mark: the ASCII character that replaces them.
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
