import NetKit

/// The files of -b and -c, in the Netscape format.
enum CookieFile {
    private static let title = """
        # Netscape HTTP Cookie File
        # Written by nk; edit at your own risk.


        """

    static func read(_ path: String) throws(SystemError) -> [Cookie] {
        let text = String(decoding: try InputFile.contents(of: path), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).compactMap { Cookie(netscapeLine: $0) }
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
