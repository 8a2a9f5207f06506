import NetKit

/// Reads and writes the cookie files of -b and -c, in the Netscape format.
enum CookieFile {
    private static let title = """
        # Netscape HTTP Cookie File
        # Written by nk; edit at your own risk.


        """

    typealias Contents = (cookies: [Cookie], foreignLines: Int)

    /// Reads a file, and counts the lines that are neither a cookie nor a comment.
    static func read(_ path: String) throws(SystemError) -> Contents { read(try InputFile.contents(of: path)) }

    /// Reads the cookie file of -c, which nk also writes. Throws an error if another user could have written it. A
    /// missing file is treated as empty.
    static func readJar(_ path: String) throws(NetError) -> Contents {
        let bytes = try StateFile.contents(of: path, maximumBytes: InputFile.maxDocumentBytes) ?? []
        return read(bytes)
    }

    private static func read(_ bytes: [UInt8]) -> Contents {
        var cookies: [Cookie] = []
        var foreignLines = 0
        for line in bytes.split(separator: 0x0A) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if let cookie = Cookie(netscapeLineBytes: Bytes(Array(line))) {
                cookies.append(cookie)
            } else if line.first != UInt8(ascii: "#"), !line.allSatisfy({ $0 == 0x20 || (9...13).contains($0) }) {
                foreignLines += 1
            }
        }
        return (cookies, foreignLines)
    }

    /// Writes the file atomically, readable by its owner only.
    static func write(_ cookies: [Cookie], to path: String) throws(SystemError) {
        let lines = cookies.compactMap { try? $0.netscapeLineBytes }
        let text = Array(title.utf8) + lines.flatMap { Array($0) + [0x0A] }
        if path == "-" {
            try Terminal.write(text.span, to: Terminal.standardOutput)
        } else {
            try OutputFile.write(text, to: path, mode: 0o600)
        }
    }
}
