#if os(Linux)
import Dispatch
import Glibc

/// A pseudoterminal for one test.
final class PseudoTerminal: Sendable {
    /// The descriptor that a process gets as its standard error, and its standard input if needed.
    let end: Int32
    private let master: Int32

    init(columns: UInt16) throws {
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard master >= 0, unsafe ioctl(master, 0x4004_5431, &isLocked) == 0,
            unsafe ioctl(master, 0x8004_5430, &number) == 0
        else { throw SystemFailure(call: "ptmx") }
        end = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard end >= 0, unsafe ioctl(end, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemFailure(call: "pts") }
    }

    deinit {
        close(end)
        close(master)
    }

    /// Reads until the text ends with `ending`, as a user who waits for a prompt.
    func waitForText(endingIn ending: String) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "nk.terminal").async { [self] in
                var seen = ""
                while !seen.hasSuffix(ending) {
                    var one = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
                    guard unsafe poll(&one, 1, 30_000) == 1 else { break }
                    seen += text
                }
                continuation.resume(returning: seen)
            }
        }
    }

    /// Runs `body` while all output is read and discarded: a process that shows progress may write more than 4 KiB on a
    /// slow machine.
    func watched<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue(label: "nk.terminal").async { [self] in
            while isOver.wait(timeout: .now()) == .timedOut {
                var one = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&one, 1, 50)
                _ = text
            }
        }
        defer { isOver.signal() }
        return try await body()
    }

    /// Types a line.
    func type(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(master, bytes, bytes.count)
    }

    /// Whether the terminal echoes input.
    var isEchoing: Bool {
        var settings = termios()
        return unsafe tcgetattr(end, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// The output, at most 4 KiB: the terminal is not read while a process writes.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: 8192)
        var length = 0
        while length < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(
                    master, UnsafeMutableRawBufferPointer(rebasing: buffer[length...]).baseAddress,
                    buffer.count - length)
            }
            if count <= 0 {
                break
            }
            length += count
        }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}
#endif
