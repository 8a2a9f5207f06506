#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The terminal of standard error, if it is one.
enum Window {
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Whether standard error is a terminal on which lines can be overwritten.
    static var canRedraw: Bool {
        let kind = unsafe getenv("TERM").map { unsafe String(cString: $0) } ?? "dumb"
        return isTerminal(Terminal.standardError) && kind != "dumb" && kind != ""
    }

    /// The size of the terminal of standard error, or 80 × 24 if it is unknown. It is determined each time, because the
    /// user can resize the terminal.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        let isKnown = unsafe ioctl(Terminal.standardError, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? (Int(size.ws_col), Int(max(size.ws_row, 2))) : (80, 24)
    }

    /// The width of standard output: that of its terminal, or else that of the terminal of standard error, or else 80.
    static var outputColumns: Int {
        var size = winsize()
        let isKnown = unsafe ioctl(Terminal.standardOutput, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : self.size.columns
    }

    static func isRegularFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
