#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Synchronization

/// Reads a password from the terminal without showing it.
enum Password {
    private static let savedSettings = Mutex<termios?>(nil)

    /// Returns the password, or `nil` if standard input is not a terminal or has ended.
    static func read(_ prompt: String) -> String? {
        var settings = termios()
        guard unsafe isatty(0) == 1 && tcgetattr(0, &settings) == 0 else { return nil }
        savedSettings.withLock { $0 = settings }
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

    /// Restores the settings of the terminal, if ``read(_:)`` has changed them.
    static func showAgain() {
        savedSettings.withLock { saved in
            if var settings = saved {
                _ = unsafe tcsetattr(0, TCSAFLUSH, &settings)
            }
            saved = nil
        }
    }
}
