import NetKit

/// The files of -b and -c, in the Netscape format.
enum CookieFile {
    private static let title = """
        # Netscape HTTP Cookie File
        # Written by nk; edit at your own risk.


        """

    typealias Contents = (cookies: [Cookie], foreignLines: Int)

    /// What a file holds, and how many of its lines are neither a cookie nor a comment.
    static func read(_ path: String) throws(SystemError) -> Contents { read(try InputFile.lines(of: path)) }

    /// The same of the jar, which nk writes back: one that another user could have written is an error. A missing jar is
    /// empty.
    static func readJar(_ path: String) throws(NetError) -> Contents {
        let bytes = try StateFile.contents(of: path, maximumBytes: InputFile.maxDocumentBytes) ?? []
        return read(InputFile.lines(in: bytes))
    }

    private static func read(_ lines: [String]) -> Contents {
        var cookies: [Cookie] = []
        var foreignLines = 0
        for line in lines {
            if let cookie = Cookie(netscapeLine: line) {
                cookies.append(cookie)
            } else if !line.hasPrefix("#"), !line.allSatisfy(\.isWhitespace) {
                foreignLines += 1
            }
        }
        return (cookies, foreignLines)
    }

    /// For its owner's eyes alone; whole or not at all.
    static func write(_ cookies: [Cookie], to path: String) throws(SystemError) {
        let lines = cookies.compactMap { try? $0.netscapeLine }
        let text = title + lines.map { $0 + "\n" }.joined()
        if path == "-" {
            try Terminal.write(text, to: Terminal.standardOutput)
        } else {
            try OutputFile.write(text, to: path, mode: 0o600)
        }
    }
}
