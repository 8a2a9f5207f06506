#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Synchronization

/// Reads a password from the terminal without showing it.
enum Password {
    private static let hidden = Mutex<termios?>(nil)

    /// Returns `nil` if standard input is not a terminal, or ends.
    static func read(_ prompt: String) -> String? {
        var settings = termios()
        guard unsafe isatty(0) == 1 && tcgetattr(0, &settings) == 0 else { return nil }
        hidden.withLock { $0 = settings }
        Interrupt.isWaiting(true)
        defer {
            showAgain()
            Interrupt.isWaiting(false)
            Terminal.complain("")
        }
        settings.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(0, TCSAFLUSH, &settings)
        try? Terminal.write(prompt, to: Terminal.standardError)
        return readLine(strippingNewline: true)
    }

    /// Restores the terminal's settings. Does nothing if they are unchanged.
    static func showAgain() {
        hidden.withLock { kept in
            if var settings = kept {
                _ = unsafe tcsetattr(0, TCSAFLUSH, &settings)
            }
            kept = nil
        }
    }
}
